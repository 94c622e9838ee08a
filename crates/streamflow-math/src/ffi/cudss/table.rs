//! cuDSS's functions, and the names of its statuses. The declarations are those of the header of cuDSS 1.0;
//! `cudssMatrixCreateCsr` has one argument more there than in earlier versions.

use std::ffi::{c_int, c_void};

use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

/// A handle or an object.
pub(super) type Opaque = *mut c_void;
type Pointer = *mut c_void;

/// The library's name in messages.
pub(super) const NAME: &str = "cuDSS";

pub(super) const WHEEL: &str = wheel(["nvidia-cudss-cu12", "nvidia-cudss-cu13"]);

table! {
    /// The functions that direct solvers of sparse systems need.
    CuDss = (NAME, "libcudss.so", &[1], WHEEL);
    create = "cudssCreate": fn(*mut Opaque) -> c_int;
    destroy = "cudssDestroy": fn(Opaque) -> c_int;
    set_stream = "cudssSetStream": fn(Opaque, Pointer) -> c_int;
    property = "cudssGetProperty": fn(c_int, *mut c_int) -> c_int;
    create_config = "cudssConfigCreate": fn(*mut Opaque) -> c_int;
    destroy_config = "cudssConfigDestroy": fn(Opaque) -> c_int;
    create_data = "cudssDataCreate": fn(Opaque, *mut Opaque) -> c_int;
    destroy_data = "cudssDataDestroy": fn(Opaque, Opaque) -> c_int;
    get_data = "cudssDataGet": fn(Opaque, Opaque, c_int, Pointer, usize, *mut usize) -> c_int;
    create_csr = "cudssMatrixCreateCsr":
        fn(*mut Opaque, i64, i64, i64, Pointer, Pointer, Pointer, Pointer, c_int, c_int, c_int, c_int, c_int, c_int) -> c_int;
    create_dense = "cudssMatrixCreateDn": fn(*mut Opaque, i64, i64, i64, Pointer, c_int, c_int) -> c_int;
    set_values = "cudssMatrixSetValues": fn(Opaque, Pointer) -> c_int;
    destroy_matrix = "cudssMatrixDestroy": fn(Opaque) -> c_int;
    execute = "cudssExecute": fn(Opaque, c_int, Opaque, Opaque, Opaque, Opaque, Opaque) -> c_int;
}

/// Returns `Ok` for status 0, else the error of a function.
pub(super) fn check(call: &'static str, status: c_int) -> Result<(), LibraryError> {
    LibraryError::check(NAME, call, status, |status| match status {
        1 => "CUDSS_STATUS_NOT_INITIALIZED",
        2 => "CUDSS_STATUS_ALLOC_FAILED",
        3 => "CUDSS_STATUS_INVALID_VALUE",
        4 => "CUDSS_STATUS_NOT_SUPPORTED",
        5 => "CUDSS_STATUS_EXECUTION_FAILED",
        6 => "CUDSS_STATUS_INTERNAL_ERROR",
        7 => "CUDSS_STATUS_IR_FAILED",
        _ => "an unknown status",
    })
}
