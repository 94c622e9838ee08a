//! A message with tensors that were written on two streams. The message is sent on a third stream.
//!
//! The consumer waits for one point, on the stream that the message was sent on. So that stream comes after both writers when the
//! message is emitted.

use std::sync::Arc;

use streamflow::driver::{Driver, RawStream};
use streamflow::prelude::*;
use streamflow_tests::Failed;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered::right;
use streamflow_tests::seen::{Seen, all, push_seen, take};

const LEN: usize = 1003;
const TICKS: u64 = 12;

/// The length of a slow kernel in cycles. It takes about 5 ms on a GPU, much longer than a launch.
const SLOW: u64 = 10_000_000;

/// The two tensors of one tick.
#[derive(Message)]
struct Pair {
    left: Tensor<f32>,
    right: Tensor<f32>,
}

/// An operator that writes the two tensors of a tick on two streams, and sends them on a third stream.
#[operator(streams(left, right, sends))]
struct Source {
    #[output]
    pair: Pair,
    sends_on: Seen<RawStream>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (on_left, on_right) =
            (cx.allocate_cuda_stream(io.left)?, cx.allocate_cuda_stream(io.right)?);
        let sends = cx.allocate_cuda_stream(io.sends)?;
        push_seen(&self.sends_on, sends.raw());
        let (mut left, mut right) = (cx.tensor([LEN], &on_left)?, cx.tensor([LEN], &on_right)?);
        let value = cx.tick() as f32;
        on_left.launch::<slow_fill>(LEN, (&mut left, value, SLOW))?;
        on_right.launch::<slow_fill>(LEN, (&mut right, value + 0.5, SLOW))?;
        io.pair.set_cuda_stream(&sends).emit(Pair { left, right })
    }
}

/// An operator that copies both tensors, and downloads the copies.
#[operator]
struct Reader {
    #[input]
    pair: &Pair,
    #[output]
    copies: Vec<Download<f32>>,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (pair, stream) = io.pair.receive().receive_cuda_stream(cx)?;
        let mut copies = Vec::new();
        for tensor in [&pair.left, &pair.right] {
            let mut copy = cx.tensor([LEN], &stream)?;
            stream.launch::<slow_copy>(LEN, (&mut copy, tensor, 0))?;
            copies.push(cx.download(&copy, &stream)?);
        }
        io.copies.emit(copies)
    }
}

/// A sink that notes the values of a tick.
#[operator]
struct Sink {
    #[input]
    copies: Vec<Download<f32>>,
    values: Seen<Vec<f32>>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        for copy in io.copies.receive().into_data() {
            push_seen(&self.values, copy.wait_blocking()?.to_vec());
        }
        Ok(())
    }
}

graph! {
    struct ThreeStreams(sends_on: Seen<RawStream>, values: Seen<Vec<f32>>) {
        #[when(count(TICKS))]
        let source: Source = Source::new(sends_on);
        let reader: Reader = Reader::new();
        let sink: Sink = Sink::new(values);
        source.pair >> reader.pair;
        reader.copies >> sink.copies;
    }
}

fn is_right(platform: &Platform, sends_on: &Seen<RawStream>) -> Result<bool> {
    let values = Seen::default();
    ThreeStreams::new(platform, sends_on.clone(), values.clone())?.run()?;
    let expected = (0..TICKS * 2).map(|half| vec![half as f32 / 2.0; LEN]);
    Ok(take(&values).into_iter().eq(expected))
}

/// Fails unless each tensor of each tick arrives complete.
pub(crate) fn arrives(platform: &Platform) -> Result<(), Failed> {
    right(|platform| is_right(platform, &Seen::default()), platform)
}

/// Returns whether the data is right if the stream on which the message is sent waits for no other stream.
pub(crate) fn arrives_without_the_wait(driver: Arc<dyn Driver>) -> Result<bool, Failed> {
    let sends_on = Seen::default();
    let noted = sends_on.clone();
    let sends = move |stream, _| all(&noted).contains(&stream);
    let broken = Arc::new(DropWaits::when(driver, sends));
    let unchecked = Platform::builder().race_check(false).driver(broken.clone())?;
    let right = is_right(&unchecked, &sends_on);
    let raced = !unchecked.take_races().is_empty();
    // On a GPU, a writer may be complete before the stream would wait for it.
    if broken.dropped() == 0 {
        return Err(Failed::msg("the stream has waited for no writer"));
    }
    match right {
        Err(failure) if matches!(failure.downcast_ref(), Some(Error::Races(_))) => Ok(false),
        right => Ok(right? && !raced),
    }
}
