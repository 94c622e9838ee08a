//! Operators for the tests' graphs: cameras, casts, a fusion of two images, and a sink that notes the result.

use crate::kernels::slow_fill;
use streamflow::prelude::*;

/// Converts each byte to a float.
#[kernel(requires(out.len() == bytes.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = (float)bytes[i];
")]
pub fn bytes_to_floats(out: &mut [f32], bytes: &[u8]) {
    out.iter_mut().zip(bytes).for_each(|(out, byte)| *out = f32::from(*byte));
}

/// Writes `value` to all elements.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = value;
")]
pub fn fill_bytes(out: &mut [u8], value: u8) {
    out.fill(value);
}

/// Computes `depth = left - right`.
#[kernel(requires(depth.len() == left.len(), left.len() == right.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < depth_len) depth[i] = left[i] - right[i];
")]
pub fn difference(depth: &mut [f32], left: &[f32], right: &[f32]) {
    for ((depth, left), right) in depth.iter_mut().zip(left).zip(right) {
        *depth = left - right;
    }
}

/// Changes the sign of each element.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < data_len) data[i] = -data[i];
")]
pub fn negate(data: &mut [f32]) {
    data.iter_mut().for_each(|x| *x = -*x);
}

operator_interface! {
    /// A source of frames.
    pub trait FrameSource {
        /// The frame of this tick.
        output frame: Tensor<u8>;
    }
}

operator_interface! {
    /// A step that takes an image and makes one.
    pub trait Step {
        /// The image before the step.
        input src: Tensor<f32>;
        /// The image after it.
        output dst: Tensor<f32>;
    }
}

/// A camera: makes frames of bytes, each full of `first` plus the tick's number.
#[operator(streams(grab), implements(FrameSource))]
#[derive(Debug)]
pub struct Camera {
    /// The frame of this tick.
    #[output]
    frame: Tensor<u8>,
    len: usize,
    first: u8,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.grab)?;
        let mut frame = cx.tensor([self.len], &stream)?;
        let value = self.first + cx.tick() as u8;
        stream.launch::<fill_bytes>(self.len, (&mut frame, value))?;
        io.frame.set_cuda_stream(&stream).emit(frame)
    }
}

/// Converts bytes to floats in a slow kernel.
#[operator]
#[derive(Debug)]
pub struct Cast {
    #[input]
    src: &Tensor<u8>,
    #[output]
    dst: Tensor<f32>,
}

impl Compute for Cast {
    fn compute(&mut self, io: CastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (src, stream) = io.src.receive().receive_cuda_stream(cx)?;
        let mut dst = cx.tensor(src.shape(), &stream)?;
        stream.launch::<slow_fill>(dst.len(), (&mut dst, -1.0, 100_000))?;
        stream.launch::<bytes_to_floats>(dst.len(), (&mut dst, src))?;
        io.dst.emit(dst)
    }
}

/// Computes the left image minus the right one.
#[operator]
#[derive(Debug)]
pub struct Fuse {
    #[input]
    left: &Tensor<f32>,
    #[input]
    right: &Tensor<f32>,
    #[output]
    depth: Tensor<f32>,
}

impl Compute for Fuse {
    fn compute(&mut self, io: FuseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (left, stream) = io.left.receive().receive_cuda_stream(cx)?;
        let (right, _) = io.right.receive().receive_cuda_stream(cx)?;
        let mut depth = cx.tensor(left.shape(), &stream)?;
        stream.launch::<difference>(depth.len(), (&mut depth, left, right))?;
        io.depth.emit(depth)
    }
}

/// Takes a tensor and changes its sign in place.
#[operator(implements(Step))]
#[derive(Debug)]
pub struct Invert {
    #[input]
    src: Tensor<f32>,
    #[output]
    dst: Tensor<f32>,
}

impl Compute for Invert {
    fn compute(&mut self, io: InvertIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut data, stream) = io.src.receive().receive_cuda_stream(cx)?;
        stream.launch::<negate>(data.len(), (&mut data,))?;
        io.dst.emit(data)
    }
}

/// Notes the first value of each image, and the label if one arrives.
#[operator]
#[derive(Debug)]
pub struct Show {
    #[input]
    image: &Tensor<f32>,
    #[input(optional)]
    label: &u64,
    /// For each image, the first value and the label.
    seen: Vec<(f32, Option<u64>)>,
}

impl Show {
    /// Returns the first value and the label of each image.
    pub fn seen(&self) -> &[(f32, Option<u64>)] {
        &self.seen
    }

    /// Returns the first value and the label of each image, and forgets them.
    pub fn take_seen(&mut self) -> Vec<(f32, Option<u64>)> {
        std::mem::take(&mut self.seen)
    }
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let label = io.label.receive().into_data().copied();
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let pixels = cx.download(image, &stream)?;
        self.seen.push((pixels.wait_blocking()?[0], label));
        Ok(())
    }
}

/// Emits the number of each tick, as host data only.
#[operator]
#[derive(Debug)]
pub struct Counter {
    #[output]
    number: u64,
}

impl Compute for Counter {
    fn compute(&mut self, io: CounterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}
