//! Whether the device that is current on a thread is the device that streamflow has bound last.
//!
//! Other code may make another device current, and so may a driver that opens a device or destroys an object of another
//! device. A library works on the current device, so a call of a library binds its own device if the current device is
//! in doubt.

use std::cell::Cell;
use std::marker::PhantomData;

/// The bit that is set while the current device is in doubt: until a device is bound again.
const DOUBT: u32 = 1;
/// The amount that is added to the state for each piece of other code that runs now.
const RUNNING: u32 = 2;

thread_local! {
    static STATE: Cell<u32> = const { Cell::new(DOUBT) };
}

/// Notes that other code has run, or is about to run, on the calling thread; or that a driver has made another device current.
#[doc(hidden)]
#[inline]
pub fn doubt() {
    STATE.set(STATE.get() | DOUBT);
}

/// Notes that a device was bound, and that the caller stores the number of that device.
///
/// ```compile_fail,E0133
/// streamflow_driver::driver::current::trust();
/// ```
///
/// # Safety
/// The device that the caller has noted as bound is current on the calling thread: a library gets addresses of that device
/// without another check.
#[doc(hidden)]
#[inline]
pub unsafe fn trust() {
    STATE.set(STATE.get() & !DOUBT);
}

/// Notes that other code runs on the calling thread until the result is dropped, also by unwinding: at each call that this code
/// makes, the current device is unknown.
#[doc(hidden)]
#[inline]
pub fn other_code() -> OtherCode {
    STATE.set(STATE.get() + RUNNING);
    OtherCode(PhantomData)
}

/// The guard of [`other_code`], which can't be sent to another thread.
pub struct OtherCode(PhantomData<*const ()>);

impl Drop for OtherCode {
    fn drop(&mut self) {
        STATE.set((STATE.get() - RUNNING) | DOUBT);
    }
}

#[doc(hidden)]
#[inline]
pub fn is_in_doubt() -> bool {
    STATE.get() != 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn bound() {
        // SAFETY: no call of a library is made on this thread.
        unsafe { trust() }
    }

    #[test]
    fn what_other_code_made_current_is_unknown_until_a_device_is_bound_after_it() {
        bound();
        assert!(!is_in_doubt());
        {
            let _outer = other_code();
            bound();
            assert!(is_in_doubt(), "other code still runs");
            drop(other_code());
            bound();
            assert!(is_in_doubt(), "the outer one still runs");
        }
        assert!(is_in_doubt(), "nothing was bound since");
        bound();
        assert!(!is_in_doubt());
        let unwound = std::panic::catch_unwind(|| {
            let _running = other_code();
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(unwound.is_err() && is_in_doubt());
        bound();
    }
}
