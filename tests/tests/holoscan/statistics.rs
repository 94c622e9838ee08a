//! Job statistics and flow tracking: the report of a run, by counts and paths, and by times of a simulated clock.

use std::fs;
use std::io::Write;
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{PathReport, Report};
use streamflow::time::Clock;
use streamflow_tests::greedy::greedy;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::operators::{Seen, all, push_seen};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .both("n18_job_statistics", job_statistics)
        .both("n18_job_statistics_control", no_job_statistics)
        .both("n18_flow_tracking", flow_tracking)
        .both("n18_flow_tracking_control", other_flow)
}

const MS: Duration = Duration::from_millis(1);

/// Fewer messages than Holoscan's flow tracking needs: it leaves out the first ten and the last ten.
const TICKS: u64 = 10;

fn platform_with(platform: &Platform, statistics: bool) -> Result<Platform> {
    let builder = Platform::builder().statistics(statistics).clock(&Clock::simulated());
    Ok(builder.driver(platform.driver().clone())?)
}

/// Holoscan's `PingTxOp`: numbers from 1.
#[operator]
struct Ping {
    #[output]
    out: u64,
}

impl Compute for Ping {
    fn compute(&mut self, io: PingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.out.emit(cx.tick() + 1)
    }
}

/// Holoscan's `PingMxOp`: multiplies. It takes `ms`.
#[operator]
struct Middle {
    #[input]
    number: &u64,
    #[output]
    out: u64,
    by: u64,
    ms: u32,
}

impl Compute for Middle {
    fn compute(&mut self, io: MiddleIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.platform().clock().advance(MS * self.ms);
        io.out.emit(io.number.receive().into_data() * self.by)
    }
}

/// Holoscan's `PingRxOp`. It takes `ms`.
#[operator]
struct Receiver {
    #[input]
    number: &u64,
    ms: u32,
    seen: Seen<u64>,
}

impl Compute for Receiver {
    fn compute(&mut self, io: ReceiverIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, *io.number.receive().into_data());
        cx.platform().clock().advance(MS * self.ms);
        Ok(())
    }
}

graph! {
    struct Pings(seen: Seen<u64>) {
        #[when(count(TICKS))] let tx: Ping = Ping::new();
        let mx: Middle = Middle::new(3, 2);
        let rx: Receiver = Receiver::new(1, seen);
        tx.out >> mx.number;
        mx.out >> rx.number;
    }
}

fn pings(platform: &Platform) -> Result<Report, Failed> {
    let seen = Seen::default();
    let report = greedy(Pings::new(platform, seen.clone())?)?.run()?;
    check_equal(all(&seen), (1..=TICKS).map(|n| 3 * n).collect())?;
    check_equal(["tx", "mx", "rx"].map(|node| report.ticks(node)), [Some(TICKS); 3])?;
    Ok(report)
}

/// With statistics the report has each node's ticks and times, and can be written to a file.
fn job_statistics(platform: &Platform) -> Result<(), Failed> {
    let report = pings(&platform_with(platform, true)?)?;
    let times = report.nodes.iter().map(|node| {
        let time = node.host_time.map(|time| (time.count, time.p50, time.max));
        (node.name.as_str(), time)
    });
    let expected = [("tx", 0), ("mx", 2), ("rx", 1)];
    let expected = expected.map(|(node, ms)| (node, Some((TICKS, MS * ms, MS * ms))));
    check_equal(times.collect::<Vec<_>>(), expected.to_vec())?;
    let mut file = tempfile::NamedTempFile::new()?;
    write!(file, "{report}")?;
    let text = fs::read_to_string(file.path())?;
    check_text(&text, &["host time of a tick", "mx ", "2.00 ms", "latency of a path", "tx → rx"])
}

/// Without statistics it has the ticks alone.
fn no_job_statistics(platform: &Platform) -> Result<(), Failed> {
    let report = pings(&platform_with(platform, false)?)?;
    let is_plain = report.nodes.iter().all(|node| node.host_time.is_none());
    check(is_plain && report.latency.is_empty(), || format!("{report}"))?;
    check(!report.to_string().contains("host time"), || format!("{report}"))
}

graph! {
    /// Two roots and three leaves. One queue holds several messages, and one drops some.
    struct Flow(slow: u32, seen: [Seen<u64>; 3]) {
        #[when(count(TICKS))] let left: Ping = Ping::new();
        #[when(count(TICKS))] let right: Ping = Ping::new();
        let fast_way: Middle = Middle::new(1, 1);
        let slow_way: Middle = Middle::new(10, slow);
        let one: Receiver = Receiver::new(0, seen[0].clone());
        let two: Receiver = Receiver::new(0, seen[1].clone());
        let three: Receiver = Receiver::new(0, seen[2].clone());
        left.out >> fast_way.number;
        #[capacity(3)] right.out >> slow_way.number;
        fast_way.out >> one.number;
        slow_way.out >> two.number;
        #[capacity(2)] #[policy(pop)] slow_way.out >> three.number;
    }
}

/// The paths of a run, with the count and the longest time, after a check of the data.
fn flow(platform: &Platform, slow: u32) -> Result<Vec<(String, u64, Duration)>, Failed> {
    let seen: [Seen<u64>; 3] = Default::default();
    let report = greedy(Flow::new(&platform_with(platform, true)?, slow, seen.clone())?)?.run()?;
    let numbers: Vec<u64> = (1..=TICKS).collect();
    let tens: Vec<u64> = numbers.iter().map(|number| 10 * number).collect();
    check_equal(seen.map(|seen| all(&seen)), [numbers, tens.clone(), tens])?;
    let path = |PathReport { source, sink, summary, .. }: PathReport| {
        (format!("{source}>{sink}"), summary.count, summary.max)
    };
    Ok(report.latency.into_iter().map(path).collect())
}

/// Every message of every path counts, and only those paths are there that messages can take.
fn flow_tracking(platform: &Platform) -> Result<(), Failed> {
    let expected = ["left>one", "right>two", "right>three"];
    let expected = expected.map(|path| (path.to_owned(), TICKS, MS * 6));
    check_equal(flow(platform, 5)?, expected.to_vec())
}

/// A node that takes longer makes its paths longer, and those of the nodes that run after it.
fn other_flow(platform: &Platform) -> Result<(), Failed> {
    let expected = ["left>one", "right>two", "right>three"];
    let expected = expected.map(|path| (path.to_owned(), TICKS, MS * 10));
    check_equal(flow(platform, 9)?, expected.to_vec())
}
