//! How graphs end, and how a tick must handle its messages.

mod counting;
mod edges;
mod failed;
mod nobody;
mod operators;
mod reports;
mod stalls;
mod statistics;
mod timing;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::message::{Metadata, Value};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow::time::Timestamp;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_error, check_text, stalled};

pub(crate) fn suite() -> Suite {
    let suite = nobody::add(timing::add(reports::add(stalls::add(Suite::new()))));
    statistics::add(failed::add(edges::add(suite)))
        .both("a_message_that_is_left_forever_stalls_the_run", left_forever)
        .both("an_unhandled_message_is_an_error", not_handled)
        .both("sources_of_different_counts_stall_their_join", different_counts)
        .both("each_of_two_sinks_waits_only_for_its_own_stream", two_sinks)
        .both("adopting_without_a_stream_is_an_error", nothing_to_adopt)
        .both("an_emitted_message_carries_the_metadata_of_all_inputs", metadata)
        .both("take_returns_only_messages_of_the_last_tick", harness)
}

/// An operator that leaves its first message in the queue until a second one arrives, which may never happen.
#[operator]
struct Pair {
    #[input]
    a: u64,
    #[input(optional)]
    b: u64,
    seen: Arc<AtomicU64>,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        match io.b.receive().into_data() {
            Some(_) => {
                io.a.receive().into_data();
                self.seen.fetch_add(1, Ordering::Relaxed);
            }
            None => io.a.leave(),
        }
        Ok(())
    }
}

graph! {
    struct Unequal(first: u64, second: u64, seen: Arc<AtomicU64>) {
        #[when(count(first))]
        let a: Counter = Counter::new();
        #[when(count(second))]
        let b: Counter = Counter::new();
        let pair: Pair = Pair::new(seen);
        a.number >> pair.a;
        b.number >> pair.b;
    }
}

fn left_forever(platform: &Platform) -> Result<(), Failed> {
    let seen = Arc::default();
    let full = "`a`, after 3 of 5 ticks, waits for room in `a.number >> pair.a`, which is full (1 of 1) → `pair`, after";
    let left = "ticks, runs, but leaves the message of `a.number >> pair.a`";
    let text = stalled(Unequal::new(platform, 5, 2, Arc::clone(&seen))?.run())?;
    check_text(&text, &[full, left])?;
    let text = stalled(greedy(Unequal::new(platform, 5, 2, Arc::clone(&seen))?)?.run())?;
    check_text(&text, &[full, "→ `pair`, after 4 ticks, runs, but leaves the message of"])?;
    check(seen.load(Ordering::Relaxed) == 4, || format!("{seen:?} pairs, not 2 and 2"))
}

#[operator]
struct Both {
    #[input]
    a: u64,
    #[input]
    b: u64,
    seen: Arc<AtomicU64>,
    handles_b: bool,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.receive().into_data();
        if self.handles_b {
            io.b.discard();
        }
        self.seen.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct Joined(first: u64, second: u64, seen: Arc<AtomicU64>, handles_b: bool) {
        #[when(count(first))]
        let a: Counter = Counter::new();
        #[when(count(second))]
        let b: Counter = Counter::new();
        let both: Both = Both::new(seen, handles_b);
        a.number >> both.a;
        b.number >> both.b;
    }
}

fn not_handled(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Joined::new(platform, 3, 3, Arc::default(), false)?;
    let text = check_error("an input forgotten", graph.run(), |_| true)?;
    check_text(&text, &["`both.b`", "neither received, left nor discarded", "tick 0"])
}

fn different_counts(platform: &Platform) -> Result<(), Failed> {
    let seen = Arc::default();
    let mut graph = Joined::new(platform, 2, 100, Arc::clone(&seen), true)?;
    for runs in 1..3 {
        let text = stalled(graph.run())?;
        let chain = [
            "`b`, after 3 of 100 ticks, waits for room in `b.number >> both.b`",
            "→ `both`, after 2 ticks, has the message of `b.number >> both.b`, but waits for a message of `a.number >> both.a`",
            "→ `a` is done: its `count` of 2 is reached",
        ];
        check_text(&text, &chain)?;
        let seen = seen.load(Ordering::Relaxed);
        check(seen == 2 * runs, || format!("{seen} joins after {runs} runs"))?;
    }
    Ok(())
}

/// A source that fills a buffer, by a slow or a fast kernel.
#[operator(streams(fill))]
struct Filler {
    #[output]
    data: Buffer<f32>,
    cycles: u64,
}

impl Compute for Filler {
    fn compute(&mut self, io: FillerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut data = cx.buffer(37, &stream)?;
        stream.launch::<slow_fill>(37, (&mut data, cx.tick() as f32, self.cycles))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Sink {
    #[input]
    data: &Buffer<f32>,
    sum: Arc<AtomicU64>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let download = cx.download(data, &stream)?;
        let expected = cx.tick() as f32;
        let right = download.wait_blocking()?.iter().all(|&x| x == expected);
        self.sum.fetch_add(u64::from(right), Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct TwoSinks(count: u64, sum: Arc<AtomicU64>) {
        const POOL: CudaStreamPool = CudaStreamPool::new().max_size(4);
        #[streams(POOL)] #[when(count(count))]
        let slow: Filler = Filler::new(2_000_000);
        #[streams(POOL)] #[when(count(count))]
        let fast: Filler = Filler::new(0);
        #[streams(POOL)] #[when(stream_done(data))]
        let one: Sink = Sink::new(sum.clone());
        #[streams(POOL)] #[when(stream_done(data))]
        let other: Sink = Sink::new(sum.clone());
        slow.data >> one.data;
        fast.data >> other.data;
    }
}

fn two_sinks(platform: &Platform) -> Result<(), Failed> {
    let sum = Arc::default();
    TwoSinks::new(platform, 5, Arc::clone(&sum))?.run()?;
    check(sum.load(Ordering::Relaxed) == 10, || format!("{sum:?} right ticks of 10"))
}

/// An operator without a stream of its own that receives an optional input first.
#[operator]
struct Adopts {
    #[input(optional)]
    extra: &Buffer<f32>,
    #[input]
    data: &Buffer<f32>,
}

impl Compute for Adopts {
    fn compute(&mut self, io: AdoptsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, _) = io.extra.receive().receive_cuda_stream(cx)?;
        let (_, _) = io.data.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Adopting() {
        #[when(count(1))]
        let source: Filler = Filler::new(0);
        #[streams(none)]
        let adopts: Adopts = Adopts::new();
        source.data >> adopts.data;
    }
}

fn nothing_to_adopt(platform: &Platform) -> Result<(), Failed> {
    let text = check_error("no stream yet", Adopting::new(platform)?.run(), |_| true)?;
    check_text(&text, &["`adopts` has no stream", "`#[streams(none)]`", "receive a required input"])
}

#[operator]
struct Join {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[output]
    sum: u64,
    #[output]
    product: u64,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        io.sum.emit(a + b)?;
        io.product.emit(a * b)
    }
}

fn metadata(platform: &Platform) -> Result<(), Failed> {
    let mut join = OperatorHarness::new(platform, Join::new())?;
    let mut of_a = Metadata::default();
    of_a.set_acquired(Timestamp(20));
    of_a.set("gain", Value::Float(2.0));
    let mut of_b = Metadata::default();
    of_b.set_acquired(Timestamp(10));
    join.push_with(|ports| &mut ports.a, 3, of_a)?;
    join.push_with(|ports| &mut ports.b, 4, of_b)?;
    check(join.tick()?, || "the operator was not ready".into())?;
    for (value, emitted) in
        [(7, join.take(|ports| &mut ports.sum)), (12, join.take(|ports| &mut ports.product))]
    {
        let Some(emitted) = emitted else { return Err(Failed::msg("nothing was emitted")) };
        let carried = (emitted.metadata.acquired(), emitted.metadata.get("gain").cloned());
        let expected = (Some(Timestamp(10)), Some(Value::Float(2.0)));
        check(*emitted.message == value && carried == expected, || format!("{emitted:?}"))?;
    }
    Ok(())
}

/// An operator that emits only in even ticks.
#[operator]
struct Now {
    #[input]
    on: u64,
    #[output]
    a: u64,
    #[output]
    b: u64,
}

impl Compute for Now {
    fn compute(&mut self, io: NowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let on = io.on.receive().into_data();
        if cx.tick().is_multiple_of(2) {
            io.a.emit(on)?;
            io.b.emit(on)?;
        }
        Ok(())
    }
}

fn harness(platform: &Platform) -> Result<(), Failed> {
    let mut now = OperatorHarness::new(platform, Now::new())?;
    check(!now.tick()?, || "the operator ran without a message".into())?;
    for tick in 0..4 {
        now.push(|ports| &mut ports.on, tick)?;
        check(now.tick()?, || "the operator was not ready".into())?;
        let (a, b) = (now.take(|ports| &mut ports.a), now.take(|ports| &mut ports.b));
        check(a.is_some() == tick.is_multiple_of(2), || format!("tick {tick} left {a:?}"))?;
        if let (Some(a), Some(b)) = (a, b) {
            let same = a.metadata.acquired() == b.metadata.acquired();
            check(same, || "one tick has two acquisition times".into())?;
        }
        // The harness drops messages that were not taken before its next tick.
        now.push(|ports| &mut ports.on, tick)?;
        now.push(|ports| &mut ports.on, tick)?;
        now.tick()?;
        now.tick()?;
    }
    now.stop()?;
    Ok(())
}
