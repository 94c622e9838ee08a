//! The device that a thread has bound. A call of this layer that binds another device binds the thread's own again at its end.
//!
//! A query needs no bound device, so its caller binds none. Yet a query may cause held-back calls to be sent, or a graph to be
//! launched, and these may need another device.

use std::cell::Cell;

use crate::driver::{DeviceId, Driver, DriverResult};

thread_local! {
    /// The device that was last bound on this thread by a caller of this layer, and the address of the driver below.
    static BOUND: Cell<Option<(usize, DeviceId)>> = const { Cell::new(None) };
    /// Whether this layer has bound another device since.
    static IS_MOVED: Cell<bool> = const { Cell::new(false) };
}

fn address(below: &dyn Driver) -> usize {
    std::ptr::from_ref(below).cast::<()>().addr()
}

/// Notes that a caller of this layer has bound a device.
#[inline]
pub(super) fn note(below: &dyn Driver, device: DeviceId) {
    BOUND.set(Some((address(below), device)));
}

/// Binds a device for held-back calls, which the current caller did not make. [`restore`] must be called after them.
pub(super) fn bind(below: &dyn Driver, device: DeviceId) -> DriverResult<()> {
    below.bind(device)?;
    if BOUND.get() != Some((address(below), device)) {
        IS_MOVED.set(true);
    }
    Ok(())
}

/// Binds the caller's device again, if [`bind`] has bound another one.
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
