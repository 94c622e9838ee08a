//! Streams and memory of cudarc on a platform.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream as Theirs};

use super::Platform;
use crate::driver::{BorrowedStream, DeviceId, current};
use crate::error::{Error, Result};
use crate::memory::{Element, IntoShape, Tensor};
use crate::stream::{ExternalStream, check_context, check_no_capture, handle_of};

impl Platform {
    /// Takes over a slice of cudarc as a tensor, without a copy. Work on the tensor comes after the work of the slice's
    /// stream, and after the uses on other streams for which cudarc has recorded events. As long as no stream was made by
    /// the context's own `new_stream`, cudarc does not use these events, and the work comes after all work of the device;
    /// that needs a driver of CUDA 12.5. When the tensor is dropped and all its uses are complete, the slice is dropped, on
    /// a thread of streamflow with the context current. Does not block.
    ///
    /// A per-thread default stream differs for each thread: here the one of the calling thread counts.
    ///
    /// # Errors
    /// [`Error::Exchange`] for a slice of a device that the platform does not have, of a context that is not the
    /// primary one, or with a stream that is being captured, and on the simulator; as for
    /// [`adopt_tensor`](Self::adopt_tensor). The slice is then dropped, and freed after the capture. An error that
    /// cudarc has kept from an earlier call is not returned here, and stays for the program.
    #[track_caller]
    pub fn adopt_cudarc<T: Element>(
        &self,
        slice: CudaSlice<T>,
        shape: impl IntoShape,
    ) -> Result<Tensor<T>> {
        let device = self.device_of_cudarc(slice.context(), "a slice of cudarc")?;
        let pool = &self.device(device, "a slice of cudarc")?.memory;
        pool.pool().adopt_cudarc(device, slice, &shape.into_shape()?)
    }

    /// Borrows a stream of cudarc as an external stream. The result keeps `theirs`: the stream of CUDA lives as long as
    /// the result, even if the result is forgotten.
    ///
    /// # Errors
    /// [`Error::Exchange`] as for [`adopt_cudarc`](Self::adopt_cudarc), and for a default stream; errors of the driver.
    ///
    /// # Safety
    /// No capture into a graph begins on the stream before the result is dropped: launches would go into the graph instead of
    /// the device, and other streams would follow them there. `begin_capture` is a safe function of cudarc.
    pub unsafe fn external_cudarc(&self, theirs: &Arc<Theirs>) -> Result<ExternalStream<'static>> {
        let device = self.device_of_cudarc(theirs.context(), "a stream of cudarc")?;
        let handle = handle_of(theirs);
        if handle <= 2 {
            let (reason, remedy) = match handle {
                2 => (
                    "a thread's default stream is another one on each thread",
                    "order it by `CudaStream::after_cudarc` and `before_cudarc` on the thread, or make a stream by \
                     `CudaContext::new_stream`; for candle, `Device::new_cuda_with_stream`",
                ),
                _ => ("the platform has it", "take `Platform::default_stream`"),
            };
            return Err(Error::Exchange {
                what: "a default stream of cudarc is no external stream".to_owned(),
                reason: reason.to_owned(),
                remedy: remedy.to_owned(),
            });
        }
        let _other = current::other_code();
        check_no_capture(theirs, "a stream of cudarc")?;
        // SAFETY: the result keeps cudarc's stream alive. That stream is of the device's primary context, and is no
        // default stream. The caller vouches for later captures.
        let external = self.external_stream(unsafe { BorrowedStream::new(device, handle) })?;
        Ok(external.keep(theirs.clone()))
    }

    /// The device of a context.
    fn device_of_cudarc(&self, context: &CudaContext, what: &str) -> Result<DeviceId> {
        let ids = (0..self.0.devices.len() as u32).map(DeviceId);
        let own = ids.clone().find(|id| {
            let ordinal = self.0.devices[id.index()].info.ordinal;
            ordinal.is_some_and(|ordinal| ordinal as usize == context.ordinal())
        });
        // If no device fits, the error is that of the first one.
        let device = own.unwrap_or(DeviceId(0));
        check_context(&self.0.table, device, context, what)?;
        Ok(device)
    }
}
