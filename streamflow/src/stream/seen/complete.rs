//! What the host knows about one stream: the latest record that was found complete. A complete record shows that the records it
//! covers are complete, too.

use arrayvec::ArrayVec;

use crate::stream::record::{Entry, Snapshot};
use crate::sync::{AtomicU64, Ordering};

/// The largest number of records that wait in a list until the records that they cover are examined.
#[cfg(not(loom))]
const KEPT: usize = 32;
#[cfg(loom)]
const KEPT: usize = 2;

/// The largest number of records that are examined after one query. That takes a few microseconds at most, and each record that
/// is found complete saves a query.
const MOST: usize = 512;

/// The latest record of a stream that a thread has found complete.
///
/// The rules treat the host like a stream that waits for other streams. The host's clock has an entry for every stream, so no
/// entry is replaced. That entry is this value, and is stored in the stream.
#[derive(Debug)]
pub(in crate::stream) struct Complete(AtomicU64);

impl Complete {
    pub(in crate::stream) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether a thread has found record `number`, or a later record, complete.
    #[inline]
    pub(in crate::stream) fn has(&self, number: u64) -> bool {
        self.latest() >= number
    }

    /// The latest record that a thread has found complete; 0 if there is none.
    #[inline]
    pub(in crate::stream) fn latest(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Notes that a record is complete. Returns `true` if this was not known before.
    pub(in crate::stream) fn note(&self, number: u64) -> bool {
        self.0.fetch_max(number, Ordering::AcqRel) < number
    }
}

/// Notes that the host has found record `number` of `own` complete. The records in `covered` are then complete, too, and the
/// records that those cover (rule 5 of [`order`](crate::stream::order)). `complete` returns what the host knows about a stream,
/// and `covered_by` returns the entries that a record covers, if the ring still has the record.
///
/// A clock has few entries, so in a long chain of streams a record covers directly only the last few streams. A record is
/// examined at most once, since it is known to be complete afterwards. A record for which the list has no room is not examined;
/// the host queries the records that it covers later.
pub(in crate::stream) fn found_complete<'a>(
    own: &Complete,
    number: u64,
    covered: Snapshot,
    complete: impl Fn(u32) -> &'a Complete,
    covered_by: impl Fn(u32, u64) -> Option<Snapshot>,
) {
    own.note(number);
    let mut kept = ArrayVec::<Entry, KEPT>::new();
    let mut covered = Some(covered);
    for _ in 0..MOST {
        let entries = covered.iter().flatten().filter(|entry| entry.record() > 0);
        for entry in entries {
            let is_news = complete(entry.stream()).note(entry.record());
            if is_news && !kept.is_full() {
                kept.push(*entry);
            }
        }
        let Some(next) = kept.pop() else { return };
        covered = covered_by(next.stream(), next.record());
    }
}
