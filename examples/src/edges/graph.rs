//! The pipeline as a graph.

use std::fmt;

use streamflow::memory::Pinned;
use streamflow::operators::Convolve2d;
use streamflow::prelude::*;

use super::{grey, magnitude, sobel_x, sobel_y};
use crate::deliver::{Deliver, Report};
use crate::png_io::Image;

/// The weights of the blur: a row of Pascal's triangle over 16, a Gaussian with a standard deviation of one pixel.
const BLUR: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Uploads the photograph in each tick.
#[operator(streams(upload), no_new)]
pub struct Photograph {
    /// The photograph, with the dimensions rows, columns and three colours.
    #[output]
    rgb: Tensor<u8>,
    pixels: Pinned<u8>,
    shape: [usize; 3],
}

impl Photograph {
    /// Copies the photograph to page-locked memory, so that uploads don't block.
    ///
    /// # Errors
    /// Those of the platform: out of memory.
    pub fn new(platform: &Platform, image: &Image) -> Result<Self> {
        let mut pixels = platform.pinned(device(0), image.rgb.len())?;
        pixels.as_mut_slice_blocking()?.copy_from_slice(&image.rgb);
        Ok(Self { pixels, shape: [image.height as usize, image.width as usize, 3] })
    }
}

impl Compute for Photograph {
    fn compute(&mut self, io: PhotographIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.upload)?;
        let mut rgb = cx.tensor(self.shape, &stream)?;
        stream.upload(&self.pixels, &mut rgb)?;
        io.rgb.set_cuda_stream(&stream).emit(rgb)
    }
}

impl fmt::Debug for Photograph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Photograph").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// Converts colours to brightness.
#[operator]
#[derive(Debug)]
pub struct Grey {
    /// The photograph, with the dimensions rows, columns and three colours.
    #[input]
    rgb: &Tensor<u8>,
    /// The brightness, with the dimensions rows and columns.
    #[output]
    image: Tensor<f32>,
}

impl Compute for Grey {
    fn compute(&mut self, io: GreyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (rgb, stream) = io.rgb.receive().receive_cuda_stream(cx)?;
        let mut image = cx.tensor(&rgb.shape()[..2], &stream)?;
        stream.launch::<grey>(image.len(), (&mut image, rgb))?;
        io.image.emit(image)
    }
}

/// Computes how brightness grows to the right.
#[operator(map = sobel_x)]
#[derive(Debug)]
pub struct SobelX {
    /// The blurred image. [`SobelY`] reads it at the same time.
    #[input]
    image: &Tensor<f32>,
    /// The gradient, of the same shape as the image.
    #[output]
    gradient: Tensor<f32>,
}

/// Computes how brightness grows downwards.
#[operator(map = sobel_y)]
#[derive(Debug)]
pub struct SobelY {
    /// The blurred image. [`SobelX`] reads it at the same time.
    #[input]
    image: &Tensor<f32>,
    /// The gradient, of the same shape as the image.
    #[output]
    gradient: Tensor<f32>,
}

/// Computes the length of the gradient, a byte per pixel.
#[operator(map = magnitude)]
#[derive(Debug)]
pub struct Magnitude {
    /// The gradient to the right.
    #[input]
    x: &Tensor<f32>,
    /// The gradient downwards, of the same shape as `x`.
    #[input]
    y: &Tensor<f32>,
    /// The edges, of the same shape as `x`.
    #[output]
    edges: Tensor<u8>,
}

graph! {
    /// Finds the edges of a photograph, `repeat` times. `report` gets each result, a byte per pixel.
    ///
    /// The gradients have their own streams. A node without streams works on the stream of the message that it
    /// receives.
    #[derive(Debug)]
    pub struct EdgesApp(image: &Image, repeat: u64, report: Report<u8>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4).reserved_size(4);

        #[streams(STREAMS)] #[when(count(repeat))]
        let photograph: Photograph = Photograph::new(platform, image)?;
        #[streams(none)]
        let grey: Grey = Grey::new();
        #[streams(none)]
        let blur_rows: Convolve2d = Convolve2d::new(BLUR, [1, 5])?;
        #[streams(none)]
        let blur_columns: Convolve2d = Convolve2d::new(BLUR, [5, 1])?;
        #[streams(STREAMS)]
        let sobel_x: SobelX = SobelX::new();
        #[streams(STREAMS)]
        let sobel_y: SobelY = SobelY::new();
        #[streams(STREAMS)]
        let magnitude: Magnitude = Magnitude::new();
        #[streams(none)]
        let rx: Deliver<u8> = Deliver::new(report);

        photograph.rgb >> grey.rgb;
        grey.image >> blur_rows.image;
        blur_rows.convolved >> blur_columns.image;
        blur_columns.convolved >> (sobel_x.image, sobel_y.image);
        sobel_x.gradient >> magnitude.x;
        sobel_y.gradient >> magnitude.y;
        magnitude.edges >> rx.tensor;
    }
}
