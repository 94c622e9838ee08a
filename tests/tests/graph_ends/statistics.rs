//! The statistics of a run. All durations come from a simulated clock, so the expected reports are exact.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{PathReport, Report, Summary};
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("without_statistics_a_report_has_no_times", absent)
        .both("statistics_have_the_time_of_each_node_and_the_latency_of_each_path", exact)
        .both("each_run_has_statistics_of_its_own", again)
        .both("each_tick_and_message_is_measured", all_are_counted)
        .both("data_begins_where_an_operator_discards_its_message", discarded)
        .both("a_time_of_the_operator_s_own_counts_for_the_latency", own_time)
        .both("feedback_has_no_part_in_latency", feedback)
        .both("statistics_are_tables_with_units", tables)
        .both("statistics_of_a_real_clock_count_each_tick", real)
}

const MS: Duration = Duration::from_millis(1);
const TICKS: u64 = 7;

/// Returns a platform with the driver of `platform`, with statistics, and with `clock`.
fn measured(platform: &Platform, clock: &Clock) -> Result<Platform> {
    let builder = Platform::builder().statistics(true).clock(clock);
    Ok(builder.driver(platform.driver().clone())?)
}

fn simulated(platform: &Platform) -> Result<Platform> {
    measured(platform, &Clock::simulated())
}

/// A source whose ticks take `ms` milliseconds each before they send.
#[operator]
struct Source {
    #[output]
    number: u64,
    ms: u32,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(MS * self.ms);
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Join {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    #[output]
    sum: u64,
    ms: u32,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The message that arrives later is received first, so that the order of the calls does not decide the latency.
        let b = io.b.receive().into_data();
        let a = io.a.receive().into_data();
        cx.platform().clock().advance(MS * self.ms);
        io.sum.emit(a + b)
    }
}

#[operator]
struct Sink {
    #[input]
    number: &u64,
    ms: u32,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.receive().into_data();
        cx.platform().clock().advance(MS * self.ms);
        Ok(())
    }
}

graph! {
    struct Fork() {
        #[when(count(TICKS))] let a: Source = Source::new(1);
        #[when(count(TICKS))] let b: Source = Source::new(2);
        let join: Join = Join::new(4);
        let sum: Sink = Sink::new(8);
        let only_b: Sink = Sink::new(16);
        a.number >> join.a;
        b.number >> join.b;
        b.number >> only_b.number;
        join.sum >> sum.number;
    }
}

/// Returns the host times of a node in a report.
fn host_time(report: &Report, node: &str) -> Option<Summary> {
    report.nodes.iter().find(|found| found.name == node)?.host_time
}

/// Returns the paths of a report, each with its count and its longest latency in milliseconds.
fn paths(report: &Report) -> Vec<(&str, &str, u64, u128)> {
    let mut paths = Vec::new();
    for PathReport { source, sink, summary, .. } in &report.latency {
        paths.push((source.as_str(), sink.as_str(), summary.count, summary.max.as_millis()));
    }
    paths
}

fn absent(platform: &Platform) -> Result<(), Failed> {
    let report = Fork::new(platform)?.run()?;
    check_equal((report.latency.len(), report.unmeasured), (0, 0))?;
    let has_times = report.nodes.iter().any(|node| node.host_time.or(node.lateness).is_some());
    check(!has_times && !report.to_string().contains("p99"), || format!("{report}"))?;
    check_equal(report.ticks("join"), Some(TICKS))
}

fn exact(platform: &Platform) -> Result<(), Failed> {
    let report = greedy(Fork::new(&simulated(platform)?)?)?.run()?;
    for (node, ms) in [("a", 1), ("b", 2), ("join", 4), ("sum", 8), ("only_b", 16)] {
        let Some(found) = host_time(&report, node) else {
            return Err(Failed::msg(format!("`{node}` has no time: {report}")));
        };
        // All ticks of a node take the same time, so the percentiles are exact.
        check_equal(
            (found.count, found.p50, found.p99, found.max),
            (TICKS, MS * ms, MS * ms, MS * ms),
        )?;
    }
    let order: Vec<&str> = report.nodes.iter().map(|node| node.name.as_str()).collect();
    check_equal(order, vec!["a", "b", "join", "sum", "only_b"])?;
    // The greedy scheduler runs the nodes one after the other. For `sum` the data of `a` is the oldest, and `only_b`
    // runs after `sum`.
    let expected = vec![("a", "sum", TICKS, 2 + 4 + 8), ("b", "only_b", TICKS, 4 + 8 + 16)];
    check_equal(paths(&report), expected)?;
    check(report.simulated_time && report.unmeasured == 0, || format!("{report:?}"))?;
    check(report.nodes.iter().all(|node| node.lateness.is_none()), || format!("{report:?}"))
}

/// Checks that under any scheduler, all ticks and messages are counted, and that no path's latency is below the
/// times of its nodes.
fn all_are_counted(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Fork::new(&simulated(platform)?)?;
    for _ in 0..2 {
        let report = graph.run()?;
        for (node, ms) in [("a", 1), ("b", 2), ("join", 4), ("sum", 8), ("only_b", 16)] {
            let found = host_time(&report, node).map(|found| (found.count, found.max >= MS * ms));
            check_equal(found, Some((TICKS, true)))?;
        }
        let mut counts = [("sum", 0), ("only_b", 0)];
        for (_, sink, count, ms) in paths(&report) {
            check(ms >= if sink == "sum" { 12 } else { 16 }, || format!("{report}"))?;
            counts.iter_mut().filter(|it| it.0 == sink).for_each(|it| it.1 += count);
        }
        check_equal(counts, [("sum", TICKS), ("only_b", TICKS)])?;
        check_equal(report.unmeasured, 0)?;
    }
    Ok(())
}

fn again(platform: &Platform) -> Result<(), Failed> {
    let mut graph = greedy(Fork::new(&simulated(platform)?)?)?;
    let first = graph.run()?;
    check_equal(graph.run()?, first)
}

/// An operator that sets a new acquisition time, its own, whenever a message arrives.
#[operator]
struct Triggered {
    #[input]
    trigger: u64,
    #[output]
    number: u64,
}

impl Compute for Triggered {
    fn compute(&mut self, io: TriggeredIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.trigger.discard();
        cx.platform().clock().advance(MS);
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Trigger() {
        #[when(count(TICKS))] let source: Source = Source::new(1);
        let one: Triggered = Triggered::new();
        let two: Triggered = Triggered::new();
        let three: Triggered = Triggered::new();
        let sink: Sink = Sink::new(3);
        source.number >> one.trigger;
        one.number >> two.trigger;
        two.number >> three.trigger;
        three.number >> sink.number;
    }
}

fn discarded(platform: &Platform) -> Result<(), Failed> {
    let report = greedy(Trigger::new(&simulated(platform)?)?)?.run()?;
    check_equal(paths(&report), vec![("three", "sink", TICKS, 3)])
}

/// An operator that sends each number with an acquisition time of half a second ago.
#[operator]
struct Old {
    #[input(optional)]
    number: u64,
    #[output]
    old: u64,
}

impl Compute for Old {
    fn compute(&mut self, io: OldIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data().unwrap_or_default();
        io.old.acquired(Timestamp(cx.now().0 - 500_000_000)).emit(number)
    }
}

graph! {
    struct Older() {
        #[when(count(TICKS))] let source: Source = Source::new(0);
        let old: Old = Old::new();
        let sink: Sink = Sink::new(2);
        source.number >> old.number;
        old.old >> sink.number;
    }
}

/// Checks that a path begins at the source, although a later node sets an older acquisition time.
fn own_time(platform: &Platform) -> Result<(), Failed> {
    let clock = Clock::simulated();
    clock.advance(MS * 1000);
    let report = greedy(Older::new(&measured(platform, &clock)?)?)?.run()?;
    check_equal(paths(&report), vec![("source", "sink", TICKS, 502)])
}

/// An operator that adds up numbers over a feedback edge. It counts as a sink, since it sends to no other node.
#[operator]
struct Total {
    #[input]
    before: u64,
    #[input]
    number: u64,
    #[output]
    total: u64,
}

impl Compute for Total {
    fn compute(&mut self, io: TotalIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (before, number) = (io.before.receive().into_data(), io.number.receive().into_data());
        cx.platform().clock().advance(MS * 5);
        io.total.emit(before + number)
    }
}

graph! {
    struct Totals() {
        #[when(count(TICKS))] let source: Source = Source::new(1);
        let total: Total = Total::new();
        source.number >> total.number;
        #[feedback(initial = 0)] total.total >> total.before;
    }
}

/// Checks that the latency of each message counts from its own acquisition, and not from that of the first
/// message in the loop.
fn feedback(platform: &Platform) -> Result<(), Failed> {
    let mut graph = greedy(Totals::new(&simulated(platform)?)?)?;
    for _ in 0..2 {
        check_equal(paths(&graph.run()?), vec![("source", "total", TICKS, 5)])?;
    }
    Ok(())
}

fn tables(platform: &Platform) -> Result<(), Failed> {
    let text = greedy(Totals::new(&simulated(platform)?)?)?.run()?.to_string();
    let lines = [
        "host time of a tick, simulated         count        p50        p99        max",
        "source                                     7    1.00 ms    1.00 ms    1.00 ms",
        "total                                      7    5.00 ms    5.00 ms    5.00 ms",
        "latency of a path, simulated           count        p50        p99        max",
        "source → total                             7    5.00 ms    5.00 ms    5.00 ms",
        "all times are simulated time",
    ];
    check_text(&text, &lines)
}

graph! {
    struct Plain() {
        #[when(count(TICKS))] let source: Counter = Counter::new();
        let sink: Sink = Sink::new(0);
        let other: Sink = Sink::new(0);
        source.number >> sink.number;
        #[policy(pop)] source.number >> other.number;
    }
}

fn real(platform: &Platform) -> Result<(), Failed> {
    let report = greedy(Plain::new(&measured(platform, &Clock::real())?)?)?.run()?;
    let counts: Vec<_> = paths(&report).into_iter().map(|(a, b, count, _)| (a, b, count)).collect();
    check_equal(counts, vec![("source", "sink", TICKS), ("source", "other", TICKS)])?;
    check_equal(host_time(&report, "source").map(|time| time.count), Some(TICKS))?;
    // This clock is a real one. On the simulator, each table of the report says that the device is simulated.
    let text = report.to_string();
    check(!report.simulated_time && !text.contains("simulated time"), || text.clone())?;
    let marked = text
        .lines()
        .filter(|line| line.contains("p99"))
        .map(|title| title.contains(", simulated device  ") == platform.is_simulated());
    check(marked.collect::<Vec<_>>() == [true, true], || text.clone())?;
    check(text.contains("of the host simulator") == platform.is_simulated(), || text)?;
    let ordered = |time: &Summary| time.p50 <= time.p99 && time.p99 <= time.max;
    let times = report.latency.iter().map(|path| path.summary);
    let times = times.chain(report.nodes.iter().filter_map(|node| node.host_time));
    check(times.clone().count() == 5 && times.clone().all(|time| ordered(&time)), || {
        format!("{report}")
    })
}
