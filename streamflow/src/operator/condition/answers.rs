//! The combination of the answers of several conditions into one.

use crate::time::Timestamp;

/// Whether a condition holds. A user's condition returns an [`Answer`](super::Answer) instead; `Blocked` is for
/// streamflow's own conditions that wait for another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::operator) enum Verdict {
    /// The condition holds.
    Ready,
    /// The condition holds from a moment on.
    Until(Timestamp),
    /// The condition holds when an event outside of the graph has happened. The node's `Waits` name that event. If one
    /// of several conditions is enough, another one may hold at the moment `until`.
    Waiting { until: Option<Timestamp> },
    /// The condition holds when another node of the graph has sent or received a message.
    Blocked,
    /// The condition will never hold again.
    Never,
}

impl Verdict {
    /// The verdict of a wait for an event outside of the graph alone.
    pub(super) const OUTSIDE: Self = Self::Waiting { until: None };

    /// The verdict of two conditions if both must hold.
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

    /// The verdict of two conditions if either is enough.
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

    /// Checks a table of two conditions: rows and columns in one order.
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
        // The later moment would be too late for the first condition. The thread finds the later one when it wakes up.
        assert_eq!(OUTSIDE_OR_EARLY.and(Until(LATE)), OUTSIDE_OR_EARLY);
        assert_eq!(OUTSIDE_OR_LATE.or(OUTSIDE_OR_EARLY), OUTSIDE_OR_EARLY);
        assert_eq!(OUTSIDE_OR_LATE.or(Until(EARLY)), OUTSIDE_OR_EARLY);
    }
}
