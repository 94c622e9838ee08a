//! cuBLASLt: each product has one algorithm.

use std::ffi::c_int;

use crate::{I, L, P, WORK, functions, note};

functions! {
    makes cublasLtCreate(P);
    makes cublasLtMatmulDescCreate(P, I, I);
    does cublasLtMatmulDescDestroy(P);
    does cublasLtMatmulDescSetAttribute(P, I, P, usize);
    makes cublasLtMatrixLayoutCreate(P, I, u64, u64, L);
    does cublasLtMatrixLayoutDestroy(P);
    does cublasLtMatrixLayoutSetAttribute(P, I, P, usize);
    makes cublasLtMatmulPreferenceCreate(P);
    does cublasLtMatmulPreferenceDestroy(P);
    does cublasLtMatmulPreferenceSetAttribute(P, I, P, usize);
    does cublasLtMatmul(P, P, P, P, P, P, P, P, P, P, P, P, P, P, usize, P);
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
struct Found {
    data: [u64; 8],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

impl Found {
    const ONLY: Self =
        Self { data: [0; 8], workspace: WORK as usize, state: 0, waves: 1.0, reserved: [0; 4] };
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetVersion() -> usize {
    note("cublasLtGetVersion");
    130_000
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    _room: I,
    found: *mut Found,
    count: *mut I,
) -> c_int {
    note("cublasLtMatmulAlgoGetHeuristic");
    // SAFETY: the caller has room for at least one algorithm, and for their number.
    unsafe {
        found.write(Found::ONLY);
        count.write(1);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cublasLtMatmulAlgoCheck(
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    _: P,
    found: *mut Found,
) -> c_int {
    note("cublasLtMatmulAlgoCheck");
    // SAFETY: the caller has a place for the result.
    unsafe { found.write(Found::ONLY) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cublasLtMatmulAlgoConfigGetAttribute(
    _: P,
    _: I,
    value: *mut u8,
    bytes: usize,
    written: *mut usize,
) -> c_int {
    note("cublasLtMatmulAlgoConfigGetAttribute");
    // SAFETY: the caller has a place of so many bytes, and one for their number.
    unsafe {
        value.write_bytes(0, bytes);
        written.write(bytes);
    }
    0
}
