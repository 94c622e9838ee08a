//! The lines of the report of a run.

use std::time::Duration;

use streamflow::message::QueuePolicy;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, End, Report, StoppedBy, Workers};
use streamflow::time::Clock;
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_report_counts_ticks_and_dropped_messages", counts)
        .both("each_message_is_received_or_counted_as_dropped", nothing_lost)
        .both("each_run_has_a_report_of_its_own", again)
        .both("a_report_names_the_node_that_stopped_the_graph", stopped)
        .both("a_report_is_a_table", table)
        .host("a_report_has_the_time_the_rates_and_the_missed_periods", times)
        .both("a_report_says_that_it_is_of_the_simulator", simulator)
}

/// An operator that leaves each message in the queue for one tick.
#[operator]
struct Slow {
    #[input]
    number: &u64,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            io.number.leave();
        } else {
            io.number.discard();
        }
        Ok(())
    }
}

graph! {
    struct Policies(count: u64) {
        #[when(count(count))] let numbers: Counter = Counter::new();
        let popped: Slow = Slow::new();
        let rejected: Slow = Slow::new();
        #[policy(pop)] numbers.number >> popped.number;
        #[policy(reject)] numbers.number >> rejected.number;
    }
}

/// Checks under any scheduler that each message is received or counted. A message that is left in one tick is
/// received in the next.
fn nothing_lost(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Policies::new(platform, 8)?;
    for _ in 0..2 {
        let report = graph.run()?;
        for node in ["popped", "rejected"] {
            let of_node = report.dropped.iter().filter(|it| it.edge.contains(node));
            let dropped: u64 = of_node.map(|it| it.messages).sum();
            let received = report.ticks(node).unwrap_or_default() / 2;
            check(received + dropped == 8, || format!("{node}: {report:?}"))?;
        }
    }
    Ok(())
}

/// Checks a run in which each consumer is sent 8 messages, and receives every second one.
fn counts(platform: &Platform) -> Result<(), Failed> {
    let report = greedy(Policies::new(platform, 8)?)?.run()?;
    let ticks = ["numbers", "popped", "rejected", "absent"].map(|node| report.ticks(node));
    check(ticks[0] == Some(8) && ticks[3].is_none(), || format!("{report:?}"))?;
    let lost = |edge: &str, reason| {
        let of = report.dropped.iter().find(|dropped| dropped.edge == edge);
        of.filter(|dropped| dropped.reason == reason).map(|dropped| dropped.messages)
    };
    let popped = lost("numbers.number >> popped.number", DropReason::Policy(QueuePolicy::Pop));
    let rejected =
        lost("numbers.number >> rejected.number", DropReason::Policy(QueuePolicy::Reject));
    check(popped == Some(4) && rejected == Some(4), || format!("{report:?}"))
}

fn again(platform: &Platform) -> Result<(), Failed> {
    let mut graph = greedy(Policies::new(platform, 4)?)?;
    let (first, mut second) = (graph.run()?, graph.run()?);
    second.elapsed = first.elapsed;
    check(first == second, || format!("{first:?}, then {second:?}"))
}

/// An operator that stops the graph in its third tick.
#[operator]
struct Stops {
    #[input]
    number: u64,
}

impl Compute for Stops {
    fn compute(&mut self, io: StopsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        if cx.tick() == 2 {
            cx.stop_graph();
        }
        Ok(())
    }
}

graph! {
    struct Stopped() {
        let numbers: Counter = Counter::new();
        let stops: Stops = Stops::new();
        #[capacity(3)] numbers.number >> stops.number;
    }
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let report = Stopped::new(platform)?.run()?;
    check(report.end == End::Stopped { by: StoppedBy::StopGraph("stops".into()) }, || {
        format!("{report:?}")
    })?;
    check(report.ticks("stops") == Some(3), || format!("{report:?}"))
}

fn table(platform: &Platform) -> Result<(), Failed> {
    let text = greedy(Policies::new(platform, 8)?)?.run()?.to_string();
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let has = |line: &str| check(lines.iter().any(|one| one == line), || text.clone());
    has("the run ended: all sources are done")?;
    has("node ticks ticks/s")?;
    check(lines.iter().any(|line| line.starts_with("numbers 8 ")), || text.clone())?;
    has("edge dropped of sent because")?;
    has("numbers.number >> popped.number 4 8 policy `pop`")
}

/// A source whose first tick takes 25 ms. Its `start` and `stop` hooks take time, too.
#[operator]
struct SlowAtFirst {
    #[output]
    number: u64,
}

impl Compute for SlowAtFirst {
    fn start(&mut self, _: SlowAtFirstStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(Duration::from_secs(7));
        Ok(())
    }

    fn compute(&mut self, io: SlowAtFirstIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 {
            cx.sleep(Duration::from_millis(25));
        }
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(Duration::from_millis(50));
        Ok(())
    }
}

graph! {
    struct Paced() {
        #[when(count(5), any(periodic(10ms), count(1)))] let skips: SlowAtFirst = SlowAtFirst::new();
        skips.number >> _;
    }
}

graph! {
    struct CatchesUp() {
        #[when(count(5), periodic(10ms, catch_up(1)))] let one: SlowAtFirst = SlowAtFirst::new();
        one.number >> _;
    }
}

graph! {
    struct Spaced() {
        #[when(count(5), periodic(10ms, spaced))] let spaced: SlowAtFirst = SlowAtFirst::new();
        spaced.number >> _;
    }
}

/// The tick after the slow one is due at 10 ms and begins at 25 ms. With `skip`, the moment at 20 ms has no tick, and the last
/// tick is at 50 ms; with `catch_up(1)` it is at 40 ms, and with `spaced` at 55 ms. The `stop` hook needs 50 ms more.
fn times(_: &Platform) -> Result<(), Failed> {
    let run = |kind: &str, workers: Workers| -> Result<Report, Error> {
        let platform = Platform::host().clock(&Clock::simulated()).build()?;
        match kind {
            "skips" => Paced::new(&platform)?.workers(workers)?.run(),
            "one" => CatchesUp::new(&platform)?.workers(workers)?.run(),
            _ => Spaced::new(&platform)?.workers(workers)?.run(),
        }
    };
    for workers in [Workers::none(), Workers::new(2)] {
        for (node, missed, last) in [("skips", 1, 50), ("one", 0, 40), ("spaced", 0, 55)] {
            let report = run(node, workers.clone())?;
            let elapsed = Duration::from_millis(last + 50);
            let misses: Vec<u64> = report.nodes.iter().map(|node| node.missed_periods).collect();
            check_equal((report.elapsed, misses), (elapsed, vec![missed]))?;
            check_equal(report.ticks_per_second(node), Some(5.0 / elapsed.as_secs_f64()))?;
            check_equal(report.ticks_per_second("absent"), None)?;
        }
        let text = run("skips", workers)?.to_string();
        let lines = [
            "elapsed: 100 ms; all times are simulated time, on the host simulator",
            "node          ticks    ticks/s",
            "skips             5       50.0",
            "skips             1  missed period(s)",
        ];
        check_text(&text, &lines)?;
    }
    // The simulated clock stands still during this run.
    let platform = Platform::host().clock(&Clock::simulated()).build()?;
    let report = Policies::new(&platform, 8)?.run()?;
    check_equal((report.elapsed, report.ticks_per_second("numbers")), (Duration::ZERO, None))
}

/// Checks that the report names the host simulator, also without statistics, and while the run goes on.
fn simulator(platform: &Platform) -> Result<(), Failed> {
    let says = |report: &Report| report.to_string().contains("the host simulator");
    let report = Policies::new(platform, 8)?.run()?;
    check_equal(says(&report), platform.is_simulated())?;
    let running = Stopped::new(platform)?.spawn()?;
    let so_far = running.report()?;
    check_equal(says(&so_far), platform.is_simulated())?;
    check_equal(says(&running.join()?), platform.is_simulated())
}
