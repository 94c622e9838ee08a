//! `#[when(periodic(interval, policy))]`: a node that runs once in each interval, by the platform's clock.

use std::time::Duration;

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term};
use crate::error::Result;
use crate::time::Timestamp;

/// What `periodic` does after a tick that is so late that the moments of later ticks have passed, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUp {
    /// `skip`: the missed ticks are left out. The next tick is at the next multiple of the interval. Holoscan's
    /// `NoCatchUpMissedTicks`.
    Skip,
    /// `catch_up(at_most)`: the missed ticks follow at once, at most this many. Holoscan's `CatchUpMissedTicks` has no such
    /// limit.
    AtMost(u64),
    /// `spaced`: the next tick is one interval or more after this tick. Holoscan's `MinTimeBetweenTicks`.
    Spaced,
}

/// The condition `periodic`: computes the moments at which a node is due. The first moment is the first check of the condition in
/// a run.
#[derive(Debug)]
pub(super) struct Periodic {
    interval: Duration,
    catch_up: CatchUp,
    due: Option<Timestamp>,
    /// How many due moments of this run had no tick.
    missed: u64,
}

impl Periodic {
    pub(super) fn new(interval: Duration, catch_up: CatchUp) -> Self {
        Self { interval, catch_up, due: None, missed: 0 }
    }

    /// Returns the interval in nanoseconds; at least 1.
    fn nanoseconds(&self) -> u64 {
        u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    /// Computes the moment of the next tick, after a tick that was due at `due` and ran at `now`. Also returns how many due
    /// moments before it have no tick.
    fn after(&self, due: Timestamp, now: Timestamp) -> (Timestamp, u64) {
        let interval = self.nanoseconds();
        let late = now.0.saturating_sub(due.0);
        // The number of due moments after `due` that have passed.
        let missed = late / interval;
        let skipped = match self.catch_up {
            CatchUp::Skip => missed,
            CatchUp::AtMost(most) => missed.saturating_sub(most),
            CatchUp::Spaced => return (now + self.interval, 0),
        };
        let next = due.0.saturating_add(skipped.saturating_add(1).saturating_mul(interval));
        (Timestamp(next), skipped)
    }
}

impl Term for Periodic {
    fn bind(&mut self, _: &NodePorts<'_>) -> Result<(), String> {
        if self.interval.is_zero() {
            return Err("the interval is 0; give it a longer one, as `50ms`".into());
        }
        Ok(())
    }

    fn needs_time(&self) -> bool {
        true
    }

    fn is_used_up(&self) -> bool {
        true
    }

    fn runs_without_messages(&self) -> bool {
        true
    }

    fn start(&mut self, _: &crate::context::Waker) -> Result<()> {
        (self.due, self.missed) = (None, 0);
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let due = *self.due.get_or_insert(at.now);
        Ok(if at.now >= due { Verdict::Ready } else { Verdict::Until(due) })
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn late(&self, now: Timestamp) -> Option<Duration> {
        self.due.map(|due| now.since(due))
    }

    fn missed(&self) -> u64 {
        self.missed
    }

    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        if let Some(due) = self.due {
            let (next, skipped) = self.after(due, now);
            (self.due, self.missed) = (Some(next), self.missed.saturating_add(skipped));
        }
        Ok(())
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        self.due.map(|_| Lack::outside("its next period".into()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns the moments, in milliseconds, at which a node is due. `busy_until` has, for each tick, the moment until which the
    /// node is busy before it. A tick runs as soon as it is due and the node is not busy.
    fn dues(catch_up: CatchUp, busy_until: &[u64]) -> Vec<u64> {
        let mut periodic = Periodic::new(Duration::from_millis(10), catch_up);
        let (mut due, mut dues) = (Timestamp(0), vec![0]);
        for busy in busy_until {
            let now = due.max(Timestamp(busy * MS));
            periodic.due = Some(due);
            periodic.ticked(now).unwrap();
            due = periodic.due.unwrap();
            dues.push(due.0 / MS);
        }
        // Each interval has a tick or counts as missed. With `Spaced`, ticks are not at multiples of the interval, and none
        // counts as missed.
        let intervals = due.0 / (10 * MS);
        let ticks = busy_until.len() as u64;
        let missed = if catch_up == CatchUp::Spaced { 0 } else { intervals - ticks };
        assert_eq!(periodic.missed(), missed);
        dues
    }

    #[test]
    fn a_late_tick_is_caught_up_with_as_the_policy_says() {
        // The fourth tick is due at 30 and runs at 67. By then the ticks at 40, 50 and 60 are due, too.
        let busy = [0, 0, 0, 67, 67, 67, 67, 67, 67];
        assert_eq!(dues(CatchUp::Skip, &busy), [0, 10, 20, 30, 70, 80, 90, 100, 110, 120]);
        let all = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];
        assert_eq!(dues(CatchUp::AtMost(u64::MAX), &busy), all);
        assert_eq!(dues(CatchUp::AtMost(3), &busy), all);
        assert_eq!(dues(CatchUp::AtMost(2), &busy), [0, 10, 20, 30, 50, 60, 70, 80, 90, 100]);
        assert_eq!(dues(CatchUp::AtMost(0), &busy), dues(CatchUp::Skip, &busy));
        assert_eq!(dues(CatchUp::Spaced, &busy), [0, 10, 20, 30, 77, 87, 97, 107, 117, 127]);
    }

    #[test]
    fn a_tick_that_is_a_whole_interval_late_misses_one() {
        assert_eq!(dues(CatchUp::Skip, &[10, 0]), [0, 20, 30]);
        assert_eq!(dues(CatchUp::Skip, &[9, 0]), [0, 10, 20]);
        assert_eq!(dues(CatchUp::AtMost(1), &[10, 0]), [0, 10, 20]);
    }

    #[test]
    fn moments_saturate() {
        let periodic = Periodic::new(Duration::MAX, CatchUp::Skip);
        assert_eq!(periodic.after(Timestamp(5), Timestamp(7)).0, Timestamp(u64::MAX));
    }
}
