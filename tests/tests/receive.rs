//! How an operator comes to its internal stream, and what it can do without one.
#![allow(missing_docs, reason = "a test binary")]

#[path = "receive/uses.rs"]
mod uses;

use std::process::ExitCode;
use std::sync::Arc;

use streamflow::driver::{Call, Driver, StreamLabel};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::seen::{self, all, note};
use streamflow_tests::setup::recorded;
use streamflow_tests::tensors::{LEN, SLOW, Sink, Tx, holds};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

fn main() -> ExitCode {
    let suite = Suite::new()
        .ordered("an_exhausted_pool_and_or_adopt", |platform| adopts(platform, Way::OrAdopt))
        .ordered("allocation_declined", |platform| adopts(platform, Way::Adopt))
        .ordered("without_a_pool", adopts_without_a_pool)
        .ordered("no_stream_and_or_default", or_default)
        .both("an_exhausted_pool_alone", exhausted)
        .both("no_stream_and_no_default", nothing)
        .both("sync_to_default_where_asked", to_default)
        .both("a_wait_that_fails_is_an_error_of_receive", failing_wait);
    uses::add(suite).run()
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Allocate,
    OrAdopt,
    Adopt,
}

type Seen = seen::Seen<bool>;

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

macro_rules! joined {
    ($name:ident, $max:expr, $($streams:tt)*) => {
        graph! {
            struct $name(way: Way, adopts: bool, seen: Seen) {
                const SOURCES: CudaStreamPool = CudaStreamPool::new().max_size(2);
                const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size($max);
                #[streams(SOURCES)] #[when(count(4))] let one: Tx = Tx::new(0.0, true, SLOW);
                #[streams(SOURCES)] #[when(count(4))] let other: Tx = Tx::new(100.0, true, SLOW);
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
    done: Tensor<f32>,
}

impl Compute for Holder {
    fn start(&mut self, _: HolderStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream_named("held").map(drop)
    }

    fn compute(&mut self, io: HolderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream_named("held")?;
        io.done.set_cuda_stream(&stream).emit(cx.tensor([1], &stream)?)
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
    Ok(all(&seen) == [true; 8] && all(&roomy) == [true; 8])
}

fn adopts_without_a_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    for way in [Way::Allocate, Way::OrAdopt, Way::Adopt] {
        NoPool::new(platform, way, true, seen.clone())?.run()?;
    }
    Ok(all(&seen) == [true; 3 * 8])
}

fn exhausted(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Exhausted::new(platform, Way::Allocate, false, Seen::default())?;
    let text = check_error("an exhausted pool", graph.run(), |_| true)?;
    check_text(&text, &["`STREAMS` is exhausted", "`rx` needs", "all 1", "`holder.held`"])
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

/// Takes its pool's only stream for something else.
#[operator]
struct OrAdopt {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for OrAdopt {
    fn compute(&mut self, io: OrAdoptIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream_named("held")?;
        io.image.receive().or_adopt().receive_cuda_stream(cx).map(drop)
    }
}

graph! {
    struct UnnamedAndExhausted {
        const ONE: CudaStreamPool = CudaStreamPool::new().max_size(1);
        #[when(count(1))] let tx: Tx = Tx::new(0.0, false, 0);
        #[streams(ONE)] let rx: OrAdopt = OrAdopt::new();
        tx.image >> rx.image;
    }
}

graph! {
    struct Unnamed(or_default: bool, seen: Seen) {
        #[when(count(4))] let tx: Tx = Tx::new(0.0, false, SLOW);
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
    Ok(all(&seen) == [true; 8])
}

fn nothing(platform: &Platform) -> Result<(), Failed> {
    let run = Unnamed::new(platform, false, Seen::default())?.run();
    let text = check_error("nothing to adopt", run, |_| true)?;
    check_text(&text, &["`rx` has no stream: ", "`adopt()`", "`.or_default()`"])?;
    let run = UnnamedAndExhausted::new(platform)?.run();
    let text = check_error("nothing to adopt, nothing to allocate", run, |_| true)?;
    let parts = ["`rx` has no stream, and its pool `ONE` is exhausted: ", "`.or_default()`"];
    check_text(&text, &parts)
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
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut harness = OperatorHarness::new(&platform, ToDefault::new(asked))?;
        let mut image = platform.tensor([LEN], harness.stream())?;
        harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, SLOW))?;
        harness.push(|ports| &mut ports.image, image)?;
        recorder.clear();
        harness.tick()?;
        let is_wait =
            |call: &Call| matches!(call, Call::WaitEvent { stream: StreamLabel::Default(_), .. });
        let waits = recorder.calls().iter().filter(|call| is_wait(call)).count();
        check(waits == usize::from(asked), || format!("asked {asked}: {waits} waits"))?;
        harness.stop()?;
    }
    Ok(())
}

/// Receives two messages; the wait for the second fails.
#[operator]
struct SecondFails {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    failing: Arc<FailNth>,
    received: bool,
}

impl Compute for SecondFails {
    fn compute(&mut self, io: SecondFailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.receive().receive_cuda_stream(cx)?;
        self.failing.fail_next();
        let received = io.b.receive().receive_cuda_stream(cx).map(drop);
        self.received = received.is_ok();
        received
    }
}

graph! {
    struct SecondWaitFails(failing: Arc<FailNth>) {
        #[when(count(1))] let a: Tx = Tx::new(0.0, true, SLOW);
        #[when(count(1))] let b: Tx = Tx::new(0.0, true, SLOW);
        let rx: SecondFails = SecondFails::new(failing, true);
        a.image >> rx.a;
        b.image >> rx.b;
    }
}

/// The wait fails in the first tick, where the message is received, and the run ends with it.
fn failing_wait(platform: &Platform) -> Result<(), Failed> {
    let driver = platform.driver().clone();
    let failing = Arc::new(FailNth::new(driver, CallKind::WaitEvent, u64::MAX));
    let built = Platform::from_driver(failing.clone() as Arc<dyn Driver>)?;
    let mut graph = SecondWaitFails::new(&built, failing)?;
    let text = check_error("a wait", graph.run(), |_| true)?;
    check(!graph.rx().received, || "the message was received without its wait".into())?;
    check_text(&text, &["`rx`", "`compute`, tick 0", "wait_event", "INJECTED"])
}
