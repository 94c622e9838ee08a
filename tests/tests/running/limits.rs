//! `run_for`: runs that are limited to a number of ticks, or to a time.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{DropReason, End, StoppedBy, Workers};
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

use super::both::Both;

/// The time that a test waits for a run that would last for an hour if it did not end.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("run_for_ticks_limits_the_nodes_without_inputs_and_drains", ticks)
        .both("a_count_that_is_reached_before_the_limit_ends_the_run", count_first)
        .both("the_limit_of_one_run_is_not_that_of_the_next", next_run)
        .both("what_waits_for_a_node_at_its_limit_is_dropped", leftovers)
        .both("a_run_with_a_limit_can_stall_for_another_reason", stalls)
        .both("run_for_refuses_a_limit_of_nothing", zero)
        .both("run_for_ticks_refuses_a_graph_without_sources", no_source)
        .host("run_for_a_time_begins_no_tick_after_it", time)
        .host("run_for_a_time_ends_a_run_that_waits", time_while_waiting)
        .host("run_for_a_time_ends_earlier_if_the_graph_does", time_not_needed)
        .host("the_time_of_a_run_ends_a_sleep_on_every_scheduler", sleep)
        .host("the_time_of_a_run_ends_a_sleep_of_simulated_time", simulated_sleep)
        .both("an_operator_ends_a_run_with_a_limit", stopped)
}

/// An operator that notes the numbers that it receives.
#[operator]
struct Keep {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        push_seen(&self.seen, number);
        if number == 1000 {
            cx.stop_graph();
        }
        Ok(())
    }
}

graph! {
    struct Endless(seen: Seen<u64>) {
        let numbers: Counter = Counter::new();
        let keep: Keep = Keep::new(seen);
        #[capacity(3)] numbers.number >> keep.number;
    }
}

graph! {
    struct Counted(count: u64, seen: Seen<u64>) {
        #[when(count(count))] let numbers: Counter = Counter::new();
        let keep: Keep = Keep::new(seen);
        numbers.number >> keep.number;
    }
}

fn ticks(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = Endless::new(platform, seen.clone())?.run_for(4)?;
    check_equal(report.end.clone(), End::TicksDone)?;
    check_text(&report.to_string(), &["the run ended: the ticks of `run_for` are done"])?;
    check(report.dropped.is_empty(), || format!("{report}"))?;
    check_equal(all(&seen), vec![0, 1, 2, 3])
}

fn count_first(platform: &Platform) -> Result<(), Failed> {
    for (limit, ticks, end) in
        [(2, 2, End::TicksDone), (3, 3, End::SourcesDone), (4, 3, End::SourcesDone)]
    {
        let report = Counted::new(platform, 3, Seen::default())?.run_for(limit)?;
        check_equal((report.ticks("keep"), report.end), (Some(ticks), end))?;
    }
    Ok(())
}

fn next_run(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Counted::new(platform, 5, Seen::default())?;
    for (limit, ticks) in [(Some(2), 2), (None, 5), (Some(1), 1), (Some(7), 5)] {
        let report = match limit {
            Some(limit) => graph.run_for(limit)?,
            None => graph.run()?,
        };
        check_equal(report.ticks("keep"), Some(ticks))?;
    }
    Ok(())
}

/// An operator that sends two messages in three ticks.
#[operator]
struct Some2 {
    #[output]
    number: u64,
}

impl Compute for Some2 {
    fn compute(&mut self, io: Some2Io<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < 2 { io.number.emit(cx.tick()) } else { Ok(()) }
    }
}

graph! {
    struct Uneven(count: u64) {
        #[when(count(count))] let a: Counter = Counter::new();
        let b: Some2 = Some2::new();
        let both: Both = Both::new();
        #[capacity(8)] a.number >> both.a;
        b.number >> both.b;
    }
}

/// `a` sends three messages and `b` sends two. The third message of `a` is left, at a node that has reached the
/// limit.
fn leftovers(platform: &Platform) -> Result<(), Failed> {
    let report = Uneven::new(platform, 100)?.run_for(3)?;
    check_equal(report.end, End::TicksDone)?;
    let [dropped] = &report.dropped[..] else { return Err(Failure::msg("not one edge")) };
    check_equal((dropped.edge, dropped.messages), ("a.number >> both.a", 1))?;
    check_equal(dropped.reason, DropReason::RunEnded)
}

graph! {
    struct Unequal {
        let a: Counter = Counter::new();
        #[when(count(2))] let b: Counter = Counter::new();
        let both: Both = Both::new();
        a.number >> both.a;
        b.number >> both.b;
    }
}

/// Checks that the `count` of `b` makes `a` stall, long before the limit.
fn stalls(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Unequal::new(platform)?.run_for(50))?;
    check_text(&text, &["`a`, after 3 ticks, waits for room", "`b` is done: its `count` of 2"])?;
    // With a limit that both sources reach, the run does not stall.
    let report = Unequal::new(platform)?.run_for(2)?;
    check_equal(report.ticks("both"), Some(2))
}

fn zero(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Endless::new(platform, seen.clone())?;
    let is_right = |error: &Error| matches!(error, Error::RunLimit { .. });
    let text = check_error("0 ticks", graph.run_for(0), is_right)?;
    check_text(&text, &["0 ticks are no run; give at least 1"])?;
    let text = check_error("no time", graph.run_for(Duration::ZERO), is_right)?;
    check_text(&text, &["a time of 0 is no run"])?;
    // The run that this tick begins goes on after the refused call.
    graph.tick()?;
    check_error("0 ticks", graph.run_for(0), is_right)?;
    graph.tick()?;
    check_equal(graph.end_run()?.ticks("keep"), Some(2))?;
    check_equal(all(&seen), vec![0, 1])
}

/// An operator that adds one to the number that it sent before.
#[operator]
struct Again {
    #[input]
    before: u64,
    #[output]
    next: u64,
}

impl Compute for Again {
    fn compute(&mut self, io: AgainIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let before = io.before.receive().into_data();
        cx.platform().clock().advance(Duration::from_millis(1));
        io.next.emit(before + 1)
    }
}

graph! {
    struct Circle {
        let again: Again = Again::new();
        #[feedback(initial = 0)] again.next >> again.before;
    }
}

fn no_source(platform: &Platform) -> Result<(), Failed> {
    let is_right = |error: &Error| matches!(error, Error::RunLimit { .. });
    let text = check_error("a circle", Circle::new(platform)?.run_for(5), is_right)?;
    check_text(&text, &["each node has an input", "give a time"])
}

/// Checks a limit of time. A tick takes a millisecond of simulated time.
fn time(_: &Platform) -> Result<(), Failed> {
    let platform = Platform::host().clock(&Clock::simulated()).build()?;
    let mut graph = Circle::new(&platform)?;
    let report = graph.run_for(Duration::from_micros(9_500))?;
    check_equal((report.ticks("again"), report.end), (Some(10), End::TimeOver))?;
    let report = graph.run_for(Duration::from_millis(10))?;
    check_equal((report.ticks("again"), report.end), (Some(10), End::TimeOver))
}

/// A source that never sends.
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
    struct Waits(seen: Seen<u64>) {
        let silent: Silent = Silent::new();
        let keep: Keep = Keep::new(seen);
        silent.number >> keep.number;
    }
}

/// Checks that the clock is at the end of the limit to the nanosecond, also if no timer of the graph is due then.
fn time_while_waiting(_: &Platform) -> Result<(), Failed> {
    let clock = Clock::simulated();
    let platform = Platform::host().clock(&clock).build()?;
    let limit = Duration::from_nanos(3_333_333);
    let report = Waits::new(&platform, Seen::default())?.run_for(limit)?;
    check_equal(&report.end, &End::TimeOver)?;
    check_equal(clock.now(), Timestamp(3_333_333))?;
    check_equal(report.ticks("keep"), Some(0))
}

fn time_not_needed(platform: &Platform) -> Result<(), Failed> {
    let report = Counted::new(platform, 3, Seen::default())?.run_for(Duration::from_secs(3_600))?;
    check_equal((report.ticks("keep"), report.end), (Some(3), End::SourcesDone))
}

/// An operator that sleeps for an hour in each tick.
#[operator]
struct Sleeps {
    #[output]
    number: u64,
}

impl Compute for Sleeps {
    fn compute(&mut self, io: SleepsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.sleep(Duration::from_secs(3_600));
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Asleep {
        let one: Sleeps = Sleeps::new();
        let other: Sleeps = Sleeps::new();
        one.number >> _;
        other.number >> _;
    }
}

/// The numbers of workers. With 2, both sleep, and no worker is left that looks at the clock.
const SCHEDULERS: [usize; 4] = [0, 1, 2, 3];

fn asleep(platform: &Platform, workers: usize) -> Result<Asleep> {
    let mut graph = Asleep::new(platform)?;
    match workers {
        0 => graph.workers(Workers::none())?,
        count => graph.workers(count)?,
    };
    Ok(graph)
}

/// Runs are on threads that are not joined, since a run that hangs would last for an hour.
fn sleep(_: &Platform) -> Result<(), Failed> {
    for workers in SCHEDULERS {
        let (ended, ends) = channel();
        thread::spawn(move || {
            let run =
                || asleep(&Platform::host().build()?, workers)?.run_for(Duration::from_millis(1));
            ended.send(run().map(|report| report.end)).is_ok()
        });
        check_equal(ends.recv_timeout(PATIENCE)??, End::TimeOver)?;
    }
    Ok(())
}

fn simulated_sleep(_: &Platform) -> Result<(), Failed> {
    for workers in SCHEDULERS {
        let clock = Clock::simulated();
        let platform = Platform::host().clock(&clock).build()?;
        let report = asleep(&platform, workers)?.run_for(Duration::from_millis(1))?;
        check_equal(
            (workers, report.end, clock.now()),
            (workers, End::TimeOver, Timestamp(1_000_000)),
        )?;
    }
    Ok(())
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let report = Endless::new(platform, Seen::default())?.run_for(5_000)?;
    check_equal(&report.end, &End::Stopped { by: StoppedBy::StopGraph("keep".into()) })?;
    check_equal(report.ticks("keep"), Some(1001))
}
