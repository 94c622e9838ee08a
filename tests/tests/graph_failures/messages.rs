//! Messages of failed ticks, and messages that panic when they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::OperatorHarness;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::stereo::Camera;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_received_message_that_panics_on_drop_fails_its_receiver", dropped_message_panics)
        .both("an_unreceived_message_that_panics_on_drop_fails_its_consumer", left_message_panics)
        .both("an_unsent_message_that_panics_on_drop_keeps_the_first_error", unsent_message_panics)
        .both("a_failed_tick_sends_nothing", failed_tick_sends_nothing)
        .both("a_failed_emit_fails_its_tick_if_its_error_is_dropped", dropped_emit)
        .both("a_failed_emit_is_counted_where_the_run_goes_on", skipped_emit)
        .both("a_failed_emit_fails_a_tick_of_a_harness", emit_in_a_harness)
        .both("a_failed_receive_fails_its_tick_if_its_error_is_dropped", dropped_receive)
}

/// A value whose first drop panics.
struct Bomb(Arc<AtomicBool>);

impl Drop for Bomb {
    #[allow(clippy::panic, reason = "the test is about panics")]
    fn drop(&mut self) {
        if self.0.swap(false, Ordering::Relaxed) {
            panic!("out of hand");
        }
    }
}

#[operator]
struct Arms {
    #[output]
    bomb: HostData<Bomb>,
    armed: Arc<AtomicBool>,
}

impl Compute for Arms {
    fn compute(&mut self, io: ArmsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.bomb.emit(HostData(Bomb(self.armed.clone())))
    }
}

/// An operator that receives a bomb, and emits a number.
#[operator]
struct Warns {
    #[input]
    bomb: &HostData<Bomb>,
    #[output]
    warning: bool,
}

impl Compute for Warns {
    fn compute(&mut self, io: WarnsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let bomb = io.bomb.receive().into_data();
        if bomb.0.0.load(Ordering::Relaxed) { io.warning.emit(true) } else { Ok(()) }
    }
}

#[operator]
struct Warned {
    #[input]
    warning: &bool,
    warned: Arc<AtomicBool>,
}

impl Compute for Warned {
    fn compute(&mut self, io: WarnedIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.warned.store(*io.warning.receive().into_data(), Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct Bombs(armed: Arc<AtomicBool>, warned: Arc<AtomicBool>) {
        #[when(count(1))]
        let arms: Arms = Arms::new(armed);
        let warns: Warns = Warns::new();
        let sink: Warned = Warned::new(warned);

        arms.bomb >> warns.bomb;
        warns.warning >> sink.warning;
    }
}

/// Checks that the tick which received the message that panics has failed, and sends nothing, neither now nor in
/// a later run.
fn dropped_message_panics(platform: &Platform) -> Result<(), Failed> {
    let [armed, warned] = [true, false].map(|is| Arc::new(AtomicBool::new(is)));
    let mut graph = Bombs::new(platform, armed, warned.clone())?;
    let is_right = |error: &Error| matches!(error, Error::Operator { node, .. } if node == "warns");
    let text = check_error("run", graph.run(), is_right)?;
    check_text(&text, &["`warns`", "`compute`", "out of hand"])?;
    graph.run()?;
    check(!warned.load(Ordering::Relaxed), || "a failed tick has sent a message".into())
}

/// An operator that ends the run while a message waits at its input.
#[operator]
struct Leaves {
    #[input]
    bomb: &HostData<Bomb>,
}

impl Compute for Leaves {
    fn compute(&mut self, io: LeavesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.bomb.leave();
        cx.stop_graph();
        Ok(())
    }
}

graph! {
    struct LeftBomb(armed: Arc<AtomicBool>) {
        #[when(count(1))]
        let arms: Arms = Arms::new(armed);
        let leaves: Leaves = Leaves::new();

        arms.bomb >> leaves.bomb;
    }
}

fn left_message_panics(platform: &Platform) -> Result<(), Failed> {
    let mut graph = LeftBomb::new(platform, Arc::new(AtomicBool::new(true)))?;
    let is_right =
        |error: &Error| matches!(error, Error::Operator { node, .. } if node == "leaves");
    let text = check_error("run", graph.run(), is_right)?;
    check_text(&text, &["`leaves`", "`stop`", "out of hand"])
}

/// An operator that fails after it has emitted a message.
#[operator]
struct FailsAfterEmit {
    #[output]
    bomb: HostData<Bomb>,
    armed: Arc<AtomicBool>,
}

impl Compute for FailsAfterEmit {
    fn compute(&mut self, io: FailsAfterEmitIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.bomb.emit(HostData(Bomb(self.armed.clone())))?;
        Err(Failure::msg("changed its mind"))
    }
}

graph! {
    struct UnsentBomb(armed: Arc<AtomicBool>) {
        #[when(count(1))]
        let fails_after_emit: FailsAfterEmit = FailsAfterEmit::new(armed);

        fails_after_emit.bomb >> _;
    }
}

/// Checks that the run's error is the tick's own, and not the panic of the message that is dropped later.
fn unsent_message_panics(platform: &Platform) -> Result<(), Failed> {
    let armed = Arc::new(AtomicBool::new(true));
    let mut graph = UnsentBomb::new(platform, armed.clone())?;
    let is_right =
        |error: &Error| matches!(error, Error::Operator { node, .. } if node == "fails_after_emit");
    let text = check_error("run", graph.run(), is_right)?;
    check_text(&text, &["`fails_after_emit`", "`compute`", "changed its mind"])?;
    check(!armed.load(Ordering::Relaxed), || "the message was not dropped".into())
}

/// An operator that emits the number of its calls, and fails after that in its first `failures` calls.
#[operator]
struct Counts {
    #[output]
    calls: u64,
    failures: u64,
    called: u64,
}

impl Compute for Counts {
    fn compute(&mut self, io: CountsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.called += 1;
        io.calls.emit(self.called)?;
        if self.called <= self.failures { Err(Failure::msg("changed its mind")) } else { Ok(()) }
    }
}

#[operator]
struct Receives {
    #[input]
    calls: &u64,
    received: Vec<u64>,
}

impl Compute for Receives {
    fn compute(&mut self, io: ReceivesIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.received.push(*io.calls.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Counted(failures: u64) {
        #[when(count(2))]
        let counts: Counts = Counts::new(failures, 0);
        let receives: Receives = Receives::new(Vec::new());

        counts.calls >> receives.calls;
    }
}

/// Checks that a message that was emitted before the error arrives neither in that run, nor in the next run, nor
/// in a harness.
fn failed_tick_sends_nothing(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Counted::new(platform, 1)?;
    let is_right =
        |error: &Error| matches!(error, Error::Operator { node, .. } if node == "counts");
    check_error("run", graph.run(), is_right)?;
    check(graph.receives().received.is_empty(), || "the first run has sent a message".into())?;
    graph.run()?;
    let received = &graph.receives().received;
    check(*received == [2, 3], || {
        format!("expected the messages of calls 2 and 3, received {received:?}")
    })?;

    let mut harness = OperatorHarness::new(platform, Counts::new(1, 0))?;
    check_error("tick", harness.tick(), |_| true)?;
    let sent = harness.take(|ports| &mut ports.calls).map(|it| *it.message);
    check(sent.is_none(), || format!("the failed tick has sent {sent:?}"))?;
    harness.tick()?;
    let sent = harness.take(|ports| &mut ports.calls).map(|it| *it.message);
    check(sent == Some(2), || format!("the second tick has sent {sent:?}"))
}

/// What an operator does with the error of `emit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum With {
    Drops,
    /// Returns another error in its place.
    Replaces,
    Returns,
}

/// An operator that sends a number. In tick 1 it also emits a tensor of another platform, which can't be sent.
#[operator(streams(work))]
struct Foreign {
    #[output]
    number: u64,
    #[output]
    tensor: Tensor<f32>,
    other: Platform,
    with: With,
}

impl Compute for Foreign {
    fn compute(&mut self, io: ForeignIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())?;
        let stream = cx.allocate_cuda_stream(io.work)?;
        let own = cx.tensor([4], &stream)?;
        let pool = self.other.stream_pool("other", &CudaStreamPool::new())?;
        let foreign = self.other.tensor([4], &pool.allocate("other")?)?;
        let tensor = if cx.tick() == 1 { foreign } else { own };
        let emitted = io.tensor.set_cuda_stream(&stream).emit(tensor);
        match self.with {
            With::Drops => emitted.or(Ok(())),
            With::Replaces => emitted.map_err(|_| Failure::msg("out of paper")),
            With::Returns => emitted,
        }
    }
}

/// A sink that keeps the numbers, and counts the tensors.
#[operator]
struct Both {
    #[input]
    number: u64,
    seen: Arc<AtomicU64>,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.seen.fetch_add(10u64.pow(io.number.receive().into_data() as u32), Ordering::Relaxed);
        Ok(())
    }
}

#[operator]
struct TakesTensor {
    #[input]
    tensor: &Tensor<f32>,
}

impl Compute for TakesTensor {
    fn compute(&mut self, io: TakesTensorIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tensor.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Foreigners(other: Platform, with: With, seen: Arc<AtomicU64>) {
        #[when(count(3))] let foreign: Foreign = Foreign::new(other, with);
        let both: Both = Both::new(seen);
        let takes: TakesTensor = TakesTensor::new();
        foreign.number >> both.number;
        foreign.tensor >> takes.tensor;
    }
}

graph! {
    struct Skipping(other: Platform, with: With, seen: Arc<AtomicU64>) {
        #[when(count(3))] #[on_failure(skip)] let foreign: Foreign = Foreign::new(other, with);
        let both: Both = Both::new(seen);
        let takes: TakesTensor = TakesTensor::new();
        foreign.number >> both.number;
        foreign.tensor >> takes.tensor;
    }
}

const LOST: &str = "a message is lost: `emit` at `tensor` has failed, and the operator has dropped its error; return it, \
                    as with `?`: ";

/// Checks that the failed tick sends no number either, and that the error is that of `emit`, whatever the
/// operator returns in its place.
fn dropped_emit(platform: &Platform) -> Result<(), Failed> {
    let is_right = |error: &Error| matches!(error, Error::Operator { node, tick: 1, hook: "compute", .. } if node == "foreign");
    for workers in [Workers::none(), Workers::new(2)] {
        for with in [With::Drops, With::Replaces, With::Returns] {
            let (other, seen) = (Platform::host().build()?, Arc::default());
            let mut graph = Foreigners::new(platform, other, with, Arc::clone(&seen))?;
            graph.workers(workers.clone())?;
            let done = graph.run();
            let is_kept = |cause: &Failure| {
                matches!(cause.downcast_ref(), Some(Error::ForeignPlatform { .. }))
            };
            let is_same = matches!(&done, Err(Error::Operator { cause, .. }) if is_kept(cause));
            check(is_same || with == With::Replaces, || format!("{with:?}: {done:?}"))?;
            let text = check_error("a tensor of another platform", done, is_right)?;
            check_equal((with, text.contains(LOST)), (with, with == With::Drops))?;
            // The consumer has received one message, or none if it had not run when the run failed.
            check(seen.load(Ordering::Relaxed) <= 1, || format!("{seen:?}"))?;
        }
    }
    Ok(())
}

/// Checks that with `skip`, only the tick whose `emit` failed sends nothing.
fn skipped_emit(platform: &Platform) -> Result<(), Failed> {
    for with in [With::Drops, With::Replaces, With::Returns] {
        let (other, seen) = (Platform::host().build()?, Arc::<AtomicU64>::default());
        let report = Skipping::new(platform, other, with, seen.clone())?.run()?;
        check_equal((with, seen.load(Ordering::Relaxed)), (with, 101))?;
        let ticks = ["foreign", "both", "takes"].map(|node| report.ticks(node));
        check_equal(ticks, [Some(3), Some(2), Some(2)])?;
        check_equal(report.nodes.iter().map(|node| node.failures).sum(), 1)?;
        check_equal(report.to_string().contains(LOST), with == With::Drops)?;
    }
    Ok(())
}

fn emit_in_a_harness(platform: &Platform) -> Result<(), Failed> {
    let other = Platform::host().build()?;
    let mut harness = OperatorHarness::new(platform, Foreign::new(other, With::Drops))?;
    harness.tick()?;
    let text = check_error("a tick", harness.tick(), |_| true)?;
    check_text(&text, &[LOST])?;
    harness.tick()?;
    let number = harness.take(|ports| &mut ports.number).map(|emitted| *emitted.message);
    check_equal(number, Some(2))
}

/// An operator that drops an error: in tick 1 the wait for its message fails.
#[operator]
struct Unlucky {
    #[input]
    tensor: &Tensor<u8>,
    waits: Arc<FailNth>,
}

impl Compute for Unlucky {
    fn compute(&mut self, io: UnluckyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 1 {
            self.waits.fail_next();
        }
        io.tensor.receive().receive_cuda_stream(cx).map_or(Ok(()), |_| Ok(()))
    }
}

graph! {
    struct Waiting(waits: Arc<FailNth>) {
        #[when(count(3))] let camera: Camera = Camera::new(2, 3);
        let unlucky: Unlucky = Unlucky::new(waits);
        camera.frame >> unlucky.tensor;
    }
}

fn dropped_receive(platform: &Platform) -> Result<(), Failed> {
    let waits = FailNth::new(platform.driver().clone(), CallKind::WaitEvent, u64::MAX);
    let waits = Arc::new(waits);
    let platform = Platform::builder().driver(waits.clone())?;
    let is_right = |error: &Error| matches!(error, Error::Operator { node, tick: 1, hook: "compute", .. } if node == "unlucky");
    let text = check_error("a wait", Waiting::new(&platform, waits)?.run(), is_right)?;
    let lost = "a message is lost: `receive_cuda_stream` at `tensor` has failed, and the operator has dropped its error";
    check_text(&text, &[lost, "INJECTED"])
}
