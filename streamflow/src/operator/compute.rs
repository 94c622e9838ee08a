//! The trait of an operator's work.

use super::Operator;
use crate::Result;
use crate::context::ExecutionContext;

/// The work of an operator: its hooks `start`, `compute` and `stop`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Compute`",
    label = "this operator has no `compute`",
    note = "write `impl Compute for {Self}`"
)]
pub trait Compute: Operator {
    /// Called once, before the first tick of a run.
    ///
    /// # Errors
    /// An error ends the run before its first tick.
    fn start(&mut self, streams: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = (streams, cx);
        Ok(())
    }

    /// Called for each tick: when every required input has a message, every output has room, and the node's conditions
    /// hold.
    ///
    /// # Errors
    /// An error ends the run, unless the node has `#[on_failure(…)]`. The messages that the tick emitted are not sent.
    fn compute<'t>(&mut self, io: Self::Io<'t>, cx: &'t ExecutionContext) -> Result<()>;

    /// Called once, after the last tick of a run, also after a failed run, if `start` was called. `start` is not called if
    /// an operator before this one failed in `start`, or if the device could not be bound. After an error that makes the
    /// device unusable, calls that use the device are refused, and downloads that had arrived can be read.
    ///
    /// # Errors
    /// The run returns the error, beside the first error of the run if there is one.
    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        let _ = cx;
        Ok(())
    }
}
