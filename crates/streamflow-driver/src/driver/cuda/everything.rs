//! The wait for all work of a device, also for work of other code.

use cudarc::driver::sys;

use super::error::{STICKY, check};
use super::optional::cuCtxRecordEvent;
use super::submit::stream_of;
use super::{CudaDriver, pointer_to};
use crate::driver::{Driver, DriverResult, RawStream, first_error};

impl CudaDriver {
    /// [`Driver::wait_for_device`].
    ///
    /// A record of the primary context covers all work that was queued in that context and in its green contexts
    /// (CUDA driver API, `cuCtxRecordEvent`). If any stream of the context captures a graph, the record fails.
    ///
    /// # Safety
    /// The contract is that of `Driver::wait_for_device`.
    pub(super) unsafe fn wait_for_context(&self, stream: RawStream) -> DriverResult<()> {
        const CALL: &str = "cuCtxRecordEvent";
        STICKY.usable(CALL)?;
        let device = stream.device();
        let context = self.device(device)?.context.cu_ctx();
        let record = cuCtxRecordEvent.get()?;
        let event = self.create_event(device)?;
        let raw = pointer_to(event.handle());
        // SAFETY: the primary context lives with the process, and the event was just made.
        let recorded = unsafe { record(context, raw) };
        let waited = check(CALL, device, recorded).and_then(|()| {
            // SAFETY: the caller vouches for the stream; 0 is the flag for the usual wait.
            let waited = unsafe { sys::cuStreamWaitEvent(stream_of(stream), raw, 0) };
            check("cuStreamWaitEvent", device, waited)
        });
        // SAFETY: the event was made above. CUDA lets the wait finish.
        let destroyed = unsafe { self.destroy_event(event) };
        first_error("destroying an event", waited, destroyed)
    }
}
