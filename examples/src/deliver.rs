//! The end of a pipeline: brings each tensor to the host, and tells somebody.

use std::fmt;

use streamflow::prelude::*;

/// Is told the tick, from 0, and the elements of each tensor, in order.
pub type Report<T> = Box<dyn FnMut(u64, &[T]) -> Result<()> + Send>;

/// Downloads each tensor and reports it one tick later.
///
/// By then the copy is most likely complete, and the next tick is queued already: reading it keeps
/// neither the host nor the device from working. The last tensor is reported when the run ends.
#[operator(no_new)]
pub struct Deliver<T: Element> {
    /// What is delivered.
    #[input]
    tensor: &Tensor<T>,
    report: Report<T>,
    before: Option<(u64, Download<T>)>,
}

impl<T: Element> Deliver<T> {
    /// Tells `report`.
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
