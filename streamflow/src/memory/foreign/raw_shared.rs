//! The address of a tensor with several owners, for other code that writes the tensor.

use crate::driver::AccessMode;
use crate::error::Result;
use crate::memory::{Element, Shared, Tensor};
use crate::stream::CudaStream;

impl<T: Element> Shared<Tensor<T>> {
    /// [`CudaStream::write_raw`] for a tensor with several owners. Notes a use of the tensor on `stream`: later work of
    /// streamflow comes after all work that is queued there until then. If other code queues more work on the stream,
    /// another call makes the use cover that work, too.
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

    /// Makes later work on `stream` come after all uses of the tensor so far, as a write would. Does not note a use.
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
