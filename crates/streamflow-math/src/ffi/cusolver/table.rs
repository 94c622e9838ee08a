//! cuSOLVER's functions, and the names of its statuses.

use std::ffi::{c_int, c_schar, c_void};

use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

/// A `cusolverDnHandle_t`, a `cusolverDnParams_t`, a `syevjInfo_t` or a `gesvdjInfo_t`.
pub(super) type Opaque = *mut c_void;
type Pointer = *mut c_void;

/// The library's name in messages.
pub(super) const NAME: &str = "cuSOLVER";

table! {
    /// The 64-bit functions of cuSOLVER's dense part, and the older functions that have no 64-bit form.
    CuSolver = (NAME, "libcusolver.so", &[12, 11], wheel(["nvidia-cusolver-cu12", "nvidia-cusolver"]));
    create = "cusolverDnCreate": fn(*mut Opaque) -> c_int;
    destroy = "cusolverDnDestroy": fn(Opaque) -> c_int;
    set_stream = "cusolverDnSetStream": fn(Opaque, Pointer) -> c_int;
    create_params = "cusolverDnCreateParams": fn(*mut Opaque) -> c_int;
    destroy_params = "cusolverDnDestroyParams": fn(Opaque) -> c_int;
    getrf_size = "cusolverDnXgetrf_bufferSize":
        fn(Opaque, Opaque, i64, i64, c_int, Pointer, i64, c_int, *mut usize, *mut usize) -> c_int;
    getrf = "cusolverDnXgetrf":
        fn(Opaque, Opaque, i64, i64, c_int, Pointer, i64, *mut i64, c_int, Pointer, usize, Pointer, usize, *mut c_int) -> c_int;
    getrs = "cusolverDnXgetrs":
        fn(Opaque, Opaque, c_int, i64, i64, c_int, Pointer, i64, *const i64, c_int, Pointer, i64, *mut c_int) -> c_int;
    potrf_size = "cusolverDnXpotrf_bufferSize":
        fn(Opaque, Opaque, c_int, i64, c_int, Pointer, i64, c_int, *mut usize, *mut usize) -> c_int;
    potrf = "cusolverDnXpotrf":
        fn(Opaque, Opaque, c_int, i64, c_int, Pointer, i64, c_int, Pointer, usize, Pointer, usize, *mut c_int) -> c_int;
    potrs = "cusolverDnXpotrs":
        fn(Opaque, Opaque, c_int, i64, i64, c_int, Pointer, i64, c_int, Pointer, i64, *mut c_int) -> c_int;
    spotrf_batched = "cusolverDnSpotrfBatched":
        fn(Opaque, c_int, c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    dpotrf_batched = "cusolverDnDpotrfBatched":
        fn(Opaque, c_int, c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    spotrs_batched = "cusolverDnSpotrsBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    dpotrs_batched = "cusolverDnDpotrsBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    geqrf_size = "cusolverDnXgeqrf_bufferSize":
        fn(Opaque, Opaque, i64, i64, c_int, Pointer, i64, c_int, Pointer, c_int, *mut usize, *mut usize) -> c_int;
    geqrf = "cusolverDnXgeqrf":
        fn(Opaque, Opaque, i64, i64, c_int, Pointer, i64, c_int, Pointer, c_int, Pointer, usize, Pointer, usize, *mut c_int) -> c_int;
    sorgqr_size = "cusolverDnSorgqr_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, *mut c_int) -> c_int;
    dorgqr_size = "cusolverDnDorgqr_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, *mut c_int) -> c_int;
    sorgqr = "cusolverDnSorgqr":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, *mut c_int) -> c_int;
    dorgqr = "cusolverDnDorgqr":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, *mut c_int) -> c_int;
    syevd_size = "cusolverDnXsyevd_bufferSize":
        fn(Opaque, Opaque, c_int, c_int, i64, c_int, Pointer, i64, c_int, Pointer, c_int, *mut usize, *mut usize) -> c_int;
    syevd = "cusolverDnXsyevd":
        fn(Opaque, Opaque, c_int, c_int, i64, c_int, Pointer, i64, c_int, Pointer, c_int, Pointer, usize, Pointer, usize, *mut c_int) -> c_int;
    gesvd_size = "cusolverDnXgesvd_bufferSize":
        fn(Opaque, Opaque, c_schar, c_schar, i64, i64, c_int, Pointer, i64, c_int, Pointer, c_int, Pointer, i64, c_int, Pointer, i64, c_int, *mut usize, *mut usize) -> c_int;
    gesvd = "cusolverDnXgesvd":
        fn(Opaque, Opaque, c_schar, c_schar, i64, i64, c_int, Pointer, i64, c_int, Pointer, c_int, Pointer, i64, c_int, Pointer, i64, c_int, Pointer, usize, Pointer, usize, *mut c_int) -> c_int;
    create_syevj = "cusolverDnCreateSyevjInfo": fn(*mut Opaque) -> c_int;
    destroy_syevj = "cusolverDnDestroySyevjInfo": fn(Opaque) -> c_int;
    syevj_tolerance = "cusolverDnXsyevjSetTolerance": fn(Opaque, f64) -> c_int;
    ssyevj_batched_size = "cusolverDnSsyevjBatched_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, *mut c_int, Opaque, c_int) -> c_int;
    ssyevj_batched = "cusolverDnSsyevjBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
    dsyevj_batched_size = "cusolverDnDsyevjBatched_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, *mut c_int, Opaque, c_int) -> c_int;
    dsyevj_batched = "cusolverDnDsyevjBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
    create_gesvdj = "cusolverDnCreateGesvdjInfo": fn(*mut Opaque) -> c_int;
    destroy_gesvdj = "cusolverDnDestroyGesvdjInfo": fn(Opaque) -> c_int;
    gesvdj_tolerance = "cusolverDnXgesvdjSetTolerance": fn(Opaque, f64) -> c_int;
    sgesvdj_batched_size = "cusolverDnSgesvdjBatched_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
    sgesvdj_batched = "cusolverDnSgesvdjBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, Pointer, c_int, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
    dgesvdj_batched_size = "cusolverDnDgesvdjBatched_bufferSize":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
    dgesvdj_batched = "cusolverDnDgesvdjBatched":
        fn(Opaque, c_int, c_int, c_int, Pointer, c_int, Pointer, Pointer, c_int, Pointer, c_int, Pointer, c_int, *mut c_int, Opaque, c_int) -> c_int;
}

/// Returns `Ok` for status 0, else the error of a function, with the status's name.
pub(super) fn check(call: &'static str, status: i32) -> Result<(), LibraryError> {
    let name = match status {
        0 => return Ok(()),
        1 => "CUSOLVER_STATUS_NOT_INITIALIZED",
        2 => "CUSOLVER_STATUS_ALLOC_FAILED",
        3 => "CUSOLVER_STATUS_INVALID_VALUE",
        4 => "CUSOLVER_STATUS_ARCH_MISMATCH",
        5 => "CUSOLVER_STATUS_MAPPING_ERROR",
        6 => "CUSOLVER_STATUS_EXECUTION_FAILED",
        7 => "CUSOLVER_STATUS_INTERNAL_ERROR",
        8 => "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
        9 => "CUSOLVER_STATUS_NOT_SUPPORTED",
        10 => "CUSOLVER_STATUS_ZERO_PIVOT",
        11 => "CUSOLVER_STATUS_INVALID_LICENSE",
        31 => "CUSOLVER_STATUS_INVALID_WORKSPACE",
        _ => "an unknown status",
    };
    let remedy = match status {
        2 => {
            "the device has too little memory, or the CUDA context is lost: keep fewer and smaller plans"
        }
        6 | 7 => {
            "the matrix may have a NaN or an infinity, or an earlier kernel may have failed: check these"
        }
        _ => "see cuSOLVER's documentation for this status",
    };
    Err(LibraryError { library: NAME, call, status, name, remedy: remedy.to_owned() })
}
