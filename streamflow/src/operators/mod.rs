//! Operators that come with the library, for any graph.
//!
//! - [`Upload`] and [`Download`] copy between host and device while the host goes on, and [`Deliver`] calls a closure with results.
//! - [`Inspect`] prints descriptions of messages.
//! - [`Convolve2d`] filters images, [`Window`] and [`Resample`] prepare signals, and [`Normalize`] shifts and scales values.
//!   Their source can serve as an example, since they are written as users write operators: with a kernel of two bodies, a
//!   [`Table`](crate::Table) of constants, and a hook.
//! - [`Reduce`] reduces tensors along an axis, or as a whole: to sums, means, norms, extremes, and the places of extremes.
//! - The module `futures`, with the feature of that name, has the ports of a graph as a `Sink` and a `Stream` of asynchronous
//!   code.
//!
//! The crate `streamflow-gpu-math` has operators for transforms, signals and products of matrices, and `streamflow-gpu-vision` those
//! of images.

pub(crate) mod convolve_2d;
mod deliver;
mod download;
#[cfg(feature = "futures")]
pub mod futures;
mod inspect;
pub(crate) mod normalize;
pub(crate) mod reduce;
pub(crate) mod resample;
mod upload;
pub(crate) mod window;

pub use convolve_2d::Convolve2d;
pub use deliver::Deliver;
pub use download::Download;
pub use inspect::Inspect;
pub use normalize::Normalize;
pub use reduce::Reduce;
pub use resample::Resample;
pub use upload::Upload;
pub use window::Window;
