//! Constructors for the errors of invalid calls, with CUDA's names and numbers.

use crate::driver::{DeviceId, DriverError};

/// Returns CUDA's error for an unknown handle.
pub(super) fn invalid_handle(call: &'static str, device: DeviceId, what: &str) -> DriverError {
    call_error(call, device, 400, "CUDA_ERROR_INVALID_HANDLE", what)
}

/// Returns CUDA's error for an argument out of range.
pub(super) fn invalid_value(call: &'static str, device: DeviceId, what: &str) -> DriverError {
    call_error(call, device, 1, "CUDA_ERROR_INVALID_VALUE", what)
}

pub(super) fn call_error(
    call: &'static str,
    device: DeviceId,
    code: i32,
    name: &str,
    what: &str,
) -> DriverError {
    DriverError::Call { call, device, code, name: name.to_owned(), message: what.to_owned() }
}
