//! Host functions, wrapped: that one is called says that all before it is complete.

use std::ffi::c_void;
use std::sync::Arc;

use super::clock::Clock;
use super::shared::Shared;
use crate::driver::HostFunction;

struct Wrapped {
    function: HostFunction,
    shared: Arc<Shared>,
    /// What comes before it.
    before: Clock,
}

/// Wraps a host function that is about to be queued as the latest of a stream, after all that is
/// `before`. One that is never called, as after a sticky error, is leaked.
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
    // On whichever thread it is called: what that knows has nothing to do with it, and what the
    // function knows ends with it.
    let known = {
        let mut locked = shared.lock();
        let thread = locked.thread;
        locked.state().order.enter(thread, before)
    };
    // SAFETY: whoever queued it vouched for the function and its data until this one call.
    unsafe { (function.call)(function.data) };
    let mut locked = shared.lock();
    let thread = locked.thread;
    locked.state().order.leave(thread, known);
}
