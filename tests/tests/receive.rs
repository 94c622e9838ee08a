//! How an operator gets its internal stream, and what happens if there is none.

mod in_start;
mod other_streams;
mod ports;
mod sent_on;
mod uses;

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::{Call, StreamLabel};
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::seen::{self, all, push_seen};
use streamflow_tests::setup::recorded;
use streamflow_tests::tensors::{LEN, SLOW, Sink, Tx, holds};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    let suite = Suite::new()
        .ordered("or_adopt_adopts_a_stream_when_the_pool_is_exhausted", |platform| {
            adopts(platform, Receiving::OrAdopt)
        })
        .ordered("adopt_uses_the_first_messages_stream_for_all_ports", |platform| {
            adopts(platform, Receiving::Adopt)
        })
        .ordered("a_node_without_a_pool_adopts_its_messages_stream", adopts_without_a_pool)
        .ordered("or_default_uses_the_default_stream_where_no_message_has_one", or_default)
        .both("an_exhausted_pool_is_an_error_that_names_its_holders", exhausted)
        .both("no_stream_to_adopt_is_an_error_that_suggests_or_default", no_stream)
        .both("the_default_stream_waits_only_with_sync_to_default", to_default)
        .both("receive_returns_the_error_of_a_failed_wait", failing_wait);
    let suite = sent_on::add(ports::add(uses::add(suite)));
    other_streams::add(in_start::add(suite))
}

#[derive(Clone, Copy, PartialEq)]
enum Receiving {
    Allocate,
    OrAdopt,
    Adopt,
}

type Seen = seen::Seen<bool>;

/// An operator that copies the first of its inputs.
#[operator]
struct Rx {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    receiving: Receiving,
    /// Whether the internal stream should be the stream of the producer of `a`.
    adopts: bool,
    seen: Seen,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive(), io.b.receive());
        let named: Vec<_> = a.streams().flatten().collect();
        let ((a, stream), (b, second)) = match self.receiving {
            Receiving::Allocate => (a.receive_cuda_stream(cx)?, b.receive_cuda_stream(cx)?),
            Receiving::OrAdopt => {
                (a.or_adopt().receive_cuda_stream(cx)?, b.or_adopt().receive_cuda_stream(cx)?)
            }
            Receiving::Adopt => {
                (a.adopt().receive_cuda_stream(cx)?, b.adopt().receive_cuda_stream(cx)?)
            }
        };
        let is_named = named.iter().any(|name| name.is(&stream));
        let right = stream.raw() == second.raw() && is_named == self.adopts;
        // This check blocks the host, so it comes before the copy is queued: the copy must still run when the sink reads
        // it.
        push_seen(&self.seen, right && holds(cx, b, &stream, 100.0 + cx.tick() as f32)?);
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut out, a, SLOW))?;
        io.out.emit(out)
    }
}

macro_rules! joined {
    ($name:ident, $max:expr, $($streams:tt)*) => {
        graph! {
            struct $name(receiving: Receiving, adopts: bool, seen: Seen) {
                const SOURCES: CudaStreamPool = CudaStreamPool::new().max_size(2);
                const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size($max);
                #[streams(SOURCES)] #[when(count(4))] let one: Tx = Tx::new(0.0, true, SLOW);
                #[streams(SOURCES)] #[when(count(4))] let other: Tx = Tx::new(100.0, true, SLOW);
                // If the pool has only one stream, this operator holds it.
                #[streams(STREAMS)] #[when(count(1))] let holder: Holder = Holder::new();
                $($streams)* let rx: Rx = Rx::new(receiving, adopts, seen.clone());
                let sink: Sink = Sink::new(true, seen);
                one.image >> rx.a;
                other.image >> rx.b;
                rx.out >> sink.image;
                holder.done >> _;
            }
        }
    };
}

/// An operator that takes a stream that the checks of `graph!` do not count.
#[operator]
struct Holder {
    #[output]
    done: Tensor<f32>,
}

impl Compute for Holder {
    fn start(&mut self, _: HolderStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        Ok(cx.allocate_cuda_stream_named("held").map(drop)?)
    }

    fn compute(&mut self, io: HolderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream_named("held")?;
        io.done.set_cuda_stream(&stream).emit(cx.tensor([1], &stream)?)
    }
}

joined!(Exhausted, 1, #[streams(STREAMS)]);
joined!(Room, 2, #[streams(STREAMS)]);
joined!(NoPool, 1, #[streams(none)]);

/// Checks that the first stream that is received becomes the internal stream, also for later ports and ticks.
/// Without `adopt()`, a pool with a free stream gives another stream.
fn adopts(platform: &Platform, receiving: Receiving) -> Result<bool> {
    let (seen, roomy) = (Seen::default(), Seen::default());
    Exhausted::new(platform, receiving, true, seen.clone())?.run()?;
    Room::new(platform, receiving, receiving == Receiving::Adopt, roomy.clone())?.run()?;
    Ok(all(&seen) == [true; 8] && all(&roomy) == [true; 8])
}

fn adopts_without_a_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    for receiving in [Receiving::Allocate, Receiving::OrAdopt, Receiving::Adopt] {
        NoPool::new(platform, receiving, true, seen.clone())?.run()?;
    }
    Ok(all(&seen) == [true; 3 * 8])
}

fn exhausted(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Exhausted::new(platform, Receiving::Allocate, false, Seen::default())?;
    let text = check_error("an exhausted pool", graph.run(), |_| true)?;
    check_text(&text, &["`STREAMS` is exhausted", "`rx` needs", "all 1", "`holder.held`"])
}

/// An operator that works on its message's stream, or on the default stream.
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
        push_seen(&self.seen, stream.raw() == cx.default_stream()?.raw());
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut out, image, SLOW))?;
        io.out.emit(out)
    }
}

/// An operator that allocates its pool's only stream under another name.
#[operator]
struct OrAdopt {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for OrAdopt {
    fn compute(&mut self, io: OrAdoptIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream_named("held")?;
        Ok(io.image.receive().or_adopt().receive_cuda_stream(cx).map(drop)?)
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

/// Checks that `or_default` uses the default stream if no message carries a stream. The message that is sent
/// names no stream, and its consumer still waits for its data.
fn or_default(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Unnamed::new(platform, true, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 8])
}

fn no_stream(platform: &Platform) -> Result<(), Failed> {
    let run = Unnamed::new(platform, false, Seen::default())?.run();
    let text = check_error("nothing to adopt", run, |_| true)?;
    check_text(&text, &["`rx` has no stream: ", "`adopt()`", "`.or_default()`"])?;
    let run = UnnamedAndExhausted::new(platform)?.run();
    let text = check_error("nothing to adopt, nothing to allocate", run, |_| true)?;
    let parts = ["`rx` has no stream, and its pool `ONE` is exhausted: ", "`.or_default()`"];
    check_text(&text, &parts)
}

/// An operator that receives with or without `sync_to_default`.
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

/// Checks that the default stream waits for the message only with `sync_to_default`.
fn to_default(platform: &Platform) -> Result<(), Failed> {
    for syncs in [false, true] {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let mut harness = OperatorHarness::new(&platform, ToDefault::new(syncs))?;
        let mut image = platform.tensor([LEN], harness.stream())?;
        harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, SLOW))?;
        harness.push(|ports| &mut ports.image, image)?;
        recorder.clear();
        harness.tick()?;
        let is_wait =
            |call: &Call| matches!(call, Call::WaitEvent { stream: StreamLabel::Default(_), .. });
        let waits = recorder.calls().iter().filter(|call| is_wait(call)).count();
        check(waits == usize::from(syncs), || format!("sync_to_default {syncs}: {waits} waits"))?;
        harness.stop()?;
    }
    Ok(())
}

/// An operator that receives two messages. The wait for the second one fails.
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
        Ok(received?)
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

/// Checks that a wait that fails when the first tick receives its message ends the run with the error of the
/// wait.
fn failing_wait(platform: &Platform) -> Result<(), Failed> {
    let driver = platform.driver().clone();
    let failing = Arc::new(FailNth::new(driver, CallKind::WaitEvent, u64::MAX));
    let built = Platform::builder().driver(failing.clone() as Arc<dyn Driver>)?;
    let mut graph = SecondWaitFails::new(&built, failing)?;
    let text = check_error("a wait", graph.run(), |_| true)?;
    check(!graph.rx().received, || "the message was received without its wait".into())?;
    check_text(&text, &["`rx`", "`compute`, tick 0", "wait_event", "INJECTED"])
}
