//! A message that is one of several, as an enum with `#[derive(Message)]`. The laws hold for each variant: its
//! device data is behind a stream, and it is read, shared, taken, copied and sent to another device like a
//! tensor.

use streamflow::memory::DeviceSlice;
use streamflow::message::Description;
use streamflow::prelude::*;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check_equal};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .ordered("each_variant_is_read_after_its_writer", read_in_order)
        .both("each_variant_is_shared_copied_and_taken", forms)
        .devices("each_variant_is_transferred", 2, transferred)
        .both("a_description_names_the_variant_and_its_fields", described)
}

/// A frame of a video: two planes, and host values about them.
#[derive(Debug, Message)]
struct VideoBuffer {
    luma: Buffer<f32>,
    chroma: Buffer<f32>,
    interlaced: bool,
}

/// What a camera or a decoder sends.
#[derive(Debug, Message)]
enum Image {
    Tensor(Tensor<f32>),
    Video { buffer: VideoBuffer, number: u64 },
    End,
}

const LEN: usize = 257;

/// An operator that sends the variants alternately, written by a slow kernel.
#[operator(streams(work))]
struct Source {
    #[output]
    image: Image,
    slowness: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let value = cx.tick() as f32 + 1.0;
        let image = match cx.tick() % 3 {
            0 => {
                let mut tensor = cx.tensor([LEN], &stream)?;
                stream.launch::<slow_fill>(LEN, (&mut tensor, value, self.slowness))?;
                Image::Tensor(tensor)
            }
            1 => {
                let mut buffer = VideoBuffer {
                    luma: cx.buffer(LEN, &stream)?,
                    chroma: cx.buffer(LEN / 2, &stream)?,
                    interlaced: true,
                };
                stream.launch::<slow_fill>(LEN, (&mut buffer.luma, value, self.slowness))?;
                stream.launch::<slow_fill>(LEN / 2, (&mut buffer.chroma, -value, self.slowness))?;
                Image::Video { buffer, number: cx.tick() }
            }
            _ => Image::End,
        };
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Returns the first and the last value of each part of a message.
fn values(image: &Image, stream: &Stream<'_>, cx: &ExecutionContext) -> Result<Vec<f32>> {
    let ends = |slice: &DeviceSlice<f32>| -> Result<[f32; 2]> {
        // A kernel makes this copy, so that the race checker checks the read, too.
        let mut copy = cx.buffer(slice.len(), stream)?;
        stream.launch::<slow_copy>(slice.len(), (&mut copy, slice, 0))?;
        let download = cx.download(&copy, stream)?;
        let values = download.wait_blocking()?;
        Ok([values[0], values[values.len() - 1]])
    };
    Ok(match image {
        Image::Tensor(tensor) => ends(tensor)?.to_vec(),
        Image::Video { buffer, .. } => [ends(&buffer.luma)?, ends(&buffer.chroma)?].concat(),
        Image::End => Vec::new(),
    })
}

fn expected() -> Vec<Vec<f32>> {
    vec![vec![1.0, 1.0], vec![2.0, 2.0, -2.0, -2.0], vec![]]
}

macro_rules! sink {
    ($name:ident, $io:ident, $form:ty) => {
        #[operator]
        struct $name {
            #[input]
            image: $form,
            seen: Seen<Vec<f32>>,
        }

        impl Compute for $name {
            fn compute(&mut self, io: $io<'_>, cx: &ExecutionContext) -> Result<()> {
                let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
                push_seen(&self.seen, values(&image, &stream, cx)?);
                Ok(())
            }
        }
    };
}

sink!(Read, ReadIo, &Image);
sink!(Share, ShareIo, Shared<Image>);
sink!(Take, TakeIo, Image);

graph! {
    struct Pair(seen: Seen<Vec<f32>>) {
        #[when(count(3))]
        let source: Source = Source::new(2_000_000);
        let read: Read = Read::new(seen);
        source.image >> read.image;
    }
}

fn read_in_order(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Pair::new(platform, seen.clone())?.run()?;
    Ok(take(&seen) == expected())
}

graph! {
    struct Forms(read: Seen<Vec<f32>>, share: Seen<Vec<f32>>, copied: Seen<Vec<f32>>, taken: Seen<Vec<f32>>) {
        #[when(count(3))]
        let source: Source = Source::new(0);
        let reader: Read = Read::new(read);
        let sharer: Share = Share::new(share);
        let taker: Take = Take::new(copied);
        #[when(count(3))]
        let other: Source = Source::new(0);
        let only: Take = Take::new(taken);

        source.image >> (reader.image, sharer.image);
        #[copy] source.image >> taker.image;
        other.image >> only.image;
    }
}

fn forms(platform: &Platform) -> Result<(), Failed> {
    let seen: [Seen<Vec<f32>>; 4] = Default::default();
    let [read, share, copied, taken] = seen.clone();
    Forms::new(platform, read, share, copied, taken)?.run()?;
    seen.iter().try_for_each(|seen| check_equal(take(seen), expected()))
}

graph! {
    struct Far(seen: Seen<Vec<f32>>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[when(count(3))]
        let source: Source = Source::new(2_000_000);
        #[streams(FAR)]
        let taker: Take = Take::new(seen);
        #[transfer] source.image >> taker.image;
    }
}

fn transferred(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Far::new(platform, seen.clone())?.run()?;
    check_equal(take(&seen), expected())
}

fn described(platform: &Platform) -> Result<(), Failed> {
    let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("a test")?;
    let tensor = Image::Tensor(platform.tensor([2, 3], &stream)?);
    let wanted = "Tensor.0: Tensor<float32> [2, 3] on device 0";
    check_equal(Description::of(&tensor).to_string(), wanted.to_owned())?;
    let buffer = VideoBuffer {
        luma: platform.buffer(6, &stream)?,
        chroma: platform.buffer(3, &stream)?,
        interlaced: true,
    };
    let video = vec![Image::Video { buffer, number: 7 }];
    let wanted = "[0].Video.buffer.luma: Buffer<float32> [6] on device 0\n\
                  [0].Video.buffer.chroma: Buffer<float32> [3] on device 0\n\
                  [0].Video.buffer.interlaced: bool = true\n\
                  [0].Video.number: u64 = 7";
    check_equal(Description::of(&video).to_string(), wanted.to_owned())?;
    check_equal(Description::of(&Image::End).to_string(), "End".to_owned())
}
