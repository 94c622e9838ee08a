//! A wrapper around host functions. It tells the checker that all earlier work of the stream is complete while the host
//! function runs.

use std::ffi::c_void;
use std::sync::Arc;

use super::clock::Clock;
use super::shared::Shared;
use crate::driver::{HostFunction, RawStream};

/// The data of a host function's wrapper. It is reused for later host functions, so these allocate nothing.
#[derive(Debug, Default)]
struct Wrapped {
    /// The wrapped function and the checker; `None` while the wrapper is idle.
    wraps: Option<(HostFunction, Arc<Shared>)>,
    /// The clock of the work that comes before the function.
    before: Clock,
}

// SAFETY: `State` stores only idle wrappers, and these contain no pointer. A wrapper with a function is used only by the one
// call of that function.
unsafe impl Send for Wrapped {}

/// Wraps a host function that is about to be queued on a stream. The function comes after all work of the stream so far. If
/// the function is never called, as after a sticky error, the wrapper is leaked.
pub(super) fn wrap(
    shared: &Arc<Shared>,
    stream: RawStream,
    function: HostFunction,
) -> HostFunction {
    let mut locked = shared.lock();
    let (thread, state) = (locked.thread, locked.state());
    let queued = state.order.queue(state.order.host(thread), stream);
    let idle = state.idle_functions.pop().and_then(|idle| idle.downcast::<Wrapped>().ok());
    let mut wrapped = idle.unwrap_or_default();
    state.order.snapshot(queued.stream, &mut wrapped.before);
    state.report_stale(thread, "a host function");
    drop(locked);
    wrapped.wraps = Some((function, shared.clone()));
    HostFunction { call, data: Box::into_raw(wrapped).cast() }
}

/// # Safety
/// `data` is a [`Wrapped`] that [`wrap`] has leaked, and this is the only call with it.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: the caller's contract.
    let mut wrapped = unsafe { Box::from_raw(data.cast::<Wrapped>()) };
    let Some((function, shared)) = wrapped.wraps.take() else { return };
    // Any thread may execute the function. During the function that thread's clock contains only the work before the
    // function; afterwards the thread has its own clock again.
    let saved = {
        let mut locked = shared.lock();
        let thread = locked.thread;
        let before = std::mem::take(&mut wrapped.before);
        locked.state().order.enter_host_function(thread, before)
    };
    // SAFETY: the caller that queued the function vouches for it and its data until this one call.
    unsafe { (function.call)(function.data) };
    let mut locked = shared.lock();
    let (thread, state) = (locked.thread, locked.state());
    wrapped.before = state.order.leave_host_function(thread, saved);
    state.idle_functions.push(wrapped);
}
