//! What the host's answers imply: a record that is complete, and with it all that came before it.

use arrayvec::ArrayVec;

use super::clock::Entry;
use super::records::Records;
use super::ring::Record;

/// How many records are kept to be looked at.
#[cfg(not(loom))]
const KEPT: usize = 32;
#[cfg(loom)]
const KEPT: usize = 2;

/// How many records one answer looks at: it costs some microseconds at most, in place of as many queries.
const MOST: usize = 512;

/// Notes that the host has found a record of `own` complete, and so everything that it covers, and what the records that it
/// covers cover (rule 5 of [`order`](super::order)). `records` has the records of each stream.
///
/// A clock has few entries, so a record of a long chain of streams covers only the last of them by itself. Each record is
/// looked at once at most, since it is known to be complete from then on. What has no room is forgotten, and queried later.
pub(super) fn found_complete<'a>(
    own: &Records,
    record: &Record,
    records: impl Fn(u32) -> &'a Records,
) {
    own.set_complete(record.number);
    let mut kept = ArrayVec::<Entry, KEPT>::new();
    let mut covered = Some(record.covered);
    for _ in 0..MOST {
        let entries = covered.iter().flatten().filter(|entry| entry.record() > 0);
        for entry in entries {
            let is_news = records(entry.stream()).set_complete(entry.record());
            if is_news && !kept.is_full() {
                kept.push(*entry);
            }
        }
        let Some(next) = kept.pop() else { return };
        covered = records(next.stream()).covered_by(next.record());
    }
}
