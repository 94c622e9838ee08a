//! The host's knowledge about one stream: the latest record that was found complete, and the records that this shows to
//! be complete, too.

use arrayvec::ArrayVec;

use crate::stream::record::{Entry, Snapshot};
use crate::sync::{AtomicU64, Ordering};

/// The most records that wait to be examined.
#[cfg(not(loom))]
const KEPT: usize = 32;
#[cfg(loom)]
const KEPT: usize = 2;

/// The most records that are examined after one query. That takes some microseconds at most, and saves up to as many queries.
const MOST: usize = 512;

/// The latest record of a stream that a thread has found complete.
///
/// For these rules the host is a reader like each stream. The host's clock has an entry for every stream, so it forgets
/// nothing. Each stream has the entry about itself.
#[derive(Debug)]
pub(in crate::stream) struct Complete(AtomicU64);

impl Complete {
    pub(in crate::stream) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether a thread has found a record complete.
    #[inline]
    pub(in crate::stream) fn has(&self, number: u64) -> bool {
        self.latest() >= number
    }

    /// The latest record that a thread has found complete; 0 for none.
    #[inline]
    pub(in crate::stream) fn latest(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Notes that a record is complete. Returns whether that was not known before.
    pub(in crate::stream) fn note(&self, number: u64) -> bool {
        self.0.fetch_max(number, Ordering::AcqRel) < number
    }
}

/// Notes that the host has found record `number` of `own` complete. Then the records that it covers are complete, too,
/// and the records that those cover (rule 5 of [`order`](crate::stream::order)). `complete` returns the host's knowledge
/// about a stream, and `covered_by` the entries that a record covers, if its ring still holds it.
///
/// A clock has few entries, so in a long chain of streams a record covers directly only the last of them. Each record is
/// examined at most once, since it is known to be complete from then on. An entry that finds no room is dropped, and its
/// record is queried later.
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
