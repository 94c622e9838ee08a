//! The latest waits of a stream, including those that its clock has forgotten.
//!
//! With the latest waits, a tick of Task Bench's `dom` makes 481 waits in place of 916, `stencil` 706 in place of 1,384,
//! and `random` 698 in place of 1,330, counted by `floor --calls`. On an H200 `stencil` takes 9.9 ± 0.7 % more time
//! without them and without the growth of rings.

// These words are no steps of a model: two waits would have too many interleavings. The words are written and read at the
// same places and with the same orderings as those of a clock, which are modelled.
#[cfg(loom)]
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::record::Entry;
#[cfg(not(loom))]
use crate::sync::{AtomicU64, Ordering};

/// The number of waits that are kept. With the index of the next one they fill a cache line.
#[cfg(not(loom))]
const WAITS: usize = 7;
/// In a model the number is small: the second wait replaces the first.
#[cfg(loom)]
const WAITS: usize = 1;

/// The records that a stream has waited for most recently.
///
/// A clock learns from each wait what the other stream had waited for. Where operators read from several others, on
/// hundreds of streams, this replaces most entries of the clock, also that of the wait before. For example, an operator
/// receives two messages from two streams; the launch that reads the first message then no longer finds the wait for it
/// in the clock. So this table has the waits themselves. It is read only where the driver would be called otherwise.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct LatestWaits {
    entries: [AtomicU64; WAITS],
    /// The index for the next wait. Two threads may take the same index. Then one wait is lost here, and the stream makes
    /// it again later.
    next: AtomicU64,
}

impl LatestWaits {
    pub(super) fn new() -> Self {
        Self { entries: [Entry::NONE.0; WAITS].map(AtomicU64::new), next: AtomicU64::new(0) }
    }

    /// Notes a wait that the driver has taken.
    #[inline]
    pub(super) fn note(&self, record: Entry) {
        let next = self.next.load(Ordering::Relaxed) as usize;
        let after = if next + 1 < WAITS { next + 1 } else { 0 };
        self.next.store(after as u64, Ordering::Relaxed);
        if let Some(place) = self.entries.get(next) {
            place.store(record.0, Ordering::Release);
        }
    }

    /// Whether one of these waits was for that record of a stream, or for a later one.
    #[inline]
    pub(super) fn has(&self, stream: u32, record: u64) -> bool {
        // One comparison for each word: is it among the words for this record and the later ones of `stream`?
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
            // Each stream has a different record number, so that the test would find a wait that counts for another stream.
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
