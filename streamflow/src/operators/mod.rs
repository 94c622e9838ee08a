//! Operators that come with the library, for any graph.
//!
//! - [`Inspect`] prints what messages look like.
//! - [`Convolve2d`] filters images, [`Window`] and [`Resample`] prepare signals, [`Normalize`] shifts and scales. These
//!   operators are written as users write theirs, so their source can serve as an example: a kernel with two bodies, a
//!   [`Table`](crate::Table) of constants, and a hook.
//! - [`Reduce`] adds rows, or takes their means.
//! - The module `futures`, by the feature of that name, has the ports of a graph as a `Sink` and a `Stream` of asynchronous code.
//!
//! Transforms and products of matrices are operators of the crate `streamflow-gpu-math`.

pub(crate) mod convolve_2d;
#[cfg(feature = "futures")]
pub mod futures;
mod inspect;
pub(crate) mod normalize;
pub(crate) mod reduce;
pub(crate) mod resample;
pub(crate) mod window;

pub use convolve_2d::Convolve2d;
pub use inspect::Inspect;
pub use normalize::Normalize;
pub use reduce::Reduce;
pub use resample::Resample;
pub use window::Window;
