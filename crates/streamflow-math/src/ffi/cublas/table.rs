//! cuBLAS's functions, and the names of its statuses.

use std::ffi::{c_int, c_void};

use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

/// A handle or an address.
pub(super) type Pointer = *mut c_void;
/// A scalar in the host's memory.
pub(super) type Value = *const c_void;

/// The library's name in error texts.
pub(super) const NAME: &str = "cuBLAS";

table! {
    /// Functions of vectors and matrices. Only solvers call the batched ones.
    #[cfg_attr(not(feature = "solve"), allow(dead_code, reason = "the table has what both features need"))]
    Cublas = (NAME, "libcublas.so", &[13, 12], wheel(["nvidia-cublas-cu12", "nvidia-cublas"]));
    create = "cublasCreate_v2": fn(*mut Pointer) -> c_int;
    destroy = "cublasDestroy_v2": fn(Pointer) -> c_int;
    set_stream = "cublasSetStream_v2": fn(Pointer, Pointer) -> c_int;
    set_workspace = "cublasSetWorkspace_v2": fn(Pointer, Pointer, usize) -> c_int;
    set_pointer_mode = "cublasSetPointerMode_v2": fn(Pointer, c_int) -> c_int;
    saxpy = "cublasSaxpy_v2": fn(Pointer, c_int, Value, Pointer, c_int, Pointer, c_int) -> c_int;
    daxpy = "cublasDaxpy_v2": fn(Pointer, c_int, Value, Pointer, c_int, Pointer, c_int) -> c_int;
    sdot = "cublasSdot_v2": fn(Pointer, c_int, Pointer, c_int, Pointer, c_int, Pointer) -> c_int;
    ddot = "cublasDdot_v2": fn(Pointer, c_int, Pointer, c_int, Pointer, c_int, Pointer) -> c_int;
    snrm2 = "cublasSnrm2_v2": fn(Pointer, c_int, Pointer, c_int, Pointer) -> c_int;
    dnrm2 = "cublasDnrm2_v2": fn(Pointer, c_int, Pointer, c_int, Pointer) -> c_int;
    sgemv = "cublasSgemv_v2":
        fn(Pointer, c_int, c_int, c_int, Value, Pointer, c_int, Pointer, c_int, Value, Pointer, c_int) -> c_int;
    dgemv = "cublasDgemv_v2":
        fn(Pointer, c_int, c_int, c_int, Value, Pointer, c_int, Pointer, c_int, Value, Pointer, c_int) -> c_int;
    strsm = "cublasStrsm_v2":
        fn(Pointer, c_int, c_int, c_int, c_int, c_int, c_int, Value, Pointer, c_int, Pointer, c_int) -> c_int;
    dtrsm = "cublasDtrsm_v2":
        fn(Pointer, c_int, c_int, c_int, c_int, c_int, c_int, Value, Pointer, c_int, Pointer, c_int) -> c_int;
    ssyrk = "cublasSsyrk_v2":
        fn(Pointer, c_int, c_int, c_int, c_int, Value, Pointer, c_int, Value, Pointer, c_int) -> c_int;
    dsyrk = "cublasDsyrk_v2":
        fn(Pointer, c_int, c_int, c_int, c_int, Value, Pointer, c_int, Value, Pointer, c_int) -> c_int;
    sgetrf_batched = "cublasSgetrfBatched":
        fn(Pointer, c_int, Pointer, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
    sgetrs_batched = "cublasSgetrsBatched":
        fn(Pointer, c_int, c_int, c_int, Pointer, c_int, *const c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    dgetrf_batched = "cublasDgetrfBatched":
        fn(Pointer, c_int, Pointer, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
    dgetrs_batched = "cublasDgetrsBatched":
        fn(Pointer, c_int, c_int, c_int, Pointer, c_int, *const c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    cgetrf_batched = "cublasCgetrfBatched":
        fn(Pointer, c_int, Pointer, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
    cgetrs_batched = "cublasCgetrsBatched":
        fn(Pointer, c_int, c_int, c_int, Pointer, c_int, *const c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
    zgetrf_batched = "cublasZgetrfBatched":
        fn(Pointer, c_int, Pointer, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
    zgetrs_batched = "cublasZgetrsBatched":
        fn(Pointer, c_int, c_int, c_int, Pointer, c_int, *const c_int, Pointer, c_int, *mut c_int, c_int) -> c_int;
}

/// Returns `Ok` for status 0, else the error of a function, with the status's name.
pub(super) fn check(call: &'static str, status: c_int) -> Result<(), LibraryError> {
    LibraryError::check(NAME, call, status, status_name)
}

/// The name of a `cublasStatus_t`. cuBLASLt returns these statuses, too.
pub(in crate::ffi) fn status_name(status: c_int) -> &'static str {
    match status {
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        _ => "an unknown status",
    }
}
