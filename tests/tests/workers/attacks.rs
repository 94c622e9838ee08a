//! Runs that once hung: a node that panics and then waits, a hook that sleeps when the run ends, and a run that
//! is dropped within a hook of another run.
#![allow(clippy::panic, reason = "the test is about panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow::schedule::{End, Running, Workers};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .host("a_node_that_panics_and_waits_for_a_moment_goes_on", waits_for_a_moment)
        .host("a_node_that_panics_and_waits_for_a_thread_goes_on", waits_for_a_thread)
        .host("a_sleep_in_a_hook_ends_when_another_node_fails", sleeps_beside_a_failure)
        .host("a_sleep_in_a_hook_ends_when_the_time_of_the_run_is_over", sleeps_at_the_end)
        .host("a_run_is_dropped_by_a_graph_in_its_hook", dropped_within)
}

/// The time after which a test takes its run to hang, and fails. No run takes as long.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many ticks of a source fail: more than a source may have without a message before its run begins to pause.
const FAILURES: u64 = 70;

/// How a tick of [`Fails`] fails. In the control, it returns an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Returns,
    Panics,
}

impl How {
    fn fail(self) -> Result<()> {
        if self == Self::Panics {
            std::panic::panic_any("a panic of the test");
        }
        Err(Failure::msg("a failure of the test"))
    }
}

/// An operator whose first `FAILURES` ticks fail.
#[operator]
struct Fails {
    #[output]
    number: u64,
    how: How,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < FAILURES { self.how.fail() } else { io.number.emit(cx.tick()) }
    }
}

#[operator]
struct Count {
    #[input]
    number: u64,
    count: Arc<AtomicU64>,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct Unlucky(how: How, received: Arc<AtomicU64>) {
        #[when(count(FAILURES + 10))]
        #[on_failure(skip)]
        let fails: Fails = Fails::new(how);
        let count: Count = Count::new(received);
        fails.number >> count.number;
    }
}

fn waits_for_a_moment(platform: &Platform) -> Result<(), Failed> {
    for how in [How::Returns, How::Panics] {
        for workers in [1, 2, 4] {
            let received = Arc::new(AtomicU64::new(0));
            let mut graph = Unlucky::new(platform, how, received.clone())?;
            graph.workers(workers)?;
            let report = graph.spawn()?.join_timeout(PATIENCE)?;
            check_equal(report.ticks("fails"), Some(FAILURES + 10))?;
            check_equal(received.load(Ordering::Relaxed), 10)?;
        }
    }
    Ok(())
}

/// An operator that sets its node's condition to false in its first tick, and fails.
#[operator]
struct Switch {
    #[output]
    number: u64,
    handle: BooleanHandle,
    how: How,
    failed: Sender<()>,
}

impl Compute for Switch {
    fn compute(&mut self, io: SwitchIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() > 0 {
            return io.number.emit(cx.tick());
        }
        self.handle.set(false)?;
        self.failed.send(())?;
        self.how.fail()
    }
}

graph! {
    struct Switched(handle: BooleanHandle, how: How, failed: Sender<()>, received: Arc<AtomicU64>) {
        #[when(count(10), boolean(handle))]
        #[on_failure(skip)]
        let switch: Switch = Switch::new(handle.clone(), how, failed);
        let count: Count = Count::new(received);
        switch.number >> count.number;
    }
}

fn waits_for_a_thread(platform: &Platform) -> Result<(), Failed> {
    for how in [How::Returns, How::Panics] {
        for workers in [1, 2, 4] {
            let (handle, received) = (BooleanHandle::new(true), Arc::new(AtomicU64::new(0)));
            let (failed, fails) = channel();
            let mut graph = Switched::new(platform, handle.clone(), how, failed, received.clone())?;
            graph.workers(workers)?;
            let mut running = graph.spawn()?;
            fails.recv()?;
            // The failed tick is counted, and the node is about to wait for its condition.
            while running.status().nodes.iter().all(|node| node.ticks == 0) {
                thread::yield_now();
            }
            (0..1000).for_each(|_| thread::yield_now());
            handle.set(true)?;
            running.join_timeout(PATIENCE)?;
            check_equal(received.load(Ordering::Relaxed), 9)?;
        }
    }
    Ok(())
}

/// An operator that sleeps for an hour in its hook.
#[operator]
struct Sleeps {
    #[output]
    number: u64,
    begun: Sender<()>,
}

impl Compute for Sleeps {
    fn compute(&mut self, io: SleepsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The test may have ended, so the result is ignored.
        let _gone = self.begun.send(());
        cx.sleep(Duration::from_secs(3600));
        io.number.emit(cx.tick())
    }
}

/// An operator that fails when it receives a word from the test.
#[operator]
struct Waits {
    #[output]
    number: u64,
    word: Receiver<()>,
}

impl Compute for Waits {
    fn compute(&mut self, _: WaitsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.word.recv()?;
        Err(Failure::msg("out of paper"))
    }
}

graph! {
    struct Asleep(begun: Sender<()>, word: Receiver<()>) {
        #[worker(other)]
        let sleeps: Sleeps = Sleeps::new(begun);
        let waits: Waits = Waits::new(word);
        sleeps.number >> _;
        waits.number >> _;
    }
}

fn sleeps_beside_a_failure(platform: &Platform) -> Result<(), Failed> {
    let ((begun, begins), (word, waits)) = (channel(), channel());
    let mut running = Asleep::new(platform, begun, waits)?.spawn()?;
    begins.recv()?;
    word.send(())?;
    let done = running.join_timeout(PATIENCE);
    // Ends the sleep of the other node if the failure has not ended it.
    running.stop();
    check_error("a failure", done, |error| error.to_string().contains("out of paper")).map(drop)
}

graph! {
    struct Sleeper(begun: Sender<()>) {
        #[worker(other)]
        let sleeps: Sleeps = Sleeps::new(begun);
        sleeps.number >> _;
    }
}

fn sleeps_at_the_end(platform: &Platform) -> Result<(), Failed> {
    let ((begun, _begins), (ended, ends)) = (channel(), channel());
    let mut graph = Sleeper::new(platform, begun)?;
    // This thread is not joined, since a run that hangs would last for an hour.
    thread::spawn(move || {
        let end = graph.run_for(Duration::from_millis(1)).map(|report| report.end);
        ended.send(end).is_ok()
    });
    check_equal(ends.recv_timeout(PATIENCE)??, End::TimeOver)
}

/// The place in which the test puts the run of [`Outer`].
type Slot = Seen<Running<Outer>>;

/// An operator that drops the run of [`Outer`], the graph that it runs in.
#[operator]
struct Drops {
    #[output]
    number: u64,
    slot: Slot,
}

impl Compute for Drops {
    fn compute(&mut self, io: DropsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        while take(&self.slot).is_empty() {
            thread::yield_now();
        }
        cx.finish();
        io.number.emit(0)
    }
}

graph! {
    struct Inner(slot: Slot) {
        let drops: Drops = Drops::new(slot);
        drops.number >> _;
    }
}

/// An operator that runs the inner graph.
#[operator]
struct Runs {
    #[output]
    number: u64,
    slot: Slot,
    inner: Workers,
}

impl Compute for Runs {
    fn compute(&mut self, io: RunsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let mut graph = Inner::new(cx.platform(), self.slot.clone())?;
        graph.workers(self.inner.clone())?.run()?;
        cx.finish();
        io.number.emit(0)
    }
}

graph! {
    struct Outer(slot: Slot, inner: Workers) {
        #[worker(other)]
        let runs: Runs = Runs::new(slot, inner);
        runs.number >> _;
    }
}

/// Checks that a run can be dropped in a hook which a thread of that run has called. The drop can't wait for the
/// end of the run.
fn dropped_within(platform: &Platform) -> Result<(), Failed> {
    for outer in [Workers::none(), Workers::new(1), Workers::new(2)] {
        for inner in [Workers::none(), Workers::new(1)] {
            let slot = Slot::default();
            let mut graph = Outer::new(platform, slot.clone(), inner)?;
            graph.workers(outer.clone())?;
            let running = graph.spawn()?;
            let handle = running.handle();
            push_seen(&slot, running);
            let begun = Instant::now();
            while !handle.is_over() && begun.elapsed() < PATIENCE {
                thread::yield_now();
            }
            check(handle.is_over(), || format!("the run hangs: {}", handle.status()))?;
        }
    }
    Ok(())
}
