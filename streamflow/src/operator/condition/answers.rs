//! `Verdict`: whether a condition holds, and the combination of several verdicts into one.

use crate::time::Timestamp;

/// Says whether a condition holds, or for what it waits. A user's condition returns an [`Answer`](super::Answer) instead. Only
/// streamflow's own conditions return `Blocked`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::operator) enum Verdict {
    /// The condition holds now.
    Ready,
    /// The condition does not hold before this moment. It holds from then on.
    Until(Timestamp),
    /// The condition holds once an event outside of the graph has happened; the node's `Waits` name the event. In `any(…)`,
    /// another condition may hold earlier, at the moment `until`.
    Waiting { until: Option<Timestamp> },
    /// The condition can change only after another node of the graph has sent or received a message.
    Blocked,
    /// The condition will not hold again in this run.
    Never,
}

impl Verdict {
    /// The verdict of a condition that waits for an event outside of the graph, and for no moment.
    pub(super) const OUTSIDE: Self = Self::Waiting { until: None };

    /// Combines the verdicts of two conditions that must both hold.
    pub(super) fn and(self, other: Self) -> Self {
        use Verdict::{Blocked, Never, Ready, Until, Waiting};
        match (self, other) {
            (Never, _) | (_, Never) => Never,
            (Blocked, _) | (_, Blocked) => Blocked,
            (Waiting { until: one }, Waiting { until: other }) => {
                Waiting { until: earliest(one, other) }
            }
            (Waiting { until }, _) | (_, Waiting { until }) => Waiting { until },
            (Until(one), Until(other)) => Until(one.max(other)),
            (Until(at), Ready) | (Ready, Until(at)) => Until(at),
            (Ready, Ready) => Ready,
        }
    }

    /// Combines the verdicts of two conditions of which one is enough.
    pub(super) fn or(self, other: Self) -> Self {
        use Verdict::{Blocked, Never, Ready, Until, Waiting};
        match (self, other) {
            (Ready, _) | (_, Ready) => Ready,
            (Never, one) | (one, Never) => one,
            (Blocked, one) | (one, Blocked) => one,
            (Until(one), Until(other)) => Until(one.min(other)),
            (Until(at), Waiting { until }) | (Waiting { until }, Until(at)) => {
                Waiting { until: earliest(Some(at), until) }
            }
            (Waiting { until: one }, Waiting { until: other }) => {
                Waiting { until: earliest(one, other) }
            }
        }
    }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::Verdict::{self, Blocked, Never, Ready, Until, Waiting};
    use super::*;

    const EARLY: Timestamp = Timestamp(10);
    const LATE: Timestamp = Timestamp(20);
    const OUTSIDE: Verdict = Verdict::OUTSIDE;
    const OUTSIDE_OR_EARLY: Verdict = Waiting { until: Some(EARLY) };
    const OUTSIDE_OR_LATE: Verdict = Waiting { until: Some(LATE) };

    /// Checks `combine` against a table of expected verdicts. The rows are the first argument, the columns the second, in the
    /// order of `all`.
    fn is(table: [[Verdict; 6]; 6], combine: impl Fn(Verdict, Verdict) -> Verdict) {
        let all = [Ready, Until(EARLY), Until(LATE), OUTSIDE, Blocked, Never];
        for (one, row) in all.into_iter().zip(table) {
            for (other, expected) in all.into_iter().zip(row) {
                assert_eq!(combine(one, other), expected, "{one:?} with {other:?}");
            }
        }
    }

    #[test]
    fn all_conditions_must_hold() {
        let (early, late) = (Until(EARLY), Until(LATE));
        let table = [
            [Ready, early, late, OUTSIDE, Blocked, Never],
            [early, early, late, OUTSIDE, Blocked, Never],
            [late, late, late, OUTSIDE, Blocked, Never],
            [OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE, Blocked, Never],
            [Blocked, Blocked, Blocked, Blocked, Blocked, Never],
            [Never; 6],
        ];
        is(table, Verdict::and);
    }

    #[test]
    fn any_condition_is_enough() {
        let (early, late) = (Until(EARLY), Until(LATE));
        let table = [
            [Ready; 6],
            [Ready, early, early, OUTSIDE_OR_EARLY, early, early],
            [Ready, early, late, OUTSIDE_OR_LATE, late, late],
            [Ready, OUTSIDE_OR_EARLY, OUTSIDE_OR_LATE, OUTSIDE, OUTSIDE, OUTSIDE],
            [Ready, early, late, OUTSIDE, Blocked, Blocked],
            [Ready, early, late, OUTSIDE, Blocked, Never],
        ];
        is(table, Verdict::or);
    }

    #[test]
    fn moments_beside_waits_are_kept() {
        assert_eq!(OUTSIDE_OR_LATE.and(OUTSIDE_OR_EARLY), OUTSIDE_OR_EARLY);
        assert_eq!(OUTSIDE_OR_LATE.and(OUTSIDE), OUTSIDE_OR_LATE);
        // Together the conditions hold from `LATE` on. The next check is at `EARLY`: from then on the first condition holds, so
        // that check returns `Until(LATE)`.
        assert_eq!(OUTSIDE_OR_EARLY.and(Until(LATE)), OUTSIDE_OR_EARLY);
        assert_eq!(OUTSIDE_OR_LATE.or(OUTSIDE_OR_EARLY), OUTSIDE_OR_EARLY);
        assert_eq!(OUTSIDE_OR_LATE.or(Until(EARLY)), OUTSIDE_OR_EARLY);
    }
}
