//! Finds the edges of a photograph: grey, blur, the gradient in x and in y, and its length.
//!
//! The two gradients only read the blurred image, so they run on streams of their own, which wait for the blur. The stream that
//! joins the gradients waits for both. The program contains no waits: streamflow derives them from the launches' arguments.

pub mod graph;
mod kernels;
mod reference;

pub use graph::EdgesApp;
pub use kernels::{blur_columns, blur_rows, grey, magnitude, sobel_x, sobel_y};
pub use reference::{TOLERANCE, reference};
use streamflow::memory::Pinned;
use streamflow::prelude::*;

use crate::png_io::Image;

/// A stream for upload, grey and blur, a stream for each gradient, and a stream for the join and the download.
const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4).reserved_size(4);

/// The pipeline for one photograph.
#[derive(Debug)]
pub struct Edges {
    platform: Platform,
    width: u32,
    height: u32,
    photograph: Pinned<u8>,
    prepare: CudaStream,
    gradient_x: CudaStream,
    gradient_y: CudaStream,
    join: CudaStream,
}

impl Edges {
    /// Allocates the streams, and copies the photograph to page-locked memory, so that uploads don't block.
    ///
    /// # Errors
    /// Those of the platform: out of memory, no stream.
    pub fn new(platform: &Platform, image: &Image) -> Result<Self, Error> {
        let pool = platform.stream_pool("STREAMS", &STREAMS)?;
        let mut photograph = platform.pinned(device(0), image.rgb.len())?;
        photograph.as_mut_slice_blocking()?.copy_from_slice(&image.rgb);
        Ok(Self {
            platform: platform.clone(),
            width: image.width,
            height: image.height,
            photograph,
            prepare: pool.allocate("prepare")?,
            gradient_x: pool.allocate("gradient_x")?,
            gradient_y: pool.allocate("gradient_y")?,
            join: pool.allocate("join")?,
        })
    }

    /// Queues the whole pipeline once, without blocking. Returns the download of the edges, which has a byte per pixel.
    ///
    /// # Errors
    /// Those of the platform: out of memory, a failed launch.
    pub fn run(&mut self) -> Result<Download<u8>, Error> {
        let (width, height) = (self.width, self.height);
        let s = &self.prepare;
        let mut rgb = self.platform.tensor([height as usize, width as usize, 3], s)?;
        s.upload(&self.photograph, &mut rgb)?;
        let mut image = self.plane(s)?;
        s.launch::<grey>(image.len(), (&mut image, &rgb))?;
        let mut rows = self.plane(s)?;
        s.map::<blur_rows>((&mut rows, &image))?;
        let mut blurred = self.plane(s)?;
        s.map::<blur_columns>((&mut blurred, &rows))?;

        let s = &self.gradient_x;
        let mut x = self.plane(s)?;
        s.map::<sobel_x>((&mut x, &blurred))?;

        let s = &self.gradient_y;
        let mut y = self.plane(s)?;
        s.map::<sobel_y>((&mut y, &blurred))?;

        let s = &self.join;
        let mut edges = self.platform.tensor([height as usize, width as usize], s)?;
        s.map::<magnitude>((&mut edges, &x, &y))?;
        self.platform.download(&edges, s)
    }

    fn plane(&self, stream: &CudaStream) -> Result<Tensor<f32>, Error> {
        self.platform.tensor([self.height as usize, self.width as usize], stream)
    }
}
