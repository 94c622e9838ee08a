//! The latest waits of a stream, including those that its clock has forgotten.
//!
//! With this table of latest waits, a tick of Task Bench's `dom` makes 481 waits in place of 916, `stencil` 706 in place of
//! 1,384, and `random` 698 in place of 1,330, counted by `floor --calls`. On an H200, `stencil` takes 9.9 ± 0.7 % more time
//! without this table and without rings that grow.

// In a loom model these words are plain ones, not steps of the model: two waits would have too many interleavings. They are
// written and read where a clock is, with the same orderings, and the clock is modelled.
#[cfg(loom)]
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::record::Entry;
#[cfg(not(loom))]
use crate::sync::{AtomicU64, Ordering};

/// The number of waits in the table. Together with `next` they fill a cache line.
#[cfg(not(loom))]
const WAITS: usize = 7;
/// In a loom model there is one wait, so that the second wait replaces the first.
#[cfg(loom)]
const WAITS: usize = 1;

/// The records that a stream has waited for most recently.
///
/// After each wait, a clock also gets what the other stream had waited for. Where operators read from several others, on hundreds
/// of streams, this replaces most entries of the clock, also the entry of the wait before. For example, an operator receives two
/// messages from two streams; when a launch reads the first message, the clock has lost the wait for it. So this table has the
/// waits themselves. It is read only before a driver call that it may save.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct LatestWaits {
    entries: [AtomicU64; WAITS],
    /// The index for the next wait. Two threads may read the same index. One of their waits is then not in the table, and the
    /// stream makes it again later.
    next: AtomicU64,
}

impl LatestWaits {
    pub(super) fn new() -> Self {
        Self { entries: [Entry::NONE.0; WAITS].map(AtomicU64::new), next: AtomicU64::new(0) }
    }

    /// Notes a wait that the driver has accepted.
    #[inline]
    pub(super) fn note(&self, record: Entry) {
        let next = self.next.load(Ordering::Relaxed) as usize;
        let after = if next + 1 < WAITS { next + 1 } else { 0 };
        self.next.store(after as u64, Ordering::Relaxed);
        if let Some(place) = self.entries.get(next) {
            place.store(record.0, Ordering::Release);
        }
    }

    /// Whether one of the waits in the table was for that record of `stream`, or for a later one.
    #[inline]
    pub(super) fn has(&self, stream: u32, record: u64) -> bool {
        // Each word is compared once, to find out whether it stands for this record of `stream` or for a later one.
        let (first, later) = match Entry::new(stream, record) {
            Entry::NONE => return false,
            first => (first.0, first.later()),
        };
        let is_one = |entry: &AtomicU64| entry.load(Ordering::Acquire).wrapping_sub(first) <= later;
        self.entries.iter().any(is_one)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_latest_waits_are_kept_and_earlier_ones_are_not() {
        let waits = LatestWaits::new();
        assert!(!waits.has(0, 1));
        for nth in 0..20 {
            // Each stream has another record number, so that the test finds a wait that counts for the wrong stream.
            let record = |stream: u32| 5 + u64::from(stream * 7 % 20);
            waits.note(Entry::new(nth, record(nth)));
            for other in 0..20 {
                let (is_kept, record) = (other <= nth && nth - other < WAITS as u32, record(other));
                assert_eq!([waits.has(other, record), waits.has(other, record - 1)], [is_kept; 2]);
                assert!(!waits.has(other, record + 1));
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_not_kept() {
        let waits = LatestWaits::new();
        for (stream, record) in [((1 << 20) - 1, 1), (u32::MAX, 1), (1, 1 << 44), (1, u64::MAX)] {
            waits.note(Entry::new(stream, record));
            assert!(!waits.has(stream, record) && !waits.has(0, 1));
        }
    }
}
