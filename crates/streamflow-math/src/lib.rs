//! Mathematics on the streams of [`streamflow`]: Fourier transforms, operators of signals, products of matrices, solvers, sparse
//! matrices and random numbers, by NVIDIA's libraries and by this crate's own kernels.
//!
//! Each part is a feature, and no feature is on by default:
//!
//! | feature | module | on a GPU | on the simulator |
//! |---|---|---|---|
//! | `fft` | `fft`, `operators::Fft` | cuFFT | `rustfft` |
//! | `matmul` | `matmul`, `operators::Matmul` | cuBLASLt and cuBLAS | `matrixmultiply` |
//! | `random` | `random` | kernels of our own | the same kernels |
//! | `signal`, which adds `fft` | `signal`, `operators::{Fir, Stft, …}` | kernels of our own, and cuFFT | the same kernels, and `rustfft` |
//! | `solve` | `solve` | cuSOLVER, and cuBLAS for batches | code of our own |
//! | `sparse` | `sparse` | cuSPARSE | code of our own |
//! | `solve` and `sparse` | `solve::DirectSolver` | cuDSS 1.0 or later | dense factors, of at most 4096 rows |
//!
//! A library of NVIDIA is found while the program runs, in a CUDA toolkit or in a Python wheel. Without it, and on a device
//! that is not simulated, a plan is an error that says what to install. `half` adds products of `f16` and `bf16`.
//!
//! A `Plan` belongs to one stream of its operator, and holds no operand. A plan's calls are ordered by their operands, as
//! launches are: see [`streamflow::library`]. If a call fails, its target is not written ([the
//! rule](streamflow::guide::failures#errors-that-an-operator-drops)), and the plan can be used again.
//!
//! # Errors
//! A call returns streamflow's [`Error`](streamflow::Error). An error that this crate itself finds is this crate's [`Error`] in
//! an [`Error::Other`](streamflow::Error::Other), and a hook that returns the error fails with it:
//! [`find_cause`](streamflow::Error::find_cause) and [`downcast_ref`](streamflow::Failure::downcast_ref) give it back.

// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
#[cfg(any(feature = "fft", feature = "matmul", feature = "solve", feature = "sparse"))]
mod ffi;
#[cfg(feature = "fft")]
pub mod fft;
#[cfg(feature = "matmul")]
pub mod matmul;
#[cfg(any(feature = "fft", feature = "matmul"))]
pub mod operators;
#[cfg(any(feature = "fft", feature = "matmul", feature = "solve", feature = "sparse"))]
mod plan;
#[cfg(feature = "random")]
pub mod random;
#[cfg(feature = "signal")]
pub mod signal;
#[cfg(feature = "solve")]
pub mod solve;
#[cfg(feature = "sparse")]
pub mod sparse;

pub use error::Error;
#[cfg(any(feature = "fft", feature = "matmul", feature = "solve", feature = "sparse"))]
pub use plan::Plan;
