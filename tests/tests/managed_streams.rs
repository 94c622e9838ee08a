//! Streams that an operator manages itself: by hand, by name, or set on an output.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::unordered_data;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::seen::{self, all, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, Sink, Tx, holds};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .ordered("streams_can_be_synchronized_by_hand", by_hand)
        .both("data_of_a_stream_that_was_not_synchronized_is_an_error", left_out)
        .ordered("unordered_data_is_ordered_by_its_uses", unordered)
        .both("a_named_stream_needs_a_pool_with_a_free_stream", names)
        .both(
            "set_cuda_stream_on_one_output_leaves_the_other_on_the_internal_stream",
            one_output_set,
        )
}

type Seen = seen::Seen<bool>;

/// An operator that manages its streams itself, with `receive_cuda_streams`, `synchronize_streams` and
/// `set_cuda_stream`.
#[operator(streams(work))]
struct ByHand {
    #[input]
    a: Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    forgets_b: bool,
    seen: Seen,
}

impl Compute for ByHand {
    fn compute(&mut self, io: ByHandIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive(), io.b.receive());
        let work = cx.allocate_cuda_stream(io.work)?;
        // `synchronize_streams` skips its own target, and streams that are absent.
        let of_b = b.streams().filter(|_| !self.forgets_b);
        let after = cx.synchronize_streams(a.streams().chain(of_b).chain([None]), &work)?;
        let (mut a, b) = (a.into_synchronized_data(&after)?, b.into_synchronized_data(&after)?);
        push_seen(&self.seen, holds(cx, &a, &work, cx.tick() as f32)?);
        after.target().launch::<slow_copy>(LEN, (&mut a, b, SLOW))?;
        io.out.set_cuda_stream(&work).emit(a)
    }
}

graph! {
    struct Hand(b_is_named: bool, forgets_b: bool, seen: Seen) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5);
        #[streams(STREAMS)] #[when(count(4))] let one: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)] #[when(count(4))] let other: Tx = Tx::new(0.0, b_is_named, SLOW);
        #[streams(STREAMS)] let rx: ByHand = ByHand::new(forgets_b, seen.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(true, seen);
        one.image >> rx.a;
        other.image >> rx.b;
        rx.out >> sink.image;
    }
}

fn by_hand(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    for b_is_named in [true, false] {
        Hand::new(platform, b_is_named, false, seen.clone())?.run()?;
    }
    // Data of a message without a stream is ordered in any case.
    Hand::new(platform, false, true, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 3 * 8])
}

fn left_out(platform: &Platform) -> Result<(), Failed> {
    // This layer drops all waits, so the result does not depend on whether the producer is already complete.
    let broken = Arc::new(DropWaits::all(platform.driver().clone()));
    let platform = Platform::builder().driver(broken)?;
    let run = Hand::new(&platform, true, true, Seen::default())?.run();
    let text = check_error("a stream left out", run, |_| true)?;
    check_text(&text, &["`rx.b`", "not passed to `synchronize_streams`"])
}

/// An operator that opens its input with `into_unordered_data`, and works on a stream that has not waited for the
/// message.
#[operator(streams(work))]
struct Unordered {
    #[input]
    image: &Tensor<f32>,
    seen: Seen,
}

impl Compute for Unordered {
    fn compute(&mut self, io: UnorderedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = unordered_data(io.image.receive());
        let work = cx.allocate_cuda_stream(io.work)?;
        push_seen(&self.seen, holds(cx, image, &work, cx.tick() as f32)?);
        Ok(())
    }
}

graph! {
    struct Opened(seen: Seen) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(STREAMS)] #[when(count(4))] let one: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)] let opens: Unordered = Unordered::new(seen);
        one.image >> opens.image;
    }
}

fn unordered(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Opened::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 4])
}

/// An operator that allocates streams by names that are made at run time. It declares a stream, since an operator
/// that uses a pool must declare one.
#[operator(streams(never_allocated))]
struct Names {
    #[input]
    count: u64,
}

impl Compute for Names {
    fn compute(&mut self, io: NamesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        for index in 0..io.count.receive().into_data() {
            cx.allocate_cuda_stream_named(&format!("s{index}"))?;
        }
        Ok(())
    }
}

#[operator]
struct Number {
    #[output]
    number: u64,
    value: u64,
}

impl Compute for Number {
    fn compute(&mut self, io: NumberIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit(self.value)
    }
}

macro_rules! named {
    ($name:ident, $($streams:tt)*) => {
        graph! {
            struct $name(count: u64) {
                #[when(count(2))] let number: Number = Number::new(count);
                $($streams)* let names: Names = Names::new();
                number.number >> names.count;
            }
        }
    };
}

named!(NamesWithoutPool, #[streams(none)]);
named!(NamesOfDefaultPool,);

graph! {
    struct NamesOfTwo(count: u64) {
        const TWO: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[when(count(2))] let number: Number = Number::new(count);
        #[streams(TWO)] let names: Names = Names::new();
        number.number >> names.count;
    }
}

fn names(platform: &Platform) -> Result<(), Failed> {
    NamesOfTwo::new(platform, 2)?.run()?;
    NamesOfDefaultPool::new(platform, 20)?.run()?;
    let text = check_error("three of two", NamesOfTwo::new(platform, 3)?.run(), |_| true)?;
    check_text(&text, &["`TWO` is exhausted", "`names.s2`", "all 2", "`names.s0`, `names.s1`"])?;
    let run = NamesWithoutPool::new(platform, 1)?.run();
    let text = check_error("no pool", run, |_| true)?;
    check_text(&text, &["`names` needs a pool for its stream `s0`", "`#[streams(none)]`"])
}

/// An operator that sends at two outputs, at one of them on a chosen stream.
#[operator(streams(extra))]
struct TwoOutputs {
    #[input]
    image: &Tensor<f32>,
    #[output]
    chosen: Tensor<f32>,
    #[output]
    internal: Tensor<f32>,
}

impl Compute for TwoOutputs {
    fn compute(&mut self, io: TwoOutputsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let extra = cx.allocate_cuda_stream(io.extra)?;
        let (mut a, mut b) = (cx.tensor([LEN], &extra)?, cx.tensor([LEN], &stream)?);
        extra.launch::<slow_copy>(LEN, (&mut a, image, 0))?;
        stream.launch::<slow_copy>(LEN, (&mut b, image, 0))?;
        io.chosen.set_cuda_stream(&extra).emit(a)?;
        io.internal.emit(b)
    }
}

/// Checks an output on which a stream was set. In Holoscan the other output then sends no stream, and the stream
/// stays set for ever.
fn one_output_set(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, TwoOutputs::new())?;
    let mut before = None;
    for _ in 0..3 {
        let mut image = platform.tensor([LEN], harness.stream())?;
        harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, 0))?;
        harness.push(|ports| &mut ports.image, image)?;
        check(harness.tick()?, || "the operator was not ready".into())?;
        let chosen = harness.take(|ports| &mut ports.chosen).and_then(|message| message.sent);
        let internal = harness.take(|ports| &mut ports.internal).and_then(|message| message.sent);
        let (Some(chosen), Some(internal)) = (chosen, internal) else {
            return Err(Failed::msg("an output's message carries no stream"));
        };
        let now = (chosen.stream(), internal.stream());
        check(now.0 != now.1 && before.is_none_or(|before| before == now), || format!("{now:?}"))?;
        before = Some(now);
    }
    Ok(harness.stop()?)
}
