//! Whether the device that is current on a thread is the one that streamflow has bound last.
//!
//! Other code may make another device current, and so may a driver, when it gives back what belongs to another device. A call of
//! a library, which works on the current device, binds its own where this is in doubt.

use std::cell::Cell;

thread_local! {
    static IS_IN_DOUBT: Cell<bool> = const { Cell::new(true) };
}

/// Other code has run on the calling thread, or will run there; or a driver has made another device current.
#[inline]
pub(crate) fn doubt() {
    IS_IN_DOUBT.set(true);
}

/// A device was bound, and noted.
#[inline]
pub(crate) fn trust() {
    IS_IN_DOUBT.set(false);
}

#[inline]
pub(crate) fn is_in_doubt() -> bool {
    IS_IN_DOUBT.get()
}
