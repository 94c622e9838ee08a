//! The device that a thread has bound. A call of this layer that binds another device binds the thread's own device again
//! before it returns.
//!
//! A query needs no bound device, so its caller may have bound none. But a query may cause held-back calls to be sent, or a
//! graph to be launched, and these need their device bound.

use std::cell::Cell;

use crate::driver::{DeviceId, Driver, DriverResult};

thread_local! {
    /// The device that this thread has last bound through this layer, and the address of the driver below.
    static BOUND: Cell<Option<(usize, DeviceId)>> = const { Cell::new(None) };
    /// Whether this layer has bound another device since then.
    static IS_MOVED: Cell<bool> = const { Cell::new(false) };
}

fn address(below: &dyn Driver) -> usize {
    std::ptr::from_ref(below).cast::<()>().addr()
}

/// Notes that the program has bound a device on this thread.
#[inline]
pub(super) fn note(below: &dyn Driver, device: DeviceId) {
    BOUND.set(Some((address(below), device)));
}

/// Binds the device of held-back calls, which the current caller may not have made. [`restore`] must be called afterwards.
pub(super) fn bind(below: &dyn Driver, device: DeviceId) -> DriverResult<()> {
    below.bind(device)?;
    if BOUND.get() != Some((address(below), device)) {
        IS_MOVED.set(true);
    }
    Ok(())
}

/// Binds the program's device again, if [`bind`] has bound another one.
pub(super) fn restore(below: &dyn Driver) -> DriverResult<()> {
    let is_moved = IS_MOVED.get();
    IS_MOVED.set(false);
    if !is_moved {
        return Ok(());
    }
    match BOUND.get() {
        Some((driver, device)) if driver == address(below) => below.bind(device),
        _ => Ok(()),
    }
}
