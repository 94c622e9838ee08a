//! Image operators on the streams of [`streamflow`].
//!
//! An [`Image`] is a message: samples on the device, with a width, a height, a pitch and a [`Colour`]. Its [format](mod@format) is a part of
//! its type, so a graph that joins an output of `Image<Nv12>` with an input of `Image<Rgb<u8>>` does not compile.

mod blur;
mod colour;
mod components;
mod convert;
mod crop;
mod equalize;
pub mod format;
mod histogram;
mod image;
mod lut;
mod morphology;
mod overlay;
mod pad;
mod resize;
mod sample;
mod sampling;
mod suppression;
mod tensors;
mod warp;

pub use blur::Blur;
pub use colour::{Colour, Matrix, Range, Siting};
pub use components::{ComponentBoxes, Components, Labels};
pub use convert::Convert;
pub use crop::Crop;
pub use equalize::Equalize;
pub use histogram::Histogram;
pub use image::{Image, Mosaic};
pub use lut::Lut;
pub use morphology::Morphology;
pub use overlay::{Drawing, Overlay, OverlayBoxes, OverlayMask, Paint};
pub use pad::Pad;
pub use resize::Resize;
pub use sample::Sample;
pub use sampling::{Border, Interpolation};
pub use suppression::{Detections, NonMaxSuppression};
pub use tensors::{FromPlanes, FromTensor, IntoTensor};
pub use warp::{Remap, Warp};
