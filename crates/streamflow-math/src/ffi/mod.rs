//! The calls of libraries: symbol tables, descriptions of the functions, and calls. No rule about the order of work is here.
//!
//! This is the one part of the mathematics with `unsafe`. A table has the functions that are used, found in a shared
//! library while the program runs; statuses are numbers. The functions that use a table are safe: they take claims, and
//! make the checks that the library does not make.

#[cfg(any(feature = "fft", feature = "matmul", feature = "solve", feature = "sparse"))]
mod handle_stream;
#[cfg(any(feature = "matmul", feature = "sparse"))]
mod scalar;
#[allow(unused_macros, reason = "each feature uses it")]
mod table;

#[cfg(any(feature = "matmul", feature = "solve"))]
#[cfg_attr(not(feature = "matmul"), allow(dead_code, reason = "solvers use a part"))]
pub(super) mod cublas;
#[cfg(feature = "matmul")]
pub(super) mod cublaslt;
#[cfg(all(feature = "solve", feature = "sparse"))]
pub(super) mod cudss;
#[cfg(feature = "fft")]
pub(super) mod cufft;
#[cfg(feature = "solve")]
pub(super) mod cusolver;
#[cfg(feature = "sparse")]
pub(super) mod cusparse;
#[cfg(feature = "matmul")]
pub(super) mod gemm;

use streamflow::library::LibraryError;

/// Returns the error of a plan without a handle of the library. Only the simulator's plans have no handle, and the
/// simulator calls no function of a library, so no call returns this error.
#[cold]
fn no_handle(library: &'static str, call: &'static str) -> LibraryError {
    let remedy = "make the plan on this platform".to_owned();
    LibraryError { library, call, status: -1, name: "NO_HANDLE", remedy }
}
