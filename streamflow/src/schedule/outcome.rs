//! Why a run has ended well.

use crate::context::StopSource;

/// Why a run makes no more passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No node can run any more, or the race checker has found a race.
    Over,
    Stopped(StopSource),
    TimeOver,
    /// The program called `end_run`.
    EndCalled,
}
