//! The limit of a run: a number of ticks, or a time.

use std::time::Duration;

use super::nodes::Nodes;
use crate::error::{Error, Result};
use crate::time::{Clock, Timestamp};

/// The limit of a run: a number of ticks, or a time. `run_for` converts a number or a duration itself: `run_for(100)`,
/// `run_for(Duration::from_secs(10))`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunFor {
    /// Each node without inputs does at most this number of ticks, and the other nodes then consume the messages that were sent.
    Ticks(u64),
    /// When this time has passed since the end of the `start` hooks, by the platform's clock, no node begins a tick any more.
    Time(Duration),
}

impl From<u64> for RunFor {
    fn from(ticks: u64) -> Self {
        Self::Ticks(ticks)
    }
}

impl From<Duration> for RunFor {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

/// The limit of a run that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    None,
    /// The run has a limit of ticks. The nodes store the number.
    Ticks,
    Until(Timestamp),
}

impl RunFor {
    /// Returns an error for a limit that can't be kept.
    pub(super) fn check(self, nodes: Nodes<'_, '_>) -> Result<()> {
        let problem = match self {
            Self::Ticks(0) => "0 ticks are no run; give at least 1",
            Self::Time(Duration::ZERO) => "a time of 0 is no run; give a longer one",
            Self::Ticks(_) if !nodes.iter_mut().any(|node| node.limit(None)) => {
                "each node has an input, so a number of ticks limits none of them; give a time"
            }
            _ => return Ok(()),
        };
        Err(Error::RunLimit { problem })
    }

    pub(super) fn begin(self, nodes: Nodes<'_, '_>, clock: &Clock) -> Limit {
        match self {
            Self::Ticks(ticks) => {
                for node in nodes {
                    node.limit(Some(ticks));
                }
                Limit::Ticks
            }
            Self::Time(time) => Limit::Until(clock.now() + time),
        }
    }
}

impl Limit {
    /// The moment from which no node begins a tick any more; `None` if the run has no limit of time.
    pub(super) fn until(self) -> Option<Timestamp> {
        match self {
            Self::Until(end) => Some(end),
            Self::None | Self::Ticks => None,
        }
    }

    /// Whether the run's limit of time has passed.
    pub(super) fn is_over(self, clock: &Clock) -> bool {
        matches!(self, Self::Until(end) if clock.now() >= end)
    }

    /// Removes the limit of ticks from the nodes at the end of the run, so that the next run is not limited.
    pub(super) fn end(self, nodes: Nodes<'_, '_>) {
        if self == Self::Ticks {
            for node in nodes {
                node.limit(None);
            }
        }
    }
}
