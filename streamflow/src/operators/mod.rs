//! Operators that come with the library, for any graph.
//!
//! - [`Inspect`] prints what messages look like.
//! - [`Convolve2d`] filters images, [`Window`] and [`Resample`] prepare signals, [`Normalize`] shifts and scales. They are
//!   written as users write theirs, so their source is to be read as an example: a kernel with two bodies, a
//!   [`Table`](crate::Table) of constants, and a hook.
//! - [`Reduce`] adds rows, or takes their means.
//! - With the feature `matmul`, `Matmul` multiplies matrices, by a library.
//! - With the feature `fft`, `Fft` transforms signals, by a library's plan.

mod convolve_2d;
#[cfg(feature = "fft")]
mod fft;
mod inspect;
#[cfg(feature = "matmul")]
mod matmul;
mod normalize;
mod reduce;
mod resample;
mod window;

pub use convolve_2d::Convolve2d;
#[cfg(feature = "fft")]
pub use fft::Fft;
pub use inspect::Inspect;
#[cfg(feature = "matmul")]
pub use matmul::Matmul;
pub use normalize::Normalize;
pub use reduce::{Reduce, Summed};
pub use resample::Resample;
pub use window::Window;

/// The kernels of this module.
#[doc(hidden)]
pub mod kernels {
    pub use super::convolve_2d::convolve_2d;
    pub use super::normalize::normalize;
    pub use super::reduce::sum_rows;
    pub use super::resample::resample;
    pub use super::window::multiply_rows;
}
