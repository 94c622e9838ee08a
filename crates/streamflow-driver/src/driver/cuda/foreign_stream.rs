//! The device of a stream that other code made.

use std::ptr;

use cudarc::driver::sys;

use super::error::{STICKY, check, explain, failure};
use super::optional::cuStreamGetCtx_v2;
use super::{CudaDriver, pointer_to};
use crate::driver::{DeviceId, DriverResult};

impl CudaDriver {
    /// [`Driver::device_of_stream`](crate::driver::Driver::device_of_stream): finds the device by the stream's context.
    /// For a stream of a green context, CUDA also returns the primary context of the same device (CUDA driver API,
    /// `cuStreamGetCtx_v2`).
    ///
    /// # Safety
    /// The contract is that of `Driver::device_of_stream`.
    pub(super) unsafe fn find_device_of_stream(&self, handle: u64) -> DriverResult<DeviceId> {
        const CALL: &str = "cuStreamGetCtx";
        STICKY.usable(CALL)?;
        let context_of = cuStreamGetCtx_v2.get()?;
        let anywhere = DeviceId(0);
        let (mut context, mut green) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: CUDA writes one handle each to `context` and `green`, and the caller vouches for the stream.
        let result = unsafe { context_of(pointer_to(handle), &raw mut context, &raw mut green) };
        check(CALL, anywhere, result).map_err(|error| {
            explain(error, || {
                format!(
                    "{handle:#x} is the handle of no stream: it may be destroyed; keep the other library's stream while \
                     streamflow uses it"
                )
            })
        })?;
        let devices = (0_u32..).map(DeviceId).zip(&self.devices);
        let mut own = devices.filter(|(_, device)| device.context.cu_ctx() == context);
        own.next().map(|(id, _)| id).ok_or_else(|| {
            let unknown = failure(CALL, anywhere, sys::CUresult::CUDA_ERROR_INVALID_CONTEXT);
            explain(unknown, || {
                format!(
                    "the stream {handle:#x} is in a context that is not the primary one of a device of this platform; \
                     make the stream in the primary context (`cuDevicePrimaryCtxRetain`), as CUDA's runtime API does, or \
                     make a platform with the stream's device"
                )
            })
        })
    }
}
