//! Operators of mathematics, for any graph.
//!
//! - `Fft` transforms signals, by a plan that is made in `start`, with the feature `fft`.
//! - `Matmul` multiplies matrices, with the feature `matmul`.
//! - `Fir` and `Polyphase` filter signals, `Hilbert`, `Stft` and `Istft` transform them, `Peaks` finds their maxima,
//!   `Interpolate` and `InterpolateAt` have values between their samples, and `Transpose` and `Gather` order their elements, with
//!   the feature `signal`.

#[cfg(feature = "fft")]
mod fft;
#[cfg(feature = "matmul")]
mod matmul;
#[cfg(feature = "signal")]
mod signal;

#[cfg(feature = "fft")]
pub use fft::Fft;
#[cfg(feature = "matmul")]
pub use matmul::Matmul;
#[cfg(feature = "signal")]
pub use signal::{
    Fir, Gather, Hilbert, Interpolate, InterpolateAt, Istft, Peaks, Polyphase, Stft, Transpose,
};
