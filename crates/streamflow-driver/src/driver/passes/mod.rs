//! The calls by which a scheduler tells a driver that [replays](super::replay) passes where each pass begins and ends.
//! An [observer](super::Observer) returns the part of the driver that implements them.

mod report;
mod tick;

use std::fmt;
use std::sync::Arc;

pub(super) use report::PassDone;
pub use report::{Reason, ReplayReport, ReplayRun};
pub use tick::ReplayedTick;

use super::DriverResult;

/// The calls by which a scheduler tells where passes, the hooks in them, and runs begin and end.
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
    /// The first error of a call that the driver had held back.
    #[doc(hidden)]
    fn end(&self, run: &mut ReplayRun) -> DriverResult<()>;

    /// Whether the driver may be holding calls back. Every call must then consult the state of replay first.
    #[doc(hidden)]
    fn holds_back(&self) -> bool;

    /// Ends the run: the run makes no more passes. The host has waited for the run's work, unless the run has failed.
    ///
    /// # Errors
    /// The first error of a call that the driver had held back, or of a query whether the run's work is complete.
    #[doc(hidden)]
    fn leave(&self, run: &mut ReplayRun) -> DriverResult<()>;
}
