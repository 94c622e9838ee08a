//! The sink of a pipeline, which downloads each tensor and passes it to a callback.

use std::fmt;

use streamflow::prelude::*;

/// A callback that is called for each tick, with the tick's number, counted from 0, and the elements of the tick's tensor.
pub type Report<T> = Box<dyn FnMut(u64, &[T]) -> Result<()> + Send>;

/// Downloads each tensor and reports it one tick later.
///
/// One tick later the copy is probably complete, and the next tick is already queued, so that reading the copy delays neither the
/// host nor the device. The last tensor is reported when the run ends.
#[operator(no_new)]
pub struct Deliver<T: Element> {
    /// The tensor to download.
    #[input]
    tensor: &Tensor<T>,
    report: Report<T>,
    before: Option<(u64, Download<T>)>,
}

impl<T: Element> Deliver<T> {
    /// Calls `report` for each tensor.
    pub fn new(report: Report<T>) -> Self {
        Self { report, before: None }
    }
}

impl<T: Element> Compute for Deliver<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive().receive_cuda_stream(cx)?;
        let next = (cx.tick(), cx.download(tensor, &stream)?);
        match self.before.replace(next) {
            Some((tick, before)) => (self.report)(tick, before.wait_blocking()?),
            None => Ok(()),
        }
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        match self.before.take() {
            Some((tick, last)) => (self.report)(tick, last.wait_blocking()?),
            None => Ok(()),
        }
    }
}

impl<T: Element> fmt::Debug for Deliver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliver").field("before", &self.before).finish_non_exhaustive()
    }
}
