//! Image operators on the streams of [`streamflow`].
//!
//! An [`Image`] is a message: samples on the device, with a width, a height, a pitch and a [`Colour`]. Its [format](format) is a part of
//! its type, so a graph that joins an output of `Image<Nv12>` with an input of `Image<Rgb<u8>>` does not compile.

mod colour;
mod components;
mod convert;
mod equalize;
pub mod format;
mod histogram;
mod image;
mod overlay;
mod sample;
mod suppression;

pub use colour::{Colour, Matrix, Range, Siting};
pub use components::{ComponentBoxes, Components, Labels};
pub use convert::Convert;
pub use equalize::Equalize;
pub use histogram::Histogram;
pub use image::{Image, Mosaic};
pub use overlay::{Drawing, Overlay, OverlayBoxes, OverlayMask, Paint};
pub use sample::Sample;
pub use suppression::{Detections, NonMaxSuppression};
