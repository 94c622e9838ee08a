//! A wrapper around host functions. When a host function is called, all earlier work of its stream is complete.

use std::ffi::c_void;
use std::sync::Arc;

use super::clock::Clock;
use super::shared::Shared;
use crate::driver::{HostFunction, RawStream};

/// The data of a host function's wrapper. Later host functions reuse the wrapper, so they allocate nothing.
#[derive(Debug, Default)]
struct Wrapped {
    /// The function and the checker; `None` while no function is wrapped.
    wraps: Option<(HostFunction, Arc<Shared>)>,
    /// The clock of the work before the function.
    before: Clock,
}

// SAFETY: `State` stores only wrappers without a function, and these have no pointer. A wrapper with a function is used only by
// the one call of that function.
unsafe impl Send for Wrapped {}

/// Wraps a host function that is about to be queued on a stream. The function comes after all work of the stream so far. The
/// wrapper is leaked if its function is never called, as after a sticky error.
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
/// `data` is a [`Wrapped`] of [`wrap`], and this is the only call.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: the caller's contract.
    let mut wrapped = unsafe { Box::from_raw(data.cast::<Wrapped>()) };
    let Some((function, shared)) = wrapped.wraps.take() else { return };
    // Any thread may call the function. During the call the clock of that thread has the work before the function and nothing
    // else; afterwards the thread has its own clock again.
    let saved = {
        let mut locked = shared.lock();
        let thread = locked.thread;
        let before = std::mem::take(&mut wrapped.before);
        locked.state().order.enter_host_function(thread, before)
    };
    // SAFETY: the caller that queued the function vouched for it and its data until this one call.
    unsafe { (function.call)(function.data) };
    let mut locked = shared.lock();
    let (thread, state) = (locked.thread, locked.state());
    wrapped.before = state.order.leave_host_function(thread, saved);
    state.idle_functions.push(wrapped);
}
