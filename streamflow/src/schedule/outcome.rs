//! The reason why a run has ended without an error.

use crate::context::StopSource;

/// The reason why a run makes no more passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No node can run any more, or the race checker has found a race.
    Over,
    Stopped(StopSource),
    TimeOver,
    /// The program has called `end_run`.
    EndCalled,
}
