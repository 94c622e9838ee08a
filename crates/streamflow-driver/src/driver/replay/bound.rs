//! The device that a thread has bound. It is bound again after a call which has sent held-back calls of another device.
//!
//! A query works with any bound device, so its caller binds none. Yet a query may send held-back calls, or launch a graph, and
//! these may be of another device.

use std::cell::Cell;

use crate::driver::{DeviceId, Driver, DriverResult};

thread_local! {
    /// The device that the callers of a driver have bound last on this thread, with the driver's address.
    static BOUND: Cell<Option<(usize, DeviceId)>> = const { Cell::new(None) };
    /// Whether this layer has bound another device since.
    static IS_MOVED: Cell<bool> = const { Cell::new(false) };
}

fn address(below: &dyn Driver) -> usize {
    std::ptr::from_ref(below).cast::<()>().addr()
}

/// Notes that a caller has bound a device.
#[inline]
pub(super) fn note(below: &dyn Driver, device: DeviceId) {
    BOUND.set(Some((address(below), device)));
}

/// Binds a device for calls that the caller has not asked for now. [`restore`] is to be called after them.
pub(super) fn bind(below: &dyn Driver, device: DeviceId) -> DriverResult<()> {
    below.bind(device)?;
    if BOUND.get() != Some((address(below), device)) {
        IS_MOVED.set(true);
    }
    Ok(())
}

/// Binds the device that the callers have bound, if another one was bound since.
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
