//! Operators of each kind. Each changes its data so that the result of the sink behind it shows whether it ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::prelude::*;

pub(super) const LEN: usize = 4;

/// The kernel `image[i] = value`.
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < image_len) image[i] = value;")]
pub(super) fn set(image: &mut [u32], value: u32) {
    image.fill(value);
}

/// The kernel `sum[i] = sum[i] * factor + image[i]`.
#[kernel(requires(sum.len() == image.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < sum_len) sum[i] = sum[i] * factor + image[i];
")]
pub(super) fn fold(sum: &mut [u32], image: &[u32], factor: u32) {
    for (sum, image) in sum.iter_mut().zip(image) {
        *sum = sum.wrapping_mul(factor).wrapping_add(*image);
    }
}

/// Returns a new image that is filled with `value`, and into which `images` are folded one by one, each with its factor.
fn folded<'i>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    value: u32,
    images: impl IntoIterator<Item = (&'i Tensor<u32>, u32)>,
) -> Result<Tensor<u32>> {
    let mut out = cx.tensor([LEN], stream)?;
    stream.launch::<set>(LEN, (&mut out, value))?;
    for (image, factor) in images {
        stream.launch::<fold>(LEN, (&mut out, image, factor))?;
    }
    Ok(out)
}

/// A source that sends an image filled with the number of the tick.
#[operator(streams(work))]
pub(super) struct Sets {
    #[output]
    image: Tensor<u32>,
}

impl Compute for Sets {
    fn compute(&mut self, io: SetsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let image = folded(cx, &stream, cx.tick() as u32, [])?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Sends its input image with `more` added.
#[operator]
pub(super) struct Adds {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    more: u32,
}

impl Compute for Adds {
    fn compute(&mut self, io: AddsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        io.out.emit(folded(cx, &stream, self.more, [(image, 1)])?)
    }
}

/// Sends the sum of its two images, in which `other` counts three times.
#[operator]
pub(super) struct Joins {
    #[input]
    one: &Tensor<u32>,
    #[input]
    other: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Joins {
    fn compute(&mut self, io: JoinsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (one, other) = (io.one.receive(), io.other.receive());
        let (one, stream) = one.receive_cuda_stream(cx)?;
        let (other, _) = other.receive_cuda_stream(cx)?;
        io.out.emit(folded(cx, &stream, 0, [(other, 1), (one, 3)])?)
    }
}

/// Sends the sum of the images of all its edges.
#[operator]
pub(super) struct Many {
    #[input(many)]
    images: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Many {
    fn compute(&mut self, io: ManyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (images, stream) = io.images.receive().receive_cuda_stream(cx)?;
        let images = images.into_iter().map(|image| (image, 1));
        io.out.emit(folded(cx, &stream, 0, images)?)
    }
}

/// Has an optional input. Sends each image that it receives with 5 added.
#[operator]
pub(super) struct Maybe {
    #[input(optional)]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Maybe {
    fn compute(&mut self, io: MaybeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        io.out.emit(folded(cx, &stream, 5, image.map(|image| (image, 1)))?)
    }
}

/// Adds up all images, sends the sum in `flush` when its input has ended, and then sends one more image.
#[operator(flush)]
pub(super) struct Rests {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    #[state]
    sum: Option<Tensor<u32>>,
}

impl Compute for Rests {
    fn compute(&mut self, io: RestsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if self.sum.is_none() {
            self.sum = Some(folded(cx, &stream, 0, [])?);
        }
        let Some(sum) = &mut self.sum else { return Ok(()) };
        Ok(stream.launch::<fold>(LEN, (sum, image, 1))?)
    }
}

impl Flush for Rests {
    fn flush(&mut self, io: RestsFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        io.image.discard();
        if let Some(sum) = self.sum.take() {
            io.out.emit(sum)?;
            return Ok(Flushed::More);
        }
        let stream = cx.internal_stream()?;
        io.out.emit(folded(cx, &stream, 7, [])?)?;
        Ok(Flushed::Done)
    }
}

/// The result of each row's sink, by the name of the row.
pub(super) type Rows = Arc<Mutex<BTreeMap<&'static str, u32>>>;

/// A sink that folds all images into one, and in `stop` downloads the result and stores it in its row.
#[operator]
pub(super) struct Folds {
    #[input]
    image: &Tensor<u32>,
    row: &'static str,
    rows: Rows,
    #[state]
    sum: Option<Tensor<u32>>,
}

impl Compute for Folds {
    fn compute(&mut self, io: FoldsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if self.sum.is_none() {
            self.sum = Some(folded(cx, &stream, 0, [])?);
        }
        let Some(sum) = &mut self.sum else { return Ok(()) };
        Ok(stream.launch::<fold>(LEN, (sum, image, 31))?)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        let Some(sum) = self.sum.take() else { return Ok(()) };
        let pool = cx.platform().stream_pool("STOP", &CudaStreamPool::new())?;
        let sum = cx.platform().download(&sum, &pool.allocate("the sum")?)?;
        let sum = sum.wait_blocking()?.to_vec();
        assert_eq!(sum, [sum[0]; LEN]);
        self.rows.lock().unwrap().insert(self.row, sum[0]);
        Ok(())
    }
}

/// Sends its input image with 6 added. Its hooks are called on the thread of the run.
#[operator(stays)]
pub(super) struct Stays {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Stays {
    fn compute(&mut self, io: StaysIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        io.out.emit(folded(cx, &stream, 6, [(image, 1)])?)
    }
}
