//! Fourier transforms by cuFFT, in 1 to 3 dimensions and in batches, of `f32` and `f64`.
//!
//! | plan | from | to | function |
//! |---|---|---|---|
//! | [`Fft`] | complex | complex | [`forward`], [`inverse`] |
//! | [`RealFft`] | real | the first half of its spectrum | [`forward_real`] |
//! | [`InverseRealFft`] | the first half of a spectrum, overwritten | real | [`inverse_real`] |
//!
//! A plan is made in [`start`](streamflow::Compute::start), for one shape and one stream. Executing a plan allocates nothing, and
//! does not block:
//!
//! ```
//! use streamflow_math::Plan;
//! use streamflow_math::fft::RealFft;
//! use streamflow::memory::Complex;
//! use streamflow::prelude::*;
//!
//! /// The spectra of 16 channels of 1024 samples.
//! #[operator]
//! struct Spectra {
//!     #[input] samples: &Tensor<f32>,
//!     #[output] spectra: Tensor<Complex<f32>>,
//!     fft: Option<Plan<RealFft<f32>>>,
//! }
//!
//! impl Compute for Spectra {
//!     fn start(&mut self, _: SpectraStreams<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let stream = cx.internal_stream()?;
//!         self.fft = Some(RealFft::plan([1024]).batch(16).on(cx, &stream)?);
//!         Ok(())
//!     }
//!
//!     fn compute(&mut self, io: SpectraIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let (samples, stream) = io.samples.receive().receive_cuda_stream(cx)?;
//!         let mut spectra = cx.tensor([16, 513], &stream)?;
//!         if let Some(fft) = &mut self.fft {
//!             fft.forward(&stream, samples, &mut spectra)?;
//!         }
//!         io.spectra.emit(spectra)
//!     }
//! }
//! ```
//!
//! The functions of this module need no plan, since the node makes and keeps a plan for each shape. They allocate their result,
//! and have no batches and no layouts.
//!
//! Results are not normalised unless the plan chooses a [`Norm`]. Sizes are 64-bit numbers, up to as many elements as a program
//! can address. If cuFFT can't plan a size, making the plan returns cuFFT's error.
//!
//! # The simulator
//! The simulator transforms by `rustfft`, with the same conventions, and at most 2^24 elements in a dimension. For `f32`, the
//! rounding error is about `1e-7 sqrt(log2 n)` of the largest number, and the results have the same bits on x86-64 and on
//! AArch64. For `f64`, the last digits may depend on the sine and cosine of the system's C library. After a transform to real
//! numbers, the input is NaN on the simulator, where cuFFT leaves some other numbers.

mod complex;
mod engine;
mod from_real;
mod host;
#[doc(hidden)]
pub mod kernels;
mod norm;
mod on_host;
mod plan;
pub(crate) mod real;
#[cfg(feature = "signal")]
pub(crate) mod rows;
mod stateless;
mod to_real;

pub use super::ffi::cufft::layout::Layout;
pub use complex::Fft;
pub use from_real::RealFft;
pub use norm::Norm;
pub use on_host::{forward_host_blocking, inverse_host_blocking};
pub use plan::Planner;
pub use real::Real;
pub use stateless::{forward, forward_real, inverse, inverse_real};
pub use to_real::InverseRealFft;
