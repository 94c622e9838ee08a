//! Streams and memory of the crate `cudarc` on a platform.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream as Theirs};

use super::Platform;
use crate::driver::{BorrowedStream, DeviceId, current};
use crate::error::{Error, Result};
use crate::memory::{Element, IntoShape, Tensor};
use crate::stream::{ExternalStream, check_context, check_no_capture, handle_of};

impl Platform {
    /// Takes over a `CudaSlice` of cudarc as a tensor, without a copy. Work on the tensor comes after the work on the slice's
    /// stream, and after the uses on other streams for which cudarc has recorded events. While no stream was made by the cudarc
    /// context's own `new_stream`, cudarc records no such events; the work then comes after all work of the device, which needs a
    /// driver of CUDA 12.5. After the tensor is dropped and all its uses are complete, a thread of streamflow drops the slice,
    /// with its context current. Does not block.
    ///
    /// If the slice's stream is a per-thread default stream, this means the stream of the thread that calls this method.
    ///
    /// # Errors
    /// [`Error::Exchange`] for a slice of a device that the platform does not have, of a context that is not the primary one, or
    /// with a stream that is being captured, and on the simulator; the errors of [`adopt_tensor`](Self::adopt_tensor). After an
    /// error the slice is dropped, and freed after the capture. An error that cudarc has stored from an earlier call is not
    /// returned here: the program can still read it from cudarc.
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

    /// Borrows a stream of cudarc as an external stream. The result owns a clone of `theirs`, so the CUDA stream exists as long
    /// as the result, even if the result is forgotten.
    ///
    /// # Errors
    /// [`Error::Exchange`] as for [`adopt_cudarc`](Self::adopt_cudarc), and if `theirs` is a default stream; errors of the
    /// driver.
    ///
    /// # Safety
    /// No stream capture may begin on the stream before the result is dropped: launches would go into the captured graph instead
    /// of to the device, and so would work of other streams that wait for them. `begin_capture` is a safe function of cudarc.
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
        // SAFETY: the result keeps cudarc's stream alive. The stream belongs to the device's primary context, and it is not a
        // default stream. The caller promises that no capture begins later.
        let external = self.external_stream(unsafe { BorrowedStream::new(device, handle) })?;
        Ok(external.keep(theirs.clone()))
    }

    /// Returns the device of the platform to which a context of cudarc belongs.
    fn device_of_cudarc(&self, context: &CudaContext, what: &str) -> Result<DeviceId> {
        let ids = (0..self.0.devices.len() as u32).map(DeviceId);
        let own = ids.clone().find(|id| {
            let ordinal = self.0.devices[id.index()].info.ordinal;
            ordinal.is_some_and(|ordinal| ordinal as usize == context.ordinal())
        });
        // If no device of the platform fits, `check_context` returns its error about the first one.
        let device = own.unwrap_or(DeviceId(0));
        check_context(&self.0.table, device, context, what)?;
        Ok(device)
    }
}
