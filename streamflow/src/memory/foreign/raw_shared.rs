//! The address of a tensor with several owners, for other code that writes the tensor.

use crate::driver::AccessMode;
use crate::error::Result;
use crate::memory::{Element, Shared, Tensor};
use crate::stream::CudaStream;

impl<T: Element> Shared<Tensor<T>> {
    /// [`CudaStream::write_raw`] for a tensor with several owners: notes a use of the tensor on `stream`, and later
    /// work of streamflow comes after all work that is queued there until then. Another call moves the use behind work
    /// that other code has queued on the stream since.
    ///
    /// # Errors
    /// As for [`CudaStream::read_raw`].
    ///
    /// # Safety
    /// The tensor may be written. No other owner uses it while the other code writes it, except by work of streamflow:
    /// that is ordered.
    #[track_caller]
    pub unsafe fn write_raw<R>(
        &self,
        stream: &CudaStream,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        stream.with_raw(self, AccessMode::Write, |address| Ok(queue(address)))
    }

    /// Makes later work on `stream` come after all uses of the tensor so far, as a write does. Notes no use.
    ///
    /// # Errors
    /// For a stream of another device or platform; the driver's.
    pub fn order_before(&self, stream: &CudaStream) -> Result<()> {
        let block = self.owned_block();
        block.check(stream, "the tensor")?;
        stream.timeline().ready()?;
        block.order_written(stream, AccessMode::Write)
    }
}
