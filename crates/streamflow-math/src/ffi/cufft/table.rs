//! The symbols of cuFFT, and the names and numbers of its header.

use std::ffi::{c_int, c_longlong, c_void};

use crate::ffi::cufft::problem::Kind;
use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

pub(super) const NAME: &str = "cuFFT";

type Numbers = *mut c_longlong;
pub(super) type Execute = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int;
pub(super) type ExecuteBoth = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int) -> c_int;

table! {
    /// The functions of cuFFT that plans use.
    Cufft = (NAME, "libcufft.so", &[12, 11], wheel(["nvidia-cufft-cu12", "nvidia-cufft"]));
    create = "cufftCreate": fn(*mut c_int) -> c_int;
    destroy = "cufftDestroy": fn(c_int) -> c_int;
    set_auto_allocation = "cufftSetAutoAllocation": fn(c_int, c_int) -> c_int;
    set_stream = "cufftSetStream": fn(c_int, *mut c_void) -> c_int;
    make_plan_many = "cufftMakePlanMany64": fn(
        c_int, c_int, Numbers, Numbers, c_longlong, c_longlong, Numbers, c_longlong, c_longlong, c_int,
        c_longlong, *mut usize
    ) -> c_int;
    set_work_area = "cufftSetWorkArea": fn(c_int, *mut c_void) -> c_int;
    execute_c2c = "cufftExecC2C": fn(c_int, *mut c_void, *mut c_void, c_int) -> c_int;
    execute_r2c = "cufftExecR2C": fn(c_int, *mut c_void, *mut c_void) -> c_int;
    execute_c2r = "cufftExecC2R": fn(c_int, *mut c_void, *mut c_void) -> c_int;
    execute_z2z = "cufftExecZ2Z": fn(c_int, *mut c_void, *mut c_void, c_int) -> c_int;
    execute_d2z = "cufftExecD2Z": fn(c_int, *mut c_void, *mut c_void) -> c_int;
    execute_z2d = "cufftExecZ2D": fn(c_int, *mut c_void, *mut c_void) -> c_int;
}

/// Returns the name of cuFFT's function that executes a plan.
pub(super) fn name_of(kind: Kind, is_double: bool) -> &'static str {
    match (kind, is_double) {
        (Kind::Complex, false) => "cufftExecC2C",
        (Kind::Complex, true) => "cufftExecZ2Z",
        (Kind::FromReal, false) => "cufftExecR2C",
        (Kind::FromReal, true) => "cufftExecD2Z",
        (Kind::ToReal, false) => "cufftExecC2R",
        (Kind::ToReal, true) => "cufftExecZ2D",
    }
}

/// Returns the number of the `cufftType` of a kind of transforms.
pub(super) fn type_of(kind: Kind, is_double: bool) -> c_int {
    match (kind, is_double) {
        (Kind::Complex, false) => 0x29,
        (Kind::Complex, true) => 0x69,
        (Kind::FromReal, false) => 0x2a,
        (Kind::FromReal, true) => 0x6a,
        (Kind::ToReal, false) => 0x2c,
        (Kind::ToReal, true) => 0x6c,
    }
}

pub(super) fn check(call: &'static str, status: c_int) -> Result<(), LibraryError> {
    LibraryError::check(NAME, call, status, status_name)
}

/// Returns the name of a status, a `cufftResult` of CUDA 12 or 13.
fn status_name(status: c_int) -> &'static str {
    match status {
        1 => "CUFFT_INVALID_PLAN",
        2 => "CUFFT_ALLOC_FAILED",
        3 => "CUFFT_INVALID_TYPE",
        4 => "CUFFT_INVALID_VALUE",
        5 => "CUFFT_INTERNAL_ERROR",
        6 => "CUFFT_EXEC_FAILED",
        7 => "CUFFT_SETUP_FAILED",
        8 => "CUFFT_INVALID_SIZE",
        9 => "CUFFT_UNALIGNED_DATA",
        10 => "CUFFT_INCOMPLETE_PARAMETER_LIST",
        11 => "CUFFT_INVALID_DEVICE",
        12 => "CUFFT_PARSE_ERROR",
        13 => "CUFFT_NO_WORKSPACE",
        14 => "CUFFT_NOT_IMPLEMENTED",
        15 => "CUFFT_LICENSE_ERROR",
        16 => "CUFFT_NOT_SUPPORTED",
        17 => "CUFFT_MISSING_DEPENDENCY",
        18 => "CUFFT_NVRTC_FAILURE",
        19 => "CUFFT_NVJITLINK_FAILURE",
        20 => "CUFFT_NVSHMEM_FAILURE",
        _ => "an unknown status",
    }
}
