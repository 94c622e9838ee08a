//! The contexts of the devices, shared over the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, sys};

use super::error::{STICKY, check_given_back, code_of};
use super::probe::cannot_start;
use crate::driver::current;
use crate::driver::error::report_in_drop;
use crate::driver::{DeviceId, DriverResult};

/// The contexts of this process, by CUDA's own device number.
///
/// cudarc keeps counters and switches in each `CudaContext` object, also when two objects are for the same
/// primary context. A single object per device keeps these consistent. No context is ever removed, so the
/// primary contexts live as long as the process.
static CONTEXTS: Mutex<BTreeMap<usize, Arc<CudaContext>>> = Mutex::new(BTreeMap::new());

/// The process's context of a device.
pub(super) fn shared_context(id: DeviceId, ordinal: usize) -> DriverResult<Arc<CudaContext>> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&ordinal) {
        return Ok(context.clone());
    }
    // `CudaContext::new` makes the new context current on this thread.
    current::doubt();
    let context = CudaContext::new(ordinal)
        .map_err(|error| cannot_start("opening the device", id, error.0))?;
    // SAFETY: no slice of cudarc's exists on this context yet. streamflow does the ordering: cudarc's
    // tracking keeps one read event per slice, so it loses the slower of two readers. The documentation of
    // `CudaDriver::context` says so to users who take the context.
    unsafe { context.disable_event_tracking() };
    contexts.insert(ordinal, context.clone());
    Ok(context)
}

/// Whether a context is current on this thread; `false` if the driver can't say.
#[inline]
pub(super) fn is_current(context: &CudaContext) -> bool {
    let mut current: sys::CUcontext = std::ptr::null_mut();
    // SAFETY: CUDA writes one handle to `current`.
    let result = unsafe { sys::cuCtxGetCurrent(&raw mut current) };
    code_of(result) == 0 && current == context.cu_ctx()
}

/// Makes a context current on this thread.
///
/// If the driver is shutting down, `bind` returns no error. The next call returns that error or, if it only frees an
/// object, has nothing left to do.
#[inline]
pub(super) fn bind(context: &CudaContext, device: DeviceId) -> DriverResult<()> {
    // Fast path: the context is already bound. The query costs half as much as binding the context.
    if is_current(context) { Ok(()) } else { set_current(context, device) }
}

#[cold]
#[inline(never)]
fn set_current(context: &CudaContext, device: DeviceId) -> DriverResult<()> {
    current::doubt();
    // SAFETY: the registry keeps the context for the life of the process.
    let result = unsafe { sys::cuCtxSetCurrent(context.cu_ctx()) };
    check_given_back("cuCtxSetCurrent", device, result)
}

/// Destroys an object when its owner is dropped, with the object's context bound.
///
/// If binding fails, the object is destroyed all the same: the handle names its context, and no other code would
/// destroy the object.
pub(super) fn bind_to_give_back(context: &CudaContext, device: DeviceId, give_back: impl FnOnce()) {
    if STICKY.get().is_some() {
        return;
    }
    report_in_drop("binding a device", bind(context, device));
    if STICKY.get().is_none() {
        give_back();
    }
}

/// Waits for all work of the bound context.
pub(super) fn synchronize(device: DeviceId) -> DriverResult<()> {
    // SAFETY: the function takes no arguments and concerns only the bound context.
    let result = unsafe { sys::cuCtxSynchronize() };
    check_given_back("cuCtxSynchronize", device, result)
}
