//! How an operator comes to its internal stream, and what it can do without one.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use streamflow::driver::{Call, Recorder, StreamName};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

const LEN: usize = 1003;
const SLOW: u64 = 20_000_000;

fn main() -> ExitCode {
    Suite::new()
        .ordered("an_exhausted_pool_and_or_adopt", |platform| adopts(platform, Way::OrAdopt))
        .ordered("allocation_declined", |platform| adopts(platform, Way::Adopt))
        .ordered("without_a_pool", adopts_without_a_pool)
        .ordered("no_stream_and_or_default", or_default)
        .ordered("streams_synchronized_by_hand", by_hand)
        .both("an_exhausted_pool_alone", exhausted)
        .both("no_stream_and_no_default", nothing)
        .both("a_stream_that_was_left_out", left_out)
        .both("a_name_without_a_pool_and_one_too_many", names)
        .both("sync_to_default_where_asked", to_default)
        .both("one_output_set_the_other_internal", one_output_set)
        .run()
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Allocate,
    OrAdopt,
    Adopt,
}

type Seen = Arc<Mutex<Vec<bool>>>;

fn note(seen: &Seen, right: bool) {
    if let Ok(mut seen) = seen.lock() {
        seen.push(right);
    }
}

fn all_right(seen: &Seen, ticks: usize) -> bool {
    seen.lock().is_ok_and(|seen| *seen == vec![true; ticks])
}

/// A tensor full of `first + tick`, slowly; on the default stream if it has no stream of its own.
#[operator(streams(tx))]
struct Tx {
    #[output]
    image: Tensor<f32>,
    first: f32,
    own: bool,
}

impl Compute for Tx {
    fn compute(&mut self, io: TxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = if self.own { cx.allocate_cuda_stream(io.tx)? } else { cx.default_stream()? };
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, self.first + cx.tick() as f32, SLOW))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

fn holds(
    cx: &ExecutionContext,
    image: &Tensor<f32>,
    stream: &Stream<'_>,
    value: f32,
) -> Result<bool> {
    Ok(cx.download(image, stream)?.wait_blocking()?.iter().all(|&x| x == value))
}

/// Copies the first of its inputs.
#[operator]
struct Rx {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    way: Way,
    /// Whether the internal stream is to be that of `a`'s producer.
    adopts: bool,
    seen: Seen,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive(), io.b.receive());
        let named: Vec<_> = a.streams().flatten().collect();
        let ((a, stream), (b, second)) = match self.way {
            Way::Allocate => (a.receive_cuda_stream(cx)?, b.receive_cuda_stream(cx)?),
            Way::OrAdopt => {
                (a.or_adopt().receive_cuda_stream(cx)?, b.or_adopt().receive_cuda_stream(cx)?)
            }
            Way::Adopt => (a.adopt().receive_cuda_stream(cx)?, b.adopt().receive_cuda_stream(cx)?),
        };
        let is_named = named.iter().any(|name| name.is(&stream));
        let right = stream.raw() == second.raw() && is_named == self.adopts;
        // First: it waits, and the copy is to be under way when the sink looks.
        note(&self.seen, right && holds(cx, b, &stream, 100.0 + cx.tick() as f32)?);
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut out, a, SLOW))?;
        io.out.emit(out)
    }
}

/// What it receives names the stream that its producer found, or none.
#[operator]
struct Sink {
    #[input]
    image: &Tensor<f32>,
    named: bool,
    seen: Seen,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let named = image.streams().any(|name| name.is_some());
        let (image, stream) = image.receive_cuda_stream(cx)?;
        note(&self.seen, named == self.named && holds(cx, image, &stream, cx.tick() as f32)?);
        Ok(())
    }
}

macro_rules! joined {
    ($name:ident, $max:expr, $($streams:tt)*) => {
        graph! {
            struct $name(way: Way, adopts: bool, seen: Seen) {
                const SOURCES: CudaStreamPool = CudaStreamPool::new().max_size(2);
                const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size($max);
                #[streams(SOURCES)] #[when(count(4))] let one: Tx = Tx::new(0.0, true);
                #[streams(SOURCES)] #[when(count(4))] let other: Tx = Tx::new(100.0, true);
                // Holds the only stream of the pool, where it has but one.
                #[streams(STREAMS)] #[when(count(1))] let holder: Holder = Holder::new();
                $($streams)* let rx: Rx = Rx::new(way, adopts, seen.clone());
                let sink: Sink = Sink::new(true, seen);
                one.image >> rx.a;
                other.image >> rx.b;
                rx.out >> sink.image;
                holder.done >> _;
            }
        }
    };
}

/// Takes a stream that no check while compiling counts.
#[operator]
struct Holder {
    #[output]
    done: bool,
}

impl Compute for Holder {
    fn start(&mut self, _: HolderStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream_named("held").map(drop)
    }

    fn compute(&mut self, io: HolderIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.done.emit(true)
    }
}

joined!(Exhausted, 1, #[streams(STREAMS)]);
joined!(Room, 2, #[streams(STREAMS)]);
joined!(NoPool, 1, #[streams(none)]);

/// The first stream found becomes the internal one, for later ports and ticks too; without `adopt()` a
/// pool with room gives another one.
fn adopts(platform: &Platform, way: Way) -> Result<bool> {
    let (seen, roomy) = (Seen::default(), Seen::default());
    Exhausted::new(platform, way, true, seen.clone())?.run()?;
    Room::new(platform, way, way == Way::Adopt, roomy.clone())?.run()?;
    Ok(all_right(&seen, 8) && all_right(&roomy, 8))
}

fn adopts_without_a_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    for way in [Way::Allocate, Way::OrAdopt, Way::Adopt] {
        NoPool::new(platform, way, true, seen.clone())?.run()?;
    }
    Ok(all_right(&seen, 3 * 8))
}

fn exhausted(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Exhausted::new(platform, Way::Allocate, false, Seen::default())?;
    let text = check_error("an exhausted pool", graph.run(), |_| true)?;
    check_text(&text, &["`STREAMS` is exhausted", "`rx` asked", "all 1", "`holder.held`"])
}

/// Works where its message was sent, or on the default stream.
#[operator]
struct OnDefault {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    or_default: bool,
    seen: Seen,
}

impl Compute for OnDefault {
    fn compute(&mut self, io: OnDefaultIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive().adopt();
        let (image, stream) = if self.or_default {
            image.or_default().receive_cuda_stream(cx)?
        } else {
            image.receive_cuda_stream(cx)?
        };
        note(&self.seen, stream.raw() == cx.default_stream()?.raw());
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut out, image, SLOW))?;
        io.out.emit(out)
    }
}

graph! {
    struct Unnamed(or_default: bool, seen: Seen) {
        #[when(count(4))] let tx: Tx = Tx::new(0.0, false);
        let rx: OnDefault = OnDefault::new(or_default, seen.clone());
        let sink: Sink = Sink::new(false, seen);
        tx.image >> rx.image;
        rx.out >> sink.image;
    }
}

/// Where no message comes with a stream, the default stream is used and no stream is named, but what
/// was written there is waited for.
fn or_default(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Unnamed::new(platform, true, seen.clone())?.run()?;
    Ok(all_right(&seen, 8))
}

fn nothing(platform: &Platform) -> Result<(), Failed> {
    let run = Unnamed::new(platform, false, Seen::default())?.run();
    let text = check_error("nothing to adopt", run, |_| true)?;
    check_text(&text, &["`rx` has no stream", "`adopt()`", "`.or_default()`"])
}

/// Manages its streams by itself: `receive_cuda_streams`, `synchronize_streams`, `set_cuda_stream`.
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
        // The target itself, and what is absent, are passed over.
        let of_b = b.streams().filter(|_| !self.forgets_b);
        let after = cx.synchronize_streams(a.streams().chain(of_b).chain([None]), &work)?;
        let (mut a, b) = (a.into_synchronized_data(&after)?, b.into_synchronized_data(&after)?);
        note(&self.seen, holds(cx, &a, &work, cx.tick() as f32)?);
        after.target().launch::<slow_copy>(LEN, (&mut a, b, SLOW))?;
        io.out.set_cuda_stream(&work).emit(a)
    }
}

graph! {
    struct Hand(b_is_named: bool, forgets_b: bool, seen: Seen) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5);
        #[streams(STREAMS)] #[when(count(4))] let one: Tx = Tx::new(0.0, true);
        #[streams(STREAMS)] #[when(count(4))] let other: Tx = Tx::new(0.0, b_is_named);
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
    // What names no stream is waited for in any case.
    Hand::new(platform, false, true, seen.clone())?.run()?;
    Ok(all_right(&seen, 3 * 8))
}

fn left_out(platform: &Platform) -> Result<(), Failed> {
    // Without it, whether the producer is done already would be a matter of luck.
    let broken = Arc::new(DropWaits::all(platform.driver().clone()));
    let platform = Platform::from_driver(broken)?;
    let run = Hand::new(&platform, true, true, Seen::default())?.run();
    let text = check_error("a stream left out", run, |_| true)?;
    check_text(&text, &["`rx.b`", "`synchronize_streams` was not given"])
}

/// Asks for streams by names that it makes up.
#[operator]
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
    check_text(&text, &["`names` asked for its stream `s0`", "`#[streams(none)]`"])
}

/// Receives with or without the default stream's wait.
#[operator]
struct ToDefault {
    #[input]
    image: &Tensor<f32>,
    to_default: bool,
}

impl Compute for ToDefault {
    fn compute(&mut self, io: ToDefaultIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        if self.to_default {
            image.sync_to_default().receive_cuda_stream(cx)?;
        } else {
            image.receive_cuda_stream(cx)?;
        }
        Ok(())
    }
}

/// The default stream waits where that was asked for, and nowhere else.
fn to_default(platform: &Platform) -> Result<(), Failed> {
    for asked in [false, true] {
        let recorder = Arc::new(Recorder::new(platform.driver().clone()));
        let platform = Platform::from_driver(recorder.clone())?;
        let mut harness = OperatorHarness::new(&platform, ToDefault::new(asked))?;
        let mut image = platform.tensor([LEN], harness.stream())?;
        harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, SLOW))?;
        harness.push(|ports| &mut ports.image, image)?;
        recorder.clear();
        harness.tick()?;
        let is_wait =
            |call: &Call| matches!(call, Call::WaitEvent { stream: StreamName::Default(_), .. });
        let waits = recorder.calls().iter().filter(|call| is_wait(call)).count();
        check(waits == usize::from(asked), || format!("asked {asked}: {waits} waits"))?;
        harness.stop()?;
    }
    Ok(())
}

/// Two outputs, one of them on a stream that was chosen.
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

/// In Holoscan the other output sends nothing then, and a stream that was set stays for ever.
fn one_output_set(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, TwoOutputs::new())?;
    let mut before = None;
    for _ in 0..3 {
        let mut image = platform.tensor([LEN], harness.stream())?;
        harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, 0))?;
        harness.push(|ports| &mut ports.image, image)?;
        check(harness.tick()?, || "not ready".into())?;
        let chosen = harness.take(|ports| &mut ports.chosen).and_then(|message| message.sent);
        let internal = harness.take(|ports| &mut ports.internal).and_then(|message| message.sent);
        let (Some(chosen), Some(internal)) = (chosen, internal) else {
            return Err(Failed::new("an output names no stream"));
        };
        let now = (chosen.stream(), internal.stream());
        check(now.0 != now.1 && before.is_none_or(|before| before == now), || format!("{now:?}"))?;
        before = Some(now);
    }
    Ok(harness.stop()?)
}
