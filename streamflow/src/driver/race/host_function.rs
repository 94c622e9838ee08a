//! A wrapper around host functions: when one is called, all earlier work of its stream is complete.

use std::ffi::c_void;
use std::sync::Arc;

use super::clock::Clock;
use super::shared::Shared;
use crate::driver::HostFunction;

struct Wrapped {
    function: HostFunction,
    shared: Arc<Shared>,
    /// All that comes before the function.
    before: Clock,
}

/// Wraps a host function that is about to be queued on a stream, after all that is `before`. A function that is
/// never called, as after a sticky error, is leaked.
pub(super) fn wrap(shared: &Arc<Shared>, before: Clock, function: HostFunction) -> HostFunction {
    let wrapped = Box::new(Wrapped { function, shared: shared.clone(), before });
    HostFunction { call, data: Box::into_raw(wrapped).cast() }
}

/// # Safety
/// `data` is a [`Wrapped`] of [`wrap`], and this is the only call.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: the caller's contract.
    let wrapped = unsafe { Box::from_raw(data.cast::<Wrapped>()) };
    let Wrapped { function, shared, before } = *wrapped;
    // Any thread may call the function. What that thread has found complete does not count inside, and what counts
    // inside ends with the function.
    let saved = {
        let mut locked = shared.lock();
        let thread = locked.thread;
        locked.state().order.enter_host_function(thread, before)
    };
    // SAFETY: the caller that queued the function vouched for it and its data until this one call.
    unsafe { (function.call)(function.data) };
    let mut locked = shared.lock();
    let thread = locked.thread;
    locked.state().order.leave_host_function(thread, saved);
}
