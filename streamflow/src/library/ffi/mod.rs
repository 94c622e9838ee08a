//! Where libraries are called: symbol tables and calls, and no rule about order.
//!
//! This is the one part of [`library`](super) with `unsafe`. A table has the functions that are used, found in a shared
//! library while the program runs; statuses are numbers. The functions beside a table are safe: they take claims, and
//! check what the library does not.

pub(super) mod call;
mod claim;
pub(super) mod description;
#[allow(dead_code, reason = "features with a library use it")]
pub(super) mod elements;
#[allow(dead_code, reason = "each feature uses its part")]
mod find;
pub(super) mod host_body;
#[allow(dead_code, reason = "features with a library use it")]
mod room;
#[cfg(any(feature = "matmul", feature = "sparse"))]
mod scalar;
#[allow(unused_macros, reason = "each feature uses it")]
mod table;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(any(feature = "matmul", feature = "solve"))]
#[cfg_attr(not(feature = "matmul"), allow(dead_code, reason = "solvers use a part"))]
pub(super) mod cublas;
#[cfg(feature = "matmul")]
pub(super) mod cublaslt;
#[cfg(feature = "fft")]
pub(super) mod cufft;
#[cfg(feature = "solve")]
pub(super) mod cusolver;
#[cfg(feature = "sparse")]
pub(super) mod cusparse;
#[cfg(feature = "matmul")]
pub(super) mod gemm;
