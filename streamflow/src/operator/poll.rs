//! `Poll`: how long a node waits between ticks that send nothing, if only the node's operator knows when it has something to
//! send.

use std::time::Duration;

use crate::time::{Timestamp, doubled};

/// How many ticks in a row may send nothing before the node waits between ticks. Up to this number the clock is not read, so a
/// source that sends nothing now and then still runs each time the scheduler visits it.
const AT_ONCE: u32 = 64;

/// The first wait. Each further wait is twice as long as the one before, up to [`LONGEST`].
const FIRST: Duration = Duration::from_micros(1);

/// The longest wait, in units of [`FIRST`]: about a millisecond.
const LONGEST: u32 = 1 << 10;

/// Counts the ticks in a row that sent nothing, and computes when the next tick may begin.
#[derive(Debug, Default)]
pub(super) struct Poll {
    in_a_row: u32,
    due: Option<Timestamp>,
}

impl Poll {
    /// Returns the moment before which the node must not run again, if it has to wait.
    #[inline]
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Counts a tick that sent nothing, and computes the next wait. `now` is the end of the tick.
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
