//! Messages of failed ticks, and messages that panic when they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_received_message_that_panics_on_drop_fails_its_receiver", dropped_message_panics)
        .both("an_unreceived_message_that_panics_on_drop_fails_its_consumer", left_message_panics)
        .both("an_unsent_message_that_panics_on_drop_keeps_the_first_error", unsent_message_panics)
        .both("a_failed_tick_sends_nothing", failed_tick_sends_nothing)
}

/// Panics on its first drop.
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

/// Receives a bomb and emits a number.
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

/// The tick that received the message has failed, so that it sends nothing, neither now nor in a later run.
fn dropped_message_panics(platform: &Platform) -> Result<(), Failed> {
    let [armed, warned] = [true, false].map(|is| Arc::new(AtomicBool::new(is)));
    let mut graph = Bombs::new(platform, armed, warned.clone())?;
    let is_right = |error: &Error| matches!(error, Error::Operator { node, .. } if node == "warns");
    let text = check_error("run", graph.run(), is_right)?;
    check_text(&text, &["`warns`", "`compute`", "out of hand"])?;
    graph.run()?;
    check(!warned.load(Ordering::Relaxed), || "a failed tick has sent a message".into())
}

/// Ends the run while a message is queued at its input.
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

/// Fails after it has emitted.
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

/// The run's error is the tick's own, not the later panic.
fn unsent_message_panics(platform: &Platform) -> Result<(), Failed> {
    let armed = Arc::new(AtomicBool::new(true));
    let mut graph = UnsentBomb::new(platform, armed.clone())?;
    let is_right =
        |error: &Error| matches!(error, Error::Operator { node, .. } if node == "fails_after_emit");
    let text = check_error("run", graph.run(), is_right)?;
    check_text(&text, &["`fails_after_emit`", "`compute`", "changed its mind"])?;
    check(!armed.load(Ordering::Relaxed), || "the message was not dropped".into())
}

/// Emits the number of its calls, and then fails in its first `failures` calls.
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

/// A message that was emitted before the error arrives neither in that run, nor in the next, nor in a harness.
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
