//! Operators of signals, with SciPy's and NumPy's conventions, for tensors of `f32` and of `Complex<f32>`.
//!
//! - `Fir` filters a stream of blocks, and `Polyphase` filters between two sample rates.
//! - `Hilbert` makes analytic signals. `Stft` has the spectra of segments, and `Istft` the signals of these.
//! - `Peaks` finds maxima.
//! - `Interpolate` has values between samples, at positions of its own, and `InterpolateAt` at those that it receives.
//! - `Transpose` permutes axes, and `Gather` takes elements along an axis.

mod fir;
mod gather;
mod hilbert;
mod interpolate;
mod interpolate_at;
mod istft;
mod peaks;
mod polyphase;
mod rule;
mod segments;
mod stft;
mod transpose;

pub use fir::Fir;
pub use gather::Gather;
pub use hilbert::Hilbert;
pub use interpolate::Interpolate;
pub use interpolate_at::InterpolateAt;
pub use istft::Istft;
pub use peaks::Peaks;
pub use polyphase::Polyphase;
pub use stft::Stft;
pub use transpose::Transpose;
