//! cuBLASLt's functions, and the names of its statuses.

use std::ffi::{c_int, c_void};

use crate::ffi::cublas::status_name;
use crate::ffi::table::{table, wheel};
use streamflow::library::LibraryError;

/// A handle, a description or an address.
pub(super) type Pointer = *mut c_void;
type Value = *const c_void;

/// The library's name in messages.
pub(super) const NAME: &str = "cuBLASLt";

/// cuBLASLt's struct `cublasLtMatmulHeuristicResult_t`: an algorithm that the library proposes or has checked.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Found {
    /// The algorithm, cuBLASLt's opaque struct `cublasLtMatmulAlgo_t`.
    pub(super) data: [u64; 8],
    pub(super) workspace: usize,
    pub(super) state: c_int,
    pub(super) waves: f32,
    reserved: [c_int; 4],
}

table! {
    /// Products of matrices.
    CublasLt = (NAME, "libcublasLt.so", &[13, 12], wheel(["nvidia-cublas-cu12", "nvidia-cublas"]));
    create = "cublasLtCreate": fn(*mut Pointer) -> c_int;
    version = "cublasLtGetVersion": fn() -> usize;
    desc_create = "cublasLtMatmulDescCreate": fn(*mut Pointer, c_int, c_int) -> c_int;
    desc_destroy = "cublasLtMatmulDescDestroy": fn(Pointer) -> c_int;
    desc_set = "cublasLtMatmulDescSetAttribute": fn(Pointer, c_int, Value, usize) -> c_int;
    layout_create = "cublasLtMatrixLayoutCreate": fn(*mut Pointer, c_int, u64, u64, i64) -> c_int;
    layout_destroy = "cublasLtMatrixLayoutDestroy": fn(Pointer) -> c_int;
    layout_set = "cublasLtMatrixLayoutSetAttribute": fn(Pointer, c_int, Value, usize) -> c_int;
    preference_create = "cublasLtMatmulPreferenceCreate": fn(*mut Pointer) -> c_int;
    preference_destroy = "cublasLtMatmulPreferenceDestroy": fn(Pointer) -> c_int;
    preference_set = "cublasLtMatmulPreferenceSetAttribute": fn(Pointer, c_int, Value, usize) -> c_int;
    heuristic = "cublasLtMatmulAlgoGetHeuristic":
        fn(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, c_int, *mut Found, *mut c_int) -> c_int;
    check = "cublasLtMatmulAlgoCheck":
        fn(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, *const [u64; 8], *mut Found) -> c_int;
    config_get = "cublasLtMatmulAlgoConfigGetAttribute":
        fn(*const [u64; 8], c_int, Pointer, usize, *mut usize) -> c_int;
    matmul = "cublasLtMatmul":
        fn(Pointer, Pointer, Value, Value, Pointer, Value, Pointer, Value, Value, Pointer, Pointer, Pointer, *const [u64; 8], Pointer, usize, Pointer) -> c_int;
}

/// Returns `Ok` for status 0, else the error of a function, with the status's name.
pub(super) fn check(call: &'static str, status: c_int) -> Result<(), LibraryError> {
    LibraryError::check(NAME, call, status, status_name)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_the_layout_of_the_header() {
        assert_eq!((size_of::<Found>(), align_of::<Found>()), (96, 8));
        assert_eq!(std::mem::offset_of!(Found, state), 72);
    }
}
