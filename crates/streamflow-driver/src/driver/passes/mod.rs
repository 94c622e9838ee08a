//! The passes over a graph that a scheduler marks, for a driver that [replays](super::replay) them: an
//! [observer](super::Observer) hands them on.

mod report;
mod tick;

use std::fmt;
use std::sync::Arc;

pub(super) use report::PassDone;
pub use report::{Reason, ReplayReport, ReplayRun};
pub use tick::ReplayedTick;

use super::DriverResult;

/// How a scheduler marks passes.
#[doc(hidden)]
pub trait Replays: Send + Sync + fmt::Debug {
    /// A pass begins on this thread. Returns `false` if it is not replayed.
    #[doc(hidden)]
    fn begin(&self, run: &mut ReplayRun) -> bool;

    /// The hook of this node is next, in this tick of the node.
    #[doc(hidden)]
    fn at(&self, node: u32, tick: u64);

    /// The tick whose hook runs in a pass that is replayed.
    #[doc(hidden)]
    fn tick(&self) -> Arc<ReplayedTick>;

    /// The pass of this run ends.
    ///
    /// # Errors
    /// The first of a call that was held back.
    #[doc(hidden)]
    fn end(&self, run: &mut ReplayRun) -> DriverResult<()>;

    /// Whether calls may be held back, so that each goes through the state.
    #[doc(hidden)]
    fn holds_back(&self) -> bool;

    /// The run makes no more passes. The host has waited for its work, unless the run has failed.
    ///
    /// # Errors
    /// The first of a call that was held back, or of a question whether its work is complete.
    #[doc(hidden)]
    fn leave(&self, run: &mut ReplayRun) -> DriverResult<()>;
}
