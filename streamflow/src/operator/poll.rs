//! The wait of a node between ticks that send nothing, if only its own operator knows when it has something to send.

use std::time::Duration;

use crate::time::{Timestamp, doubled};

/// The number of ticks in a row that send nothing, after which the node waits before the next tick. Up to this number
/// no clock is used: a source that leaves out a tick now and then keeps its place in the order of the ticks.
const AT_ONCE: u32 = 64;

/// The first wait. Each further wait is twice as long.
const FIRST: Duration = Duration::from_micros(1);

/// The longest wait, in units of the first one: about a millisecond.
const LONGEST: u32 = 1 << 10;

/// The count of ticks in a row that sent nothing.
#[derive(Debug, Default)]
pub(super) struct Poll {
    in_a_row: u32,
    due: Option<Timestamp>,
}

impl Poll {
    /// The moment at which the node runs again, if it has to wait.
    #[inline]
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Counts a tick that sent nothing.
    pub(super) fn mark_empty(&mut self, now: Timestamp) {
        if let Some(waits) = self.in_a_row.checked_sub(AT_ONCE) {
            self.due = Some(now + doubled(FIRST, waits, LONGEST));
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_double_up_to_a_millisecond() {
        let mut poll = Poll::default();
        let mut wait = || {
            poll.mark_empty(Timestamp(0));
            poll.due().map(|due| due.0)
        };
        assert!((0..AT_ONCE).all(|_| wait().is_none()));
        assert_eq!([wait(), wait(), wait()], [Some(1_000), Some(2_000), Some(4_000)]);
        let longest = (0..100).filter_map(|_| wait()).max();
        assert_eq!(longest, Some(1_024_000));
    }
}
