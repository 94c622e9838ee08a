//! `Compute`: the trait with the hooks of an operator.

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
    /// Called once in each run, before the first tick of the node.
    ///
    /// # Errors
    /// An error ends the run before its first tick.
    fn start(&mut self, streams: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = (streams, cx);
        Ok(())
    }

    /// Called for each tick. A tick begins when every required input has a message, every output has room, and the node's
    /// conditions hold.
    ///
    /// # Errors
    /// An error ends the run, unless the node has `#[on_failure(…)]`. The messages that the tick emitted are not sent.
    fn compute<'t>(&mut self, io: Self::Io<'t>, cx: &'t ExecutionContext) -> Result<()>;

    /// Called once after the last tick of a run, also after a failed run, if `start` was called. `start` is not called if the
    /// `start` of an earlier operator failed, or if the device could not be made current. After an error that makes the device
    /// unusable, calls that use the device return an error, but downloads that had arrived can be read.
    ///
    /// # Errors
    /// The run returns this error together with the first error of the run, if there is one.
    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        let _ = cx;
        Ok(())
    }
}
