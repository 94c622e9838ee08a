//! Operators of mathematics, for any graph.
//!
//! - `Fft` transforms signals, by a plan that is made in `start`, with the feature `fft`.
//! - `Matmul` multiplies matrices, with the feature `matmul`.

#[cfg(feature = "fft")]
mod fft;
#[cfg(feature = "matmul")]
mod matmul;

#[cfg(feature = "fft")]
pub use fft::Fft;
#[cfg(feature = "matmul")]
pub use matmul::Matmul;
