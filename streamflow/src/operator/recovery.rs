//! How a node reacts to a tick that fails: its policy, and its failures in a run.
//!
//! `runner.rs` calls [`Recovery::judge`] after each failure, and does what the verdict says. A tick that succeeds costs nothing:
//! a failure begins a new row of failures unless it is in the tick right after the preceding failure.

use std::time::Duration;

use crate::caught::caught;
use crate::error::Error;
use crate::time::{Timestamp, doubled};

/// The longest wait before a restart, in units of the first wait.
const LONGEST: u32 = 64;

/// How a node reacts to a tick that fails: `#[on_failure(…)]` in `graph!`. After an error that makes the device unusable the run
/// ends, whatever the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// The run ends with the error of the failed tick.
    #[default]
    Stop,
    /// The messages of the failed tick are dropped, and the node goes on with its next tick.
    Skip,
    /// The tick's messages are dropped, and a fresh operator replaces the one that failed.
    Restart {
        /// The most restarts in a row, before the next failure ends the run. With 0 the first failure ends the run. A tick that
        /// succeeds ends a row of failures.
        most: u32,
        /// The wait before the first restart of a row. With a duration of zero the node does not wait. Each further wait is twice
        /// as long as the one before, up to 64 times the first wait.
        back_off: Duration,
    },
}

/// What the node does after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// End the run with the error.
    End,
    /// Go on with the next tick and the same operator.
    GoOn,
    /// Make a fresh operator when the wait of the policy is over.
    Replace,
}

/// A node's policy, and the node's failures in this run.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    policy: OnFailure,
    failures: u64,
    restarts: u64,
    first: Option<String>,
    /// The number of failures in the current row.
    in_a_row: u32,
    /// The tick in which a further failure would continue the current row.
    row: u64,
    /// The moment at which a fresh operator replaces the failed one. `None` if the operator has not failed, or was replaced
    /// already.
    due: Option<Timestamp>,
}

impl Recovery {
    pub(super) fn new(policy: OnFailure) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Begins a run. Returns whether the operator failed at the end of the preceding run and was not replaced.
    pub(super) fn begin(&mut self) -> bool {
        *self = Self { due: self.due, ..Self::new(self.policy) };
        self.due.is_some()
    }

    /// Records that a fresh operator has replaced the failed one. The fresh operator has not started yet.
    pub(super) fn mark_replaced(&mut self) {
        self.due = None;
    }

    pub(super) fn policy(&self) -> OnFailure {
        self.policy
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures
    }

    pub(super) fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Returns the text of the first failure of this run.
    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Returns the moment at which a fresh operator replaces the failed one, if the operator has failed.
    #[inline]
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Counts a restart, after the fresh operator has started.
    pub(super) fn count_restart(&mut self) {
        self.restarts += 1;
        self.due = None;
    }

    /// Records a failure and returns what to do. `tick` is the node's tick that failed, and `next` the tick after it. If a
    /// restart failed, and not a tick, the two numbers are equal.
    pub(super) fn judge(
        &mut self,
        error: &Error,
        (tick, next): (u64, u64),
        now: Timestamp,
        is_sticky: bool,
    ) -> Verdict {
        self.failures += 1;
        if self.row != tick {
            self.in_a_row = 0;
        }
        self.row = next;
        let verdict = match self.policy {
            _ if is_sticky => Verdict::End,
            OnFailure::Stop => Verdict::End,
            OnFailure::Skip => Verdict::GoOn,
            OnFailure::Restart { most, .. } if self.in_a_row >= most => {
                // Make the next run begin with a fresh operator.
                self.due = Some(now);
                Verdict::End
            }
            OnFailure::Restart { back_off, .. } => {
                self.due = Some(now + doubled(back_off, self.in_a_row, LONGEST));
                self.in_a_row += 1;
                Verdict::Replace
            }
        };
        self.report(error, verdict);
        verdict
    }

    /// Logs a failure that does not end the run, and stores the text of the first failure.
    fn report(&mut self, error: &Error, verdict: Verdict) {
        if verdict == Verdict::End && self.first.is_some() {
            return;
        }
        let text = text_of(error);
        if verdict != Verdict::End {
            let (failures, policy) = (self.failures, self.policy);
            tracing::warn!(failures, ?policy, "{text}");
        }
        self.first.get_or_insert(text);
    }
}

/// Returns the text of an error. The error's `Display` may be the user's code, which may panic.
pub(crate) fn text_of(error: &Error) -> String {
    caught(|| error.to_string())
        .unwrap_or_else(|panic| format!("an error whose text can't be made: it panicked: {panic}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);
    const BACK_OFF: Duration = Duration::from_nanos(10);

    /// Records the failure of a tick; returns the verdict and the wait before the restart, in nanoseconds.
    fn tick(recovery: &mut Recovery, tick: u64) -> (Verdict, Option<u64>) {
        let error = Error::CapacityZero { edge: "a.x >> b.y" };
        let verdict = recovery.judge(&error, (tick, tick + 1), NOW, false);
        (verdict, recovery.due().map(|due| due.0 - NOW.0))
    }

    /// Records the failure of a restart before a tick; returns the verdict and the wait before the next restart, in nanoseconds.
    fn restart(recovery: &mut Recovery, before: u64) -> (Verdict, Option<u64>) {
        let error = Error::Panicked { message: "no".to_owned() };
        let verdict = recovery.judge(&error, (before, before), NOW, false);
        (verdict, recovery.due().map(|due| due.0 - NOW.0))
    }

    #[test]
    fn the_waits_of_a_row_are_doubled_up_to_64_times() {
        let mut recovery = Recovery::new(OnFailure::Restart { most: 40, back_off: BACK_OFF });
        let waits: Vec<_> = (0..41).map(|number| tick(&mut recovery, number)).collect();
        let expected = [10, 20, 40, 80, 160, 320, 640, 640, 640];
        assert!(waits[..9].iter().zip(expected).all(|(wait, wanted)| wait.1 == Some(wanted)));
        assert!(waits[9..40].iter().all(|wait| *wait == (Verdict::Replace, Some(640))));
        assert_eq!(waits[40].0, Verdict::End);
        assert_eq!(recovery.failures(), 41);
    }

    #[test]
    fn a_tick_that_succeeds_ends_the_row() {
        let mut recovery = Recovery::new(OnFailure::Restart { most: 2, back_off: BACK_OFF });
        assert_eq!(tick(&mut recovery, 0), (Verdict::Replace, Some(10)));
        recovery.count_restart();
        assert_eq!(tick(&mut recovery, 1), (Verdict::Replace, Some(20)));
        recovery.count_restart();
        // Tick 2 succeeds, which ends the row of failures.
        assert_eq!(tick(&mut recovery, 3), (Verdict::Replace, Some(10)));
        // A failed restart counts as one more failure of the row, and so does the failure of the next tick.
        assert_eq!(restart(&mut recovery, 4), (Verdict::Replace, Some(20)));
        recovery.count_restart();
        assert_eq!(tick(&mut recovery, 4).0, Verdict::End);
        assert_eq!((recovery.failures(), recovery.restarts()), (5, 3));
        assert_eq!(
            recovery.first(),
            Some("the capacity of `a.x >> b.y` is 0; `#[capacity(n)]` takes at least 1")
        );
    }

    #[test]
    fn after_a_sticky_error_nothing_goes_on() {
        let error = Error::Panicked { message: "no".to_owned() };
        for policy in [OnFailure::Skip, OnFailure::Restart { most: 3, back_off: BACK_OFF }] {
            let mut recovery = Recovery::new(policy);
            assert_eq!(recovery.judge(&error, (0, 1), NOW, true), Verdict::End);
            assert_eq!(recovery.due(), None);
        }
    }

    #[test]
    fn a_run_begins_without_the_failures_of_the_one_before() {
        let mut recovery = Recovery::new(OnFailure::Restart { most: 1, back_off: BACK_OFF });
        assert!(!recovery.begin());
        tick(&mut recovery, 7);
        assert!(recovery.begin(), "it was not replaced");
        assert!(recovery.begin(), "no fresh operator could be made");
        recovery.mark_replaced();
        assert_eq!((recovery.failures(), recovery.first(), recovery.due()), (0, None, None));
        assert_eq!(tick(&mut recovery, 0).0, Verdict::Replace);
    }
}
