//! cuSPARSE's functions, and the names of its statuses.

use std::ffi::{c_int, c_void};

use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

/// A handle or a descriptor.
pub(super) type Opaque = *mut c_void;
type Pointer = *mut c_void;

/// The library's name in messages.
pub(super) const NAME: &str = "cuSPARSE";

table! {
    /// The generic functions of cuSPARSE, from CUDA 12.4 on.
    CuSparse = (NAME, "libcusparse.so", &[12], wheel(["nvidia-cusparse-cu12", "nvidia-cusparse"]));
    create = "cusparseCreate": fn(*mut Opaque) -> c_int;
    destroy = "cusparseDestroy": fn(Opaque) -> c_int;
    set_stream = "cusparseSetStream": fn(Opaque, Pointer) -> c_int;
    create_csr = "cusparseCreateCsr":
        fn(*mut Opaque, i64, i64, i64, Pointer, Pointer, Pointer, c_int, c_int, c_int, c_int) -> c_int;
    destroy_matrix = "cusparseDestroySpMat": fn(Opaque) -> c_int;
    create_vector = "cusparseCreateDnVec": fn(*mut Opaque, i64, Pointer, c_int) -> c_int;
    destroy_vector = "cusparseDestroyDnVec": fn(Opaque) -> c_int;
    set_vector = "cusparseDnVecSetValues": fn(Opaque, Pointer) -> c_int;
    create_dense = "cusparseCreateDnMat": fn(*mut Opaque, i64, i64, i64, Pointer, c_int, c_int) -> c_int;
    destroy_dense = "cusparseDestroyDnMat": fn(Opaque) -> c_int;
    set_dense = "cusparseDnMatSetValues": fn(Opaque, Pointer) -> c_int;
    spmv_size = "cusparseSpMV_bufferSize":
        fn(Opaque, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, *mut usize) -> c_int;
    spmv_prepare = "cusparseSpMV_preprocess":
        fn(Opaque, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, Pointer) -> c_int;
    spmv = "cusparseSpMV":
        fn(Opaque, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, Pointer) -> c_int;
    spmm_size = "cusparseSpMM_bufferSize":
        fn(Opaque, c_int, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, *mut usize) -> c_int;
    spmm_prepare = "cusparseSpMM_preprocess":
        fn(Opaque, c_int, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, Pointer) -> c_int;
    spmm = "cusparseSpMM":
        fn(Opaque, c_int, c_int, Pointer, Opaque, Opaque, Pointer, Opaque, c_int, c_int, Pointer) -> c_int;
}

/// Returns `Ok` for status 0, else the error of a function.
pub(super) fn check(call: &'static str, status: c_int) -> Result<(), LibraryError> {
    if status == 0 { Ok(()) } else { Err(error(call, status)) }
}

/// Returns the error of a function, with the status's name.
fn error(call: &'static str, status: c_int) -> LibraryError {
    let name = match status {
        1 => "CUSPARSE_STATUS_NOT_INITIALIZED",
        2 => "CUSPARSE_STATUS_ALLOC_FAILED",
        3 => "CUSPARSE_STATUS_INVALID_VALUE",
        4 => "CUSPARSE_STATUS_ARCH_MISMATCH",
        5 => "CUSPARSE_STATUS_MAPPING_ERROR",
        6 => "CUSPARSE_STATUS_EXECUTION_FAILED",
        7 => "CUSPARSE_STATUS_INTERNAL_ERROR",
        8 => "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
        9 => "CUSPARSE_STATUS_ZERO_PIVOT",
        10 => "CUSPARSE_STATUS_NOT_SUPPORTED",
        11 => "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
        _ => "an unknown status",
    };
    let remedy = match status {
        1 | 2 | 11 => {
            "the device has too little memory, or the CUDA context is lost: keep fewer and smaller plans"
        }
        _ => "see cuSPARSE's documentation for this status",
    };
    LibraryError { library: NAME, call, status, name, remedy: remedy.to_owned() }
}
