//! The passes over a graph, marked by a scheduler for a driver that [replays](super::replay) them. An
//! [observer](super::Observer) returns the part of the driver that takes the marks.

mod report;
mod tick;

use std::fmt;
use std::sync::Arc;

pub(super) use report::PassDone;
pub use report::{Reason, ReplayReport, ReplayRun};
pub use tick::ReplayedTick;

use super::DriverResult;

/// The calls with which a scheduler marks passes.
#[doc(hidden)]
pub trait Replays: Send + Sync + fmt::Debug {
    /// Begins a pass on this thread. Returns `false` if the pass is not replayed.
    #[doc(hidden)]
    fn begin(&self, run: &mut ReplayRun) -> bool;

    /// Tells that the hook of this node is next, in this tick of the node.
    #[doc(hidden)]
    fn at(&self, node: u32, tick: u64);

    /// The tick with the hook that runs now in a replayed pass.
    #[doc(hidden)]
    fn tick(&self) -> Arc<ReplayedTick>;

    /// Ends the pass of this run.
    ///
    /// # Errors
    /// The first error of a call that was held back.
    #[doc(hidden)]
    fn end(&self, run: &mut ReplayRun) -> DriverResult<()>;

    /// Whether calls may be held back, so that each call goes through the state.
    #[doc(hidden)]
    fn holds_back(&self) -> bool;

    /// Ends the run: it makes no more passes. The host has waited for the run's work, unless the run
    /// has failed.
    ///
    /// # Errors
    /// The first error of a call that was held back, or of a query whether the run's work is complete.
    #[doc(hidden)]
    fn leave(&self, run: &mut ReplayRun) -> DriverResult<()>;
}
