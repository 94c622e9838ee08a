//! Image operators on the streams of [`streamflow`].
//!
//! An [`Image`] is a message: samples on the device, with a width, a height, a pitch and a [`Colour`]. Its [format](mod@format) is a part of
//! its type, so a graph that joins an output of `Image<Nv12>` with an input of `Image<Rgb<u8>>` does not compile:
//!
//! ```compile_fail
//! # use streamflow::prelude::*;
//! # use streamflow_vision::format::{Nv12, Rgb};
//! # use streamflow_vision::{Colour, Convert, FromTensor, Image};
//! graph! {
//!     pub struct Joined {
//!         /// The rows of a frame.
//!         input frame: Tensor<u8>;
//!         /// The picture.
//!         output picture: Image<Rgb<f32>>;
//!         let image: FromTensor<Nv12> = FromTensor::new([16, 8], Colour::default());
//!         // `Convert<Nv12, Rgb<u8>>` belongs here.
//!         let convert: Convert<Rgb<u8>, Rgb<f32>> = Convert::new();
//!         frame >> image.tensor;
//!         image.image >> convert.image;
//!         convert.converted >> picture;
//!     }
//! }
//! ```
//!
//! | Operators | What they do |
//! |---|---|
//! | [`FromTensor`], [`FromPlanes`] | make images of tensors: of rows, or of `[channels, height, width]` |
//! | [`IntoTensor`] | makes tensors of `f32` for a model, with a mean and a deviation for each channel |
//! | [`Convert`] | converts formats: RGB, BGR, RGBA, grey, NV12, P010, I420, YUYV, and a sensor's mosaic as a source |
//! | [`Resize`] | makes images of another size: nearest, linear, cubic, antialiased, or by area |
//! | [`Crop`], [`Pad`] | copy a part; add a border |
//! | [`Warp`], [`Remap`] | move pixels by a matrix of an affine or perspective map; by a place for each pixel |
//! | [`Blur`] | takes means of neighbours, also those of a Gaussian bell |
//! | [`Morphology`] | erodes, dilates, opens and closes |
//! | [`Lut`] | replaces samples by those of a table |
//! | [`Histogram`], [`Equalize`] | count samples; spread the values of grey images, of the whole image or of tiles (CLAHE) |
//! | [`Components`], [`ComponentBoxes`] | find the connected parts of a mask, and the boxes around them |
//! | [`NonMaxSuppression`] | keeps the best of boxes that overlap |
//! | [`Overlay`], [`OverlayBoxes`], [`OverlayMask`] | draw shapes and text of the host, boxes on the device, and a mask |
//!
//! The documentation of each operator names the function of OpenCV, SciPy, Pillow or torchvision whose conventions it has. Tests
//! compare the operators with results of the first three, and with formulas where these have no such function.
//!
//! # A graph
//! Frames of NV12 become the input of a model: they are uploaded, converted, made smaller, and scaled to numbers from 0 to 1.
//!
//! ```
//! use std::sync::mpsc::{Sender, channel};
//!
//! use streamflow::operators::{self, Deliver, Upload};
//! use streamflow::prelude::*;
//! use streamflow_vision::format::{Nv12, Rgb};
//! use streamflow_vision::{Colour, Convert, FromTensor, IntoTensor, Interpolation, Matrix, Resize};
//!
//! /// Sends white frames of 16 × 8 pixels, in rows of 20 bytes: eight rows of luma, and four of chroma.
//! #[operator]
//! struct Frames {
//!     #[output]
//!     frame: HostData<Vec<u8>>,
//! }
//!
//! impl Compute for Frames {
//!     fn compute(&mut self, io: FramesIo<'_>, _: &ExecutionContext) -> Result<()> {
//!         let mut frame = vec![235; 8 * 20];
//!         frame.resize(12 * 20, 128);
//!         io.frame.emit(HostData(frame))
//!     }
//! }
//!
//! graph! {
//!     /// Frames, as a model takes them.
//!     struct Inputs(seen: Sender<Vec<f32>>) {
//!         #[when(count(2))]
//!         let frames: Frames = Frames::new();
//!         let upload: Upload<u8> = Upload::with_shape([12, 20])?;
//!         let image: FromTensor<Nv12> =
//!             FromTensor::new([16, 8], Colour { matrix: Matrix::Bt709, ..Colour::default() });
//!         let convert: Convert<Nv12, Rgb<u8>> = Convert::new();
//!         let resize: Resize<Rgb<u8>> = Resize::new(4, 2, Interpolation::Linear)?.antialias();
//!         let tensor: IntoTensor<Rgb<u8>> = IntoTensor::planar();
//!         let download: operators::Download<f32> = operators::Download::new();
//!         #[when(host_done(message))]
//!         let deliver: Deliver<Download<f32>> =
//!             Deliver::new(move |data: &Download<f32>| Ok(seen.send(data.wait_blocking()?.to_vec())?));
//!         frames.frame >> upload.data;
//!         upload.tensor >> image.tensor;
//!         image.image >> convert.image;
//!         convert.converted >> resize.image;
//!         resize.resized >> tensor.image;
//!         tensor.tensor >> download.tensor;
//!         download.data >> deliver.message;
//!     }
//! }
//!
//! fn main() -> Result<()> {
//!     let (seen, inputs) = channel();
//!     Inputs::new(&Platform::detect()?, seen)?.run()?;
//!     let inputs: Vec<_> = inputs.iter().collect();
//!     assert_eq!(inputs.len(), 2);
//!     for input in inputs {
//!         assert_eq!(input.len(), 3 * 2 * 4); // [channels, height, width]
//!         assert!(input.iter().all(|number| (number - 1.0).abs() < 1e-6));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Rows with padding
//! Cameras and decoders make rows that are longer than their pixels. Every operator takes such images: a tensor of `[rows, pitch]`
//! becomes one by [`FromTensor`] without a copy. The images that an operator makes have no padding; those that it changes in
//! place, as an overlay, keep theirs. [`Image::view`] has the samples without the padding, also without a copy. A
//! [`PitchedTensor`](streamflow::memory::PitchedTensor) is another type, whose view is copied to a tensor first.
//!
//! # Colours
//! The numbers of YUV stand for colours by a [`Matrix`], a [`Range`] and a [`Siting`] of chroma. An image has them as its [`Colour`],
//! and [`FromTensor`] sets it: no format implies one. The default is that of OpenCV: BT.601, 16 to 235, and chroma that is one number
//! for all its pixels. Video of high definition has [`Matrix::Bt709`], and mostly [`Siting::Left`]. [`Convert`] reads the colour of
//! its source. It keeps that for its target, or converts to the one that it is given. It converts no primaries and no transfer
//! function.
//!
//! # What is not there
//! - Nothing reads a camera, a video or a file, and nothing shows an image: frames come by
//!   [`Upload`](streamflow::operators::Upload), or from a tensor of another library.
//! - Samples are `u8`, `u16` or `f32`. [`IntoTensor`] makes tensors of `f32`, and none of `f16`.
//! - [`NonMaxSuppression`] has no classes. Boxes of a class are moved away from the others first, as its documentation says.
//! - An image is one message: there are no batches of images, and no optical flow, features or models.

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
