//! Tests of two parts of a run together: restarts and parameters, statistics and restarts, conditions and
//! failures, handles and later runs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use streamflow::context::Waker;
use streamflow::operator::{Answer, AsyncHandle, Condition};
use streamflow::prelude::*;
use streamflow::schedule::{Activity, Stepped};
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::Suite;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;

pub(crate) fn suite() -> Suite {
    let tests: [(&str, fn()); 11] = [
        (
            "a_node_that_lacks_one_of_two_notices_keeps_none",
            a_node_that_lacks_one_of_two_notices_keeps_none,
        ),
        (
            "a_run_with_a_simulated_clock_sleeps_while_it_waits_for_a_thread",
            a_run_with_a_simulated_clock_sleeps_while_it_waits_for_a_thread,
        ),
        (
            "a_tick_whose_condition_panics_is_counted_once",
            a_tick_whose_condition_panics_is_counted_once,
        ),
        (
            "values_that_a_failed_tick_did_not_take_over_are_taken_over_by_the_next",
            values_that_a_failed_tick_did_not_take_over_are_taken_over_by_the_next,
        ),
        (
            "the_time_of_a_restart_is_not_that_of_a_tick",
            the_time_of_a_restart_is_not_that_of_a_tick,
        ),
        (
            "an_operator_that_failed_does_not_come_back_if_no_other_can_be_made",
            an_operator_that_failed_does_not_come_back_if_no_other_can_be_made,
        ),
        (
            "an_operator_without_restarts_left_is_a_fresh_one_in_the_next_run",
            an_operator_without_restarts_left_is_a_fresh_one_in_the_next_run,
        ),
        (
            "an_error_that_panics_when_it_is_dropped_does_not_leave_the_drop_of_a_run",
            an_error_that_panics_when_it_is_dropped_does_not_leave_the_drop_of_a_run,
        ),
        ("the_status_shows_the_hooks_of_a_restart", the_status_shows_the_hooks_of_a_restart),
        (
            "the_status_of_a_run_that_is_over_is_not_that_of_the_next_run",
            the_status_of_a_run_that_is_over_is_not_that_of_the_next_run,
        ),
        (
            "a_silent_source_runs_seldom_also_beside_a_busy_one",
            a_silent_source_runs_seldom_also_beside_a_busy_one,
        ),
    ];
    tests.into_iter().fold(Suite::new(), |suite, (name, test)| {
        suite.plain(name, move || {
            test();
            Ok(())
        })
    })
}

fn simulated() -> Platform {
    Platform::host().clock(&Clock::simulated()).build().unwrap()
}

/// An operator that notes the numbers that it receives.
#[operator]
struct Keep {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.number.receive().into_data());
        Ok(())
    }
}

/// An operator that sends its own number, unless its plan makes the tick fail.
#[operator]
struct Numbered {
    #[output]
    number: u64,
    id: u64,
    plan: Arc<Plan>,
}

/// What a test lets fail next: making an operator, or a tick.
#[derive(Default)]
struct Plan {
    made: AtomicU64,
    fails_to_be_made: AtomicBool,
    fails: AtomicBool,
}

impl Numbered {
    fn make(plan: &Arc<Plan>) -> Result<Self> {
        if plan.fails_to_be_made.swap(false, Ordering::AcqRel) {
            return Err(Failure::msg("no operator"));
        }
        Ok(Self::new(plan.made.fetch_add(1, Ordering::AcqRel), plan.clone()))
    }
}

impl Compute for Numbered {
    fn compute(&mut self, io: NumberedIo<'_>, _: &ExecutionContext) -> Result<()> {
        if self.plan.fails.swap(false, Ordering::AcqRel) {
            return Err(Failure::msg("planned"));
        }
        io.number.emit(self.id)
    }
}

graph! {
    struct Of(handle: AsyncHandle) {
        #[when(count(1), asynchronous(handle))] let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

/// A condition that always holds. Its first check runs another graph, as another thread could do at this moment.
struct Meanwhile(Option<Of>);

impl Condition for Meanwhile {
    fn check(&mut self, _: Timestamp) -> Answer {
        if let Some(mut other) = self.0.take() {
            other.run().unwrap();
        }
        Answer::Ready
    }
}

graph! {
    struct OfBoth(one: AsyncHandle, two: AsyncHandle, meanwhile: Meanwhile) {
        #[when(asynchronous(one), asynchronous(two), condition(meanwhile))]
        let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

fn a_node_that_lacks_one_of_two_notices_keeps_none() {
    let (platform, one, two) = (simulated(), AsyncHandle::new(), AsyncHandle::new());
    one.notify().unwrap();
    two.notify().unwrap();
    let meanwhile = Meanwhile(Some(Of::new(&platform, two.clone()).unwrap()));
    let mut both = OfBoth::new(&platform, one.clone(), two.clone(), meanwhile).unwrap();
    assert_eq!(both.tick().unwrap(), Stepped::Waiting { until: None });
    assert_eq!(Of::new(&platform, one.clone()).unwrap().tick().unwrap(), Stepped::Ran);
    one.notify().unwrap();
    two.notify().unwrap();
    assert_eq!(both.tick().unwrap(), Stepped::Ran);
    assert_eq!(both.tick().unwrap(), Stepped::Waiting { until: None });
}

/// A condition that counts its checks, sends its waker to another thread, and holds when that thread says so.
struct Counted {
    checks: Arc<AtomicU64>,
    holds: Arc<AtomicBool>,
    to: mpsc::Sender<Waker>,
}

impl Condition for Counted {
    fn check(&mut self, _: Timestamp) -> Answer {
        self.checks.fetch_add(1, Ordering::AcqRel);
        if self.holds.load(Ordering::Acquire) { Answer::Ready } else { Answer::Waiting }
    }

    fn start(&mut self, waker: &Waker) {
        self.to.send(waker.clone()).unwrap();
    }
}

graph! {
    struct Woken(condition: Counted) {
        #[when(count(1), condition(condition))] let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

fn a_run_with_a_simulated_clock_sleeps_while_it_waits_for_a_thread() {
    const WAKES: u64 = 50;
    let (checks, holds) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
    let (to, from) = mpsc::channel();
    let condition = Counted { checks: checks.clone(), holds: holds.clone(), to };
    let mut graph = Woken::new(&simulated(), condition).unwrap();
    let seen = checks.clone();
    let thread = std::thread::spawn(move || {
        let waker = from.recv().unwrap();
        for _ in 0..WAKES {
            let before = seen.load(Ordering::Acquire);
            waker.wake();
            while seen.load(Ordering::Acquire) == before {
                std::thread::yield_now();
            }
            (0..20_000).for_each(|_| std::hint::spin_loop());
        }
        holds.store(true, Ordering::Release);
        waker.wake();
    });
    graph.run().unwrap();
    thread.join().unwrap();
    // There is one check for each wake, and a few more before the first sleep.
    let checks = checks.load(Ordering::Acquire);
    assert!(checks <= WAKES + 4, "{checks} checks for {WAKES} wakes");
}

/// A condition that panics in its second call of `ticked`, which follows the second tick.
struct Panics(u64);

impl Condition for Panics {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Ready
    }

    fn ticked(&mut self, _: Timestamp) {
        self.0 += 1;
        assert_ne!(self.0, 2);
    }
}

graph! {
    struct Ticked(condition: Panics, seen: Seen<u64>) {
        #[when(count(6), condition(condition))] #[on_failure(skip)]
        let numbers: Counter = Counter::new();
        let keep: Keep = Keep::new(seen);
        #[capacity(6)] numbers.number >> keep.number;
    }
}

fn a_tick_whose_condition_panics_is_counted_once() {
    let seen = Seen::default();
    let report = Ticked::new(&simulated(), Panics(0), seen.clone()).unwrap().run().unwrap();
    assert_eq!((report.ticks("numbers"), report.nodes[0].failures), (Some(6), 1));
    assert_eq!(all(&seen), [0, 1, 2, 3, 4, 5]);
}

/// A parameter's value that panics in `clone`, once after `PANICS` was set, if the value is 7.
#[derive(Debug, serde::Deserialize)]
struct Fragile(u64);

static PANICS: AtomicBool = AtomicBool::new(false);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!(self.0 == 7 && PANICS.swap(false, Ordering::AcqRel)));
        Self(self.0)
    }
}

#[operator]
struct Adjusted {
    #[output]
    number: u64,
    #[param]
    fragile: Fragile,
    #[param]
    other: u64,
}

impl Compute for Adjusted {
    fn compute(&mut self, io: AdjustedIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit(10 * self.fragile.0 + self.other)
    }
}

graph! {
    struct Adjusting(seen: Seen<u64>) {
        #[when(count(4))] #[on_failure(skip)]
        let source: Adjusted = Adjusted::new(Fragile(1), 1);
        let keep: Keep = Keep::new(seen);
        source.number >> keep.number;
    }
}

fn values_that_a_failed_tick_did_not_take_over_are_taken_over_by_the_next() {
    let seen = Seen::default();
    let mut graph = Adjusting::new(&simulated(), seen.clone()).unwrap();
    let params = graph.params();
    assert_eq!(graph.tick().unwrap(), Stepped::Ran);
    params.source().set_fragile(Fragile(7)).unwrap();
    params.source().set_other(7).unwrap();
    PANICS.store(true, Ordering::Release);
    let report = graph.run().unwrap();
    assert_eq!(all(&seen), [11, 77, 77]);
    let changes = report.parameters.iter().map(|it| (it.parameter, it.tick));
    assert_eq!(changes.collect::<Vec<_>>(), [("fragile", 2), ("other", 2)]);
}

/// An operator that fails in its second tick, and whose `start` and `stop` move the clock.
#[operator]
struct Slow {
    #[input]
    number: u64,
    #[output]
    out: u64,
}

impl Compute for Slow {
    fn start(&mut self, _: SlowStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(Duration::from_secs(100));
        Ok(())
    }

    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        if cx.tick() == 1 { Err(Failure::msg("planned")) } else { io.out.emit(number) }
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(Duration::from_secs(1000));
        Ok(())
    }
}

graph! {
    struct Measured() {
        #[when(count(6))] let numbers: Counter = Counter::new();
        #[on_failure(restart(3, Duration::ZERO))] let slow: Slow = Slow::new();
        let keep: Keep = Keep::new(Seen::default());
        numbers.number >> slow.number;
        slow.out >> keep.number;
    }
}

fn the_time_of_a_restart_is_not_that_of_a_tick() {
    let builder = Platform::builder().clock(&Clock::simulated()).statistics(true);
    let platform = builder.race_check(false).host().unwrap();
    // The run has one thread. With workers, a node that computes while another node restarts would see the clock
    // move.
    let report = greedy(Measured::new(&platform).unwrap()).unwrap().run().unwrap();
    assert_eq!(report.nodes[1].restarts, 1);
    let longest = report.nodes.iter().map(|node| node.host_time.as_ref().unwrap().max);
    assert_eq!(longest.collect::<Vec<_>>(), [Duration::ZERO; 3]);
}

graph! {
    struct Remade(plan: Arc<Plan>, seen: Seen<u64>) {
        #[when(count(1))] #[on_failure(restart(3, Duration::ZERO))]
        let numbers: Numbered = Numbered::make(&plan)?;
        let keep: Keep = Keep::new(seen);
        numbers.number >> keep.number;
    }
}

fn an_operator_that_failed_does_not_come_back_if_no_other_can_be_made() {
    let (plan, seen) = (Arc::<Plan>::default(), Seen::default());
    let mut graph = Remade::new(&simulated(), plan.clone(), seen.clone()).unwrap();
    plan.fails.store(true, Ordering::Release);
    assert_eq!(graph.run().unwrap().nodes[0].failures, 1);
    plan.fails_to_be_made.store(true, Ordering::Release);
    assert!(graph.run().is_err());
    graph.run().unwrap();
    assert_eq!(all(&seen), [1]);
}

graph! {
    struct NotRemade(plan: Arc<Plan>, seen: Seen<u64>) {
        #[when(count(1))] #[on_failure(restart(0, Duration::ZERO))]
        let numbers: Numbered = Numbered::make(&plan)?;
        let keep: Keep = Keep::new(seen);
        numbers.number >> keep.number;
    }
}

fn an_operator_without_restarts_left_is_a_fresh_one_in_the_next_run() {
    let (plan, seen) = (Arc::<Plan>::default(), Seen::default());
    let mut graph = NotRemade::new(&simulated(), plan.clone(), seen.clone()).unwrap();
    plan.fails.store(true, Ordering::Release);
    assert!(graph.run().is_err());
    graph.run().unwrap();
    assert_eq!(all(&seen), [1]);
}

/// A value that panics when it is dropped.
#[derive(Debug)]
struct PanicsInDrop;

impl fmt::Display for PanicsInDrop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("planned")
    }
}

impl std::error::Error for PanicsInDrop {}

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("planned, too");
    }
}

#[operator]
struct Fails {
    #[output]
    number: u64,
    fails: mpsc::Sender<()>,
}

impl Compute for Fails {
    fn compute(&mut self, _: FailsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.fails.send(())?;
        Err(PanicsInDrop.into())
    }
}

graph! {
    struct Failing(fails: mpsc::Sender<()>) {
        let numbers: Fails = Fails::new(fails);
        numbers.number >> _;
    }
}

fn an_error_that_panics_when_it_is_dropped_does_not_leave_the_drop_of_a_run() {
    let (to, from) = mpsc::channel();
    let running = Failing::new(&simulated(), to).unwrap().spawn().unwrap();
    from.recv().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(running))).is_ok());
}

/// An operator that fails in its first tick. Each hook of the restart tells the test its name, and blocks until
/// the test answers.
#[operator]
struct Restarted {
    #[output]
    number: u64,
    plan: Arc<Plan>,
    tells: mpsc::Sender<&'static str>,
    waits: Arc<std::sync::Mutex<mpsc::Receiver<()>>>,
}

impl Restarted {
    fn tell(&self, hook: &'static str) -> Result<()> {
        self.tells.send(hook)?;
        Ok(self.waits.lock().map_err(Failure::msg)?.recv()?)
    }
}

impl Compute for Restarted {
    fn start(&mut self, _: RestartedStreams<'_>, _: &ExecutionContext) -> Result<()> {
        let is_first = self.plan.made.fetch_add(1, Ordering::AcqRel) == 0;
        if is_first { Ok(()) } else { self.tell("start") }
    }

    fn compute(&mut self, io: RestartedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 { Err(Failure::msg("planned")) } else { io.number.emit(1) }
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 1 { self.tell("stop") } else { Ok(()) }
    }
}

graph! {
    struct Restarting(
        plan: Arc<Plan>,
        tells: mpsc::Sender<&'static str>,
        waits: Arc<std::sync::Mutex<mpsc::Receiver<()>>>,
    ) {
        #[when(count(2))] #[on_failure(restart(3, Duration::ZERO))]
        let numbers: Restarted = Restarted::new(plan, tells, waits);
        numbers.number >> _;
    }
}

fn the_status_shows_the_hooks_of_a_restart() {
    let ((tells, told), (go, waits)) = (mpsc::channel(), mpsc::channel());
    let waits = Arc::new(std::sync::Mutex::new(waits));
    let graph = Restarting::new(&simulated(), Arc::default(), tells, waits).unwrap();
    let running = graph.spawn().unwrap();
    // `go` is moved here, so that it is dropped before `running` if a check fails, and no hook blocks any longer.
    let go = go;
    for expected in [("stop", Activity::Stopping), ("start", Activity::Starting)] {
        let hook = told.recv().unwrap();
        assert_eq!((hook, running.status().nodes[0].activity), expected);
        go.send(()).unwrap();
    }
    running.join().unwrap();
}

graph! {
    struct Plain() {
        #[when(count(5))] let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

fn the_status_of_a_run_that_is_over_is_not_that_of_the_next_run() {
    let running = Plain::new(&simulated()).unwrap().spawn().unwrap();
    let handle = running.handle();
    let (mut graph, done) = running.join_with_graph().unwrap();
    assert_eq!(done.unwrap().ticks("numbers"), Some(5));
    let before = handle.status();
    assert_eq!(before.nodes[0].ticks, 5);
    graph.run_for(2).unwrap();
    assert_eq!(handle.status(), before);
}

/// A source that never sends a message.
#[operator]
struct Silent {
    #[output]
    number: u64,
}

impl Compute for Silent {
    fn compute(&mut self, _: SilentIo<'_>, _: &ExecutionContext) -> Result<()> {
        Ok(())
    }
}

graph! {
    struct Beside(seen: Seen<u64>) {
        let silent: Silent = Silent::new();
        #[when(count(100), periodic(100us))] let numbers: Counter = Counter::new();
        let keep: Keep = Keep::new(seen);
        silent.number >> _;
        numbers.number >> keep.number;
    }
}

/// Checks how often a silent source ticks beside a busy one: 64 times at once, then after 1, 2, 4, … µs, and in
/// the end once in a millisecond.
fn a_silent_source_runs_seldom_also_beside_a_busy_one() {
    let report =
        Beside::new(&simulated(), Seen::default()).unwrap().run_for(Duration::from_millis(10));
    let report = report.unwrap();
    assert_eq!(report.ticks("numbers"), Some(100));
    assert!(report.ticks("silent").unwrap() < 100, "{report}");
}
