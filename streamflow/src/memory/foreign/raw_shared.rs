//! The address of a tensor with several owners, for other code that writes the tensor.

use crate::driver::AccessMode;
use crate::error::Result;
use crate::memory::{Element, PitchedTensor, Shared, Tensor};
use crate::stream::CudaStream;

macro_rules! raw {
    ($($tensor:ident, |$it:ident| $memory:expr;)*) => {$(
        impl<T: Element> Shared<$tensor<T>> {
            /// [`CudaStream::write_raw`] for a tensor with several owners. Notes a use of the tensor on `stream`: later work of
            /// streamflow with the tensor comes after all work that was queued on `stream` when `queue` returned. If other
            /// code queues more work on the stream, another call of this method makes the use cover that work, too.
            ///
            /// # Errors
            /// As for [`CudaStream::read_raw`].
            ///
            /// # Safety
            /// The tensor may be written. No other owner uses the tensor while the other code writes it, except by work of
            /// streamflow, which is ordered. The other code writes no padding between the rows of the tensor.
            #[track_caller]
            pub unsafe fn write_raw<R>(
                &self,
                stream: &CudaStream,
                queue: impl FnOnce(u64) -> R,
            ) -> Result<R> {
                let $it = &**self;
                let (memory, rows) = $memory;
                stream.with_raw_rows(memory, rows, AccessMode::Write, |address| Ok(queue(address)))
            }

            /// Makes later work on `stream` come after all uses of the tensor so far, reads and writes. Does not note a use.
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
    )*};
}
raw! {
    Tensor, |it| (&**it, None);
    PitchedTensor, |it| (it.padded(), it.touched().1);
}
