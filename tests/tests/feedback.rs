//! Feedback edges, whose messages arrive in the next tick.

use streamflow::prelude::*;
use streamflow::stream::Assign;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

const LEN: usize = 1003;
const SLOW: u64 = 5_000_000;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("host_data_travels_round_a_cycle", numbers_go_round)
        .ordered("an_image_travels_round_a_cycle", image_goes_round)
        .ordered("a_node_changes_its_own_feedback_in_place", in_place)
        .both("running_again_after_a_failure_lost_feedback_is_an_error", lost)
}

/// An operator that makes Fibonacci numbers by two feedback edges.
#[operator]
struct Sum {
    #[input]
    tick: u64,
    #[input]
    before: u64,
    #[input]
    now: u64,
    #[output]
    old: u64,
    #[output]
    sum: u64,
    fails_in: u64,
    seen: Seen<u64>,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        let tick = io.tick.receive().into_data();
        let (before, now) = (io.before.receive().into_data(), io.now.receive().into_data());
        push_seen(&self.seen, now);
        io.old.emit(now)?;
        io.sum.emit(before + now)?;
        // The tick fails after it has emitted both messages, so neither is sent.
        if tick == self.fails_in { Err(Failure::msg("injected")) } else { Ok(()) }
    }
}

graph! {
    struct Round(count: u64, first: u64, fails_in: u64, seen: Seen<u64>) {
        #[when(count(count))] let ticks: Counter = Counter::new();
        let sum: Sum = Sum::new(fails_in, seen);
        ticks.number >> sum.tick;
        #[feedback(initial = 0)]
        sum.old >> sum.before;
        #[feedback(initial = first)]
        sum.sum >> sum.now;
    }
}

fn numbers_go_round(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Round::new(platform, 4, 1, u64::MAX, seen.clone())?;
    graph.run()?;
    // A message on a feedback edge stays there between runs, so the second run continues the sequence.
    graph.run()?;
    check(all(&seen) == [1, 1, 2, 3, 5, 8, 13, 21], || format!("{seen:?}"))?;
    check_text(&Round::diagram().dot(), &["\"sum\" -> \"sum\" [label=\"sum → now (next tick)\"]"])
}

fn lost(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Round::new(platform, 4, 1, 2, Seen::default())?;
    check_error("tick 2", graph.run(), |_| true)?;
    let text = check_error("again", graph.run(), |_| true)?;
    check_text(&text, &["`sum.old >> sum.before`", "make a new graph"])
}

/// An operator that adds one by a slow kernel.
#[operator]
struct Step {
    #[input]
    tick: u64,
    #[input]
    image: Tensor<f32>,
    #[output]
    next: Tensor<f32>,
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tick.discard();
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut next = cx.tensor([LEN], &stream)?;
        let value = cx.download(&image, &stream)?.wait_blocking()?.iter().sum::<f32>();
        stream.launch::<slow_fill>(LEN, (&mut next, value / LEN as f32 + 1.0, SLOW))?;
        io.next.emit(next)
    }
}

/// An operator that checks the image, and sends it on unchanged.
#[operator]
struct Look {
    #[input]
    image: Tensor<f32>,
    #[output]
    same: Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Look {
    fn compute(&mut self, io: LookIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, cx.download(&image, &stream)?.wait_blocking()?[LEN - 1]);
        io.same.emit(image)
    }
}

/// Returns a tensor that is still being written when the graph receives it.
fn first(platform: &Platform, value: f32) -> Result<Tensor<f32>> {
    let pool = platform.stream_pool("the first", &CudaStreamPool::new())?;
    let stream = pool.allocate("the first")?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.launch::<slow_fill>(LEN, (&mut image, value, SLOW))?;
    Ok(image)
}

/// A pool with a stream for each operator. On a shared stream, nothing would need an order.
const OWN: CudaStreamPool = CudaStreamPool::new().assign(Assign::PerOperator);

graph! {
    struct ImageRound(seen: Seen<f32>) {
        const STREAMS: CudaStreamPool = OWN;
        #[when(count(5))] let ticks: Counter = Counter::new();
        #[streams(STREAMS)] let step: Step = Step::new();
        #[streams(STREAMS)] let look: Look = Look::new(seen);
        ticks.number >> step.tick;
        step.next >> look.image;
        #[feedback(initial = first(platform, 7.0)?)]
        look.same >> step.image;
    }
}

fn image_goes_round(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    ImageRound::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [8.0, 9.0, 10.0, 11.0, 12.0])
}

/// An operator that adds one to its own feedback message in place, and sends a copy of it.
#[operator]
struct Accumulate {
    #[input]
    tick: u64,
    #[input]
    sum: Tensor<f32>,
    #[output]
    next: Tensor<f32>,
    #[output]
    shown: Tensor<f32>,
}

impl Compute for Accumulate {
    fn compute(&mut self, io: AccumulateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tick.discard();
        let (mut sum, stream) = io.sum.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(LEN, (&mut sum,))?;
        let mut shown = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut shown, &sum, SLOW))?;
        io.shown.emit(shown)?;
        io.next.emit(sum)
    }
}

graph! {
    struct InPlace(seen: Seen<f32>) {
        const STREAMS: CudaStreamPool = OWN;
        #[when(count(5))] let ticks: Counter = Counter::new();
        #[streams(STREAMS)] let accumulate: Accumulate = Accumulate::new();
        #[streams(STREAMS)] let look: Look = Look::new(seen);
        ticks.number >> accumulate.tick;
        #[feedback(initial = first(platform, 100.0)?)]
        accumulate.next >> accumulate.sum;
        accumulate.shown >> look.image;
        look.same >> _;
    }
}

fn in_place(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    InPlace::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [101.0, 102.0, 103.0, 104.0, 105.0])
}
