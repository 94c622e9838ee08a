//! Drops a `Running` in each state of its run.
#![allow(clippy::panic, reason = "panics are what is tested")]

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{RunPhase, Running, Workers};
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::gate::{Gate, Gated, Latch, gate};

/// The time limit of a drop. A drop that takes longer is waiting for itself.
const WATCHDOG: Duration = Duration::from_secs(20);

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("dropping_a_run_waits_for_its_hooks_in_each_state", each_state)
        .both("dropping_a_run_that_nothing_has_observed_ends_it", at_once)
        .both("dropping_a_run_with_work_in_flight_waits_for_the_device", in_flight)
        .both("dropping_a_run_after_its_end_or_failure_drops_its_graph", after_the_end)
        .both("an_operator_may_drop_the_run_of_its_own_graph", by_its_operator)
        .host("an_operator_of_an_inner_graph_may_drop_the_outer_run", by_an_inner_operator)
        .both("a_panicking_thread_drops_its_run", while_panicking)
}

/// Counts its messages, and holds a token until it is dropped.
#[operator]
struct Sink {
    #[input]
    number: u64,
    _token: Arc<()>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct GatedSink(latch: Latch, token: Arc<()>) {
        let gated: Gated = Gated::new(latch);
        let sink: Sink = Sink::new(token);
        #[capacity(4)] gated.number >> sink.number;
    }
}

/// Brings a run to the given state. In some states a hook waits for the gate.
fn bring(state: u32, gate: &Gate, running: &Running<GatedSink>) -> Result<()> {
    let hooks = [("start", 0), ("compute", 0), ("compute", 1)];
    for (hook, tick) in hooks.into_iter().take(state as usize) {
        gate.pass(hook, tick)?;
    }
    match state {
        0 => gate.wait("start", 0),
        1 | 2 => gate.wait("compute", u64::from(state) - 1),
        3 => {
            gate.wait("compute", 2)?;
            Ok(running.pause()?)
        }
        _ => Ok(()),
    }
}

/// The drop begins while a hook waits. The hook goes on after that, and the graph is dropped when the drop returns.
fn each_state(platform: &Platform) -> Result<(), Failed> {
    for state in 0..4 {
        let (gate, latch) = gate();
        let token = Arc::new(());
        let running = GatedSink::new(platform, latch, token.clone())?.spawn()?;
        let gate = gate;
        let handle = running.handle();
        bring(state, &gate, &running)?;
        let dropping = thread::spawn(move || drop(running));
        // The drop of `Running` stops the run before it waits for its end.
        while handle.status().phase != RunPhase::Stopping {
            thread::yield_now();
        }
        check(!handle.is_over() && Arc::strong_count(&token) == 2, || {
            format!("state {state}: the drop has not waited for the hook")
        })?;
        gate.open();
        // No tick begins before `start` has returned, but `stop` is called after it.
        gate.pass("stop", u64::from(state))?;
        dropping.join().map_err(|_| Failure::msg("it panicked"))?;
        check_equal((handle.is_over(), Arc::strong_count(&token)), (true, 1))?;
    }
    Ok(())
}

graph! {
    struct Endless(token: Arc<()>) {
        let numbers: Counter = Counter::new();
        let sink: Sink = Sink::new(token);
        numbers.number >> sink.number;
    }
}

fn at_once(platform: &Platform) -> Result<(), Failed> {
    for _ in 0..200 {
        let token = Arc::new(());
        drop(Endless::new(platform, token.clone())?.spawn()?);
        check_equal(Arc::strong_count(&token), 1)?;
    }
    Ok(())
}

/// Fills tensors slowly, and says so.
#[operator(streams(fill))]
struct SlowSource {
    #[output]
    image: Tensor<f32>,
    queued: Sender<u64>,
}

impl Compute for SlowSource {
    fn compute(&mut self, io: SlowSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([64], &stream)?;
        stream.launch::<slow_fill>(64, (&mut image, cx.tick() as f32, 50_000))?;
        io.image.set_cuda_stream(&stream).emit(image)?;
        // The receiver may be gone, if the test has ended.
        let _ = self.queued.send(cx.tick());
        Ok(())
    }
}

/// Reads the data that is complete.
#[operator]
struct Reader {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        push_seen(&self.seen, values.wait_blocking()?[63]);
        Ok(())
    }
}

graph! {
    struct InFlight(queued: Sender<u64>, seen: Seen<f32>) {
        let source: SlowSource = SlowSource::new(queued);
        #[when(stream_done(image))] let reader: Reader = Reader::new(seen);
        #[capacity(8)] source.image >> reader.image;
    }
}

fn in_flight(platform: &Platform) -> Result<(), Failed> {
    for after in 0..8 {
        let ((queued, of_test), seen) = (channel(), Seen::default());
        let running = InFlight::new(platform, queued, seen.clone())?.spawn()?;
        for _ in 0..=after {
            of_test.recv()?;
        }
        drop(running);
        let read = all(&seen);
        check(read.iter().enumerate().all(|(i, value)| *value == i as f32), || {
            format!("{read:?}")
        })?;
    }
    Ok(())
}

/// Fails, or ends.
#[operator]
struct Ends {
    #[output]
    number: u64,
    fails: bool,
}

impl Compute for Ends {
    fn compute(&mut self, io: EndsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.finish();
        if self.fails { Err(Failure::msg("as it was told")) } else { io.number.emit(1) }
    }
}

graph! {
    struct Ending(fails: bool, token: Arc<()>) {
        let ends: Ends = Ends::new(fails);
        let sink: Sink = Sink::new(token);
        ends.number >> sink.number;
    }
}

fn after_the_end(platform: &Platform) -> Result<(), Failed> {
    for fails in [false, true] {
        let token = Arc::new(());
        let running = Ending::new(platform, fails, token.clone())?.spawn()?;
        while !running.is_over() {
            thread::yield_now();
        }
        drop(running);
        check_equal(Arc::strong_count(&token), 1)?;
    }
    Ok(())
}

type Own = Arc<Mutex<Option<Running<Suicidal>>>>;

/// Drops the run of its own graph.
#[operator]
struct Drops {
    #[input]
    number: u64,
    own: Own,
    done: Sender<()>,
}

impl Compute for Drops {
    fn compute(&mut self, io: DropsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        drop(self.own.lock().unwrap_or_else(PoisonError::into_inner).take());
        Ok(())
    }
}

impl Drop for Drops {
    fn drop(&mut self) {
        // The receiver may be gone, if the test has ended.
        let _ = self.done.send(());
    }
}

graph! {
    struct Suicidal(own: Own, done: Sender<()>) {
        let numbers: Counter = Counter::new();
        let drops: Drops = Drops::new(own, done);
        numbers.number >> drops.number;
    }
}

/// The thread can't wait for itself, so the drop ends the run and drops the graph.
fn by_its_operator(platform: &Platform) -> Result<(), Failed> {
    let (own, (done, dropped)) = (Own::default(), channel());
    let running = Suicidal::new(platform, own.clone(), done)?.spawn()?;
    let handle = running.handle();
    *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
    dropped.recv()?;
    check(handle.is_over(), || "its graph is dropped, but it is not over".into())
}

type Outer = Arc<Mutex<Option<Running<Nesting>>>>;

/// Drops the run of the graph around its own.
#[operator]
struct DropsOuter {
    #[output]
    number: u64,
    outer: Outer,
}

impl Compute for DropsOuter {
    fn compute(&mut self, io: DropsOuterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        drop(self.outer.lock().unwrap_or_else(PoisonError::into_inner).take());
        io.number.emit(cx.tick())
    }
}

graph! {
    struct OnFirst(outer: Outer) {
        #[when(count(1))]
        let drops: DropsOuter = DropsOuter::new(outer);
        drops.number >> _;
    }
}

graph! {
    struct OnAnother(outer: Outer) {
        #[when(count(1))]
        #[worker(other)]
        let drops: DropsOuter = DropsOuter::new(outer);
        drops.number >> _;
    }
}

/// Runs a graph in its hook.
#[operator]
struct Nests {
    #[input]
    number: u64,
    outer: Outer,
    inner: Workers,
    on_another: bool,
    done: Sender<()>,
}

impl Compute for Nests {
    fn compute(&mut self, io: NestsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        if self.outer.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Ok(());
        }
        let platform = cx.platform();
        if self.on_another {
            OnAnother::new(platform, self.outer.clone())?.workers(self.inner.clone())?.run()?;
        } else {
            OnFirst::new(platform, self.outer.clone())?.workers(self.inner.clone())?.run()?;
        }
        Ok(())
    }
}

impl Drop for Nests {
    fn drop(&mut self) {
        // The receiver may be gone, if the test has ended.
        let _ = self.done.send(());
    }
}

graph! {
    struct Nesting(outer: Outer, inner: Workers, on_another: bool, done: Sender<()>) {
        let numbers: Counter = Counter::new();
        #[worker(nests)]
        let nests: Nests = Nests::new(outer, inner, on_another, done);
        numbers.number >> nests.number;
    }
}

/// The outer run waits for the inner one, and an operator of the inner run drops the outer run: on the same thread, or on
/// another worker.
fn by_an_inner_operator(platform: &Platform) -> Result<(), Failed> {
    let forms = [
        (Workers::new(2), Workers::none(), false),
        (Workers::new(2), Workers::new(2), false),
        (Workers::new(2), Workers::new(1), true),
        (Workers::none(), Workers::none(), false),
        (Workers::none(), Workers::new(1), true),
    ];
    for (workers, inner, on_another) in forms {
        let (outer, (done, dropped)) = (Outer::default(), channel());
        let form = format!("{workers:?} around {inner:?}, {on_another}");
        let mut graph = Nesting::new(platform, outer.clone(), inner, on_another, done)?;
        graph.workers(workers)?;
        let running = graph.spawn()?;
        let handle = running.handle();
        *outer.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
        let in_time = dropped.recv_timeout(WATCHDOG);
        check(in_time.is_ok(), || format!("{form}: the drop waits for itself"))?;
        check(handle.is_over(), || format!("{form}: the graph is dropped, and the run goes on"))?;
    }
    Ok(())
}

fn while_panicking(platform: &Platform) -> Result<(), Failed> {
    let token = Arc::new(());
    let running = Endless::new(platform, token.clone())?.spawn()?;
    let panicked = thread::spawn(move || {
        let _running = running;
        std::panic::panic_any(7);
    });
    check(panicked.join().is_err(), || "it has not panicked".into())?;
    check_equal(Arc::strong_count(&token), 1)
}
