//! Law 11: Every return code is checked.
//!
//! The conversion of CUDA's result codes to [`DriverError`], and the process's sticky error.
//!
//! The code of each `sys::` call passes through [`check`], [`check_given_back`], [`check_allocated`] or [`check_query`].
//! Where a code has another meaning, the caller compares it by [`code_of`] and makes the error itself: by [`failure`],
//! `load_error` in `module`, or `cannot_start` in `probe`. Two kinds of failures are not errors of a call: a failure of
//! `cuCtxGetCurrent`, because the context is then bound or an error is already being returned; and a failure of the two
//! calls for an error's name and description. An error in `Drop` is logged (`report_in_drop`). Each call of this module
//! fails in turn in `tests/tests/cuda_driver.rs`, with a `libcuda` of the tests.
//!
//! A convention keeps this law: each code is bound to a variable, and rustc reports an unused variable. CUDA's code type is
//! not `#[must_use]`, so only review finds a call with a code that is dropped at once.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};

use crate::driver::error::{FIND_LAUNCH, LOST};
use crate::driver::{DeviceId, DriverError, DriverResult, Sticky};

/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub(super) const OUT_OF_MEMORY: i32 = 2;
/// `CUDA_ERROR_DEINITIALIZED`: the driver shuts down because the process ends.
pub(super) const DEINITIALIZED: i32 = 4;
/// `CUDA_ERROR_NOT_FOUND`.
pub(super) const NOT_FOUND: i32 = 500;
/// `CUDA_ERROR_NOT_READY`: a query's answer "not complete".
const NOT_READY: i32 = 600;

/// The sticky error of this process.
///
/// The error belongs to the process and not to one [`CudaDriver`](super::CudaDriver): all drivers share the primary context,
/// and according to CUDA only a new process helps.
pub(super) static STICKY: StickyCell = StickyCell::new();

/// Returns the number of a result.
///
/// Codes are compared as integers. A driver newer than the bindings may have codes that the enum does not
/// list.
pub(super) fn code_of(result: CUresult) -> i32 {
    result as i32
}

/// The reason why the context is unusable after this error code, or `None` if the context is usable.
///
/// The source is the description of each code in the CUDA driver API reference (*Data types used by CUDA driver*,
/// `CUresult`). Unless a comment on a code says something else, the description of the code states that the process is
/// left in an inconsistent state and that any further CUDA work returns the same error.
pub(super) fn sticky_reason(code: i32) -> Option<&'static str> {
    Some(match code {
        // The reference only names the cause; the driver still tears the context down.
        214 => "a memory error that the device's ECC could not correct",
        // For this code, too, the reference only names the cause; the driver still tears the context down.
        220 => "an NVLink error that could not be corrected",
        226 => "a hardware or peer-access fault that the device contained",
        700 => "a kernel or copy touched memory that is not allocated",
        702 => "a kernel ran longer than the display's watchdog allows",
        // Other code of the process reset or destroyed the context, and with it all objects in it.
        709 => "the device's context was destroyed by another part of the program",
        // The reference says that the context can't be used any more, and that its allocations are invalid.
        710 => "an `assert` in a kernel failed",
        714 => "a kernel's call stack overflowed or was overwritten",
        715 => "a kernel ran into an instruction that does not exist",
        716 => "a kernel touched memory at an address that is not a multiple of the access size",
        717 => "a kernel used an instruction on memory of the wrong address space",
        718 => "a kernel's program counter left its code",
        719 => "a kernel failed on the device",
        721 => "a kernel ended without giving its tensor memory back",
        // The reference says that the process must be started again.
        810 => "the MPS server ended this client",
        911 => "a device outside CUDA signalled an error for data that CUDA waited for",
        _ => return None,
    })
}

/// Holds the first sticky error.
#[derive(Debug)]
pub(super) struct StickyCell(OnceLock<Sticky>);

impl StickyCell {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The first sticky error, if there was one.
    pub(super) fn get(&self) -> Option<&Sticky> {
        self.0.get()
    }

    /// Refuses a call after a sticky error.
    #[inline]
    pub(super) fn usable(&self, call: &'static str) -> DriverResult<()> {
        match self.0.get() {
            None => Ok(()),
            Some(cause) => Err(refused(call, cause)),
        }
    }

    /// Makes an error of a failed call. The first sticky error is remembered, and only its caller gets it as
    /// [`DriverError::Call`]. Later callers, also concurrent ones, get [`DriverError::Sticky`].
    #[cold]
    fn failure(&self, call: &'static str, device: DeviceId, failed: Failed) -> DriverError {
        let Failed { code, name, message } = failed;
        if let Some(reason) = sticky_reason(code) {
            let sticky =
                Sticky { call, code, name: name.clone(), message: format!("{message}: {reason}") };
            let mut first = false;
            let cause = self.0.get_or_init(|| {
                first = true;
                sticky
            });
            if !first {
                return DriverError::Sticky { call, cause: cause.clone() };
            }
            let message = format!("{}; {LOST}{FIND_LAUNCH}", cause.message);
            return DriverError::Call { call, device, code, name, message };
        }
        DriverError::Call { call, device, code, name, message }
    }
}

/// Returns the error of a refused call. The function is out of line: every call of CUDA has a branch that makes this error.
#[cold]
#[inline(never)]
fn refused(call: &'static str, cause: &Sticky) -> DriverError {
    DriverError::Sticky { call, cause: cause.clone() }
}

/// The driver's name and description of an error code.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: i32,
    pub(super) name: String,
    pub(super) message: String,
}

impl Failed {
    pub(super) fn new(result: CUresult) -> Self {
        let code = code_of(result);
        let name = text_of(sys::cuGetErrorName, result)
            .unwrap_or_else(|| "an error that this driver has no name for".to_owned());
        let message =
            text_of(sys::cuGetErrorString, result).unwrap_or_else(|| "no description".to_owned());
        Self { code, name, message }
    }
}

/// Returns the driver's text about an error code. `query` is the driver's function for names or that for descriptions.
fn text_of(
    query: unsafe fn(CUresult, *mut *const c_char) -> CUresult,
    result: CUresult,
) -> Option<String> {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: CUDA writes one pointer to `text`. The driver's two functions for texts need no context.
    let answer = unsafe { query(result, &raw mut text) };
    if code_of(answer) != 0 || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver returns a static string that ends in NUL.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The error of a failed call.
#[cold]
pub(super) fn failure(call: &'static str, device: DeviceId, result: CUresult) -> DriverError {
    STICKY.failure(call, device, Failed::new(result))
}

/// Returns `Ok` if the code is that of success, else the error of the call.
#[inline]
pub(super) fn check(call: &'static str, device: DeviceId, result: CUresult) -> DriverResult<()> {
    if code_of(result) == 0 { Ok(()) } else { Err(failure(call, device, result)) }
}

/// Checks a call that frees or destroys, as [`check`] does. When the process ends, the driver may shut down before this
/// call; it has then freed everything itself, so the code for that case counts as success.
pub(super) fn check_given_back(
    call: &'static str,
    device: DeviceId,
    result: CUresult,
) -> DriverResult<()> {
    if code_of(result) == DEINITIALIZED { Ok(()) } else { check(call, device, result) }
}

/// Checks an allocation of `requested` bytes, as [`check`] does.
pub(super) fn check_allocated(
    call: &'static str,
    device: DeviceId,
    requested: u64,
    result: CUresult,
) -> DriverResult<()> {
    match code_of(result) {
        OUT_OF_MEMORY => Err(DriverError::OutOfMemory { device, requested }),
        _ => check(call, device, result),
    }
}

/// Checks a query, as [`check`] does. Returns whether the answer is "complete".
#[inline]
pub(super) fn check_query(
    call: &'static str,
    device: DeviceId,
    result: CUresult,
) -> DriverResult<bool> {
    match code_of(result) {
        0 => Ok(true),
        NOT_READY => Ok(false),
        _ => Err(failure(call, device, result)),
    }
}

/// Adds the caller's explanation to an error's message.
///
/// A sticky error gets no explanation: earlier work caused it, and an explanation that names this call's kernel would
/// blame the wrong kernel.
#[cold]
pub(super) fn explain(error: DriverError, more: impl FnOnce() -> String) -> DriverError {
    match error {
        DriverError::Call { call, device, code, name, message }
            if sticky_reason(code).is_none() =>
        {
            let message = format!("{message}; {}", more());
            DriverError::Call { call, device, code, name, message }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    fn failed(code: i32) -> Failed {
        Failed { code, name: format!("E{code}"), message: "said".to_owned() }
    }

    #[test]
    fn an_ordinary_error_is_returned_every_time_and_refuses_nothing() {
        let cell = StickyCell::new();
        for _ in 0..2 {
            let error = cell.failure("f", DeviceId(1), failed(1));
            assert!(matches!(error, DriverError::Call { code: 1, .. }), "{error:?}");
        }
        assert_eq!(cell.get(), None);
        assert_eq!(cell.usable("g"), Ok(()));
    }

    #[test]
    fn a_sticky_error_is_returned_once_and_refuses_later_calls() {
        let cell = StickyCell::new();
        let first = cell.failure("f", DeviceId(0), failed(700));
        assert!(matches!(&first, DriverError::Call { call: "f", code: 700, .. }), "{first:?}");
        for part in
            ["every graph of this process", "start the process again", "BLOCKING_LAUNCHES=1"]
        {
            assert!(first.to_string().contains(part), "{first}");
        }

        let second = cell.failure("g", DeviceId(0), failed(719));
        let third = cell.usable("h");
        for (error, name) in [(Some(second), "g"), (third.err(), "h")] {
            let Some(DriverError::Sticky { call, cause }) = error else {
                panic!("not sticky: {error:?}");
            };
            assert_eq!((call, cause.call, cause.code), (name, "f", 700));
        }
    }

    #[test]
    fn launch_errors_that_leave_the_context_alive_are_not_sticky() {
        // The codes include out of memory, out of launch resources, not ready, bad value, not found and bad handle.
        for code in [0, 1, 2, DEINITIALIZED, 400, NOT_FOUND, NOT_READY, 701, 703, 720, 801, 999] {
            assert_eq!(sticky_reason(code), None, "{code}");
        }
        for code in [700, 702, 710, 714, 715, 716, 717, 718, 719] {
            assert!(sticky_reason(code).is_some(), "{code}");
        }
    }
}
