//! What the report of a run says.

use streamflow::message::Policy;
use streamflow::prelude::*;
use streamflow::schedule::{DropReason, End, StoppedBy};
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_report_counts_ticks_and_dropped_messages", counts)
        .both("each_message_is_received_or_counted_as_dropped", nothing_lost)
        .both("each_run_has_a_report_of_its_own", again)
        .both("a_report_names_the_node_that_stopped_the_graph", stopped)
        .both("a_report_is_a_table", table)
}

/// Leaves each message for one tick.
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

/// Under any scheduler, each message is received or counted. A message that is left is received by the second tick.
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

/// 8 messages are sent to each consumer, which takes one of two.
fn counts(platform: &Platform) -> Result<(), Failed> {
    let report = greedy(Policies::new(platform, 8)?)?.run()?;
    let ticks = ["numbers", "popped", "rejected", "absent"].map(|node| report.ticks(node));
    check(ticks[0] == Some(8) && ticks[3].is_none(), || format!("{report:?}"))?;
    let lost = |edge: &str, reason| {
        let of = report.dropped.iter().find(|dropped| dropped.edge == edge);
        of.filter(|dropped| dropped.reason == reason).map(|dropped| dropped.messages)
    };
    let popped = lost("numbers.number >> popped.number", DropReason::Policy(Policy::Pop));
    let rejected = lost("numbers.number >> rejected.number", DropReason::Policy(Policy::Reject));
    check(popped == Some(4) && rejected == Some(4), || format!("{report:?}"))
}

fn again(platform: &Platform) -> Result<(), Failed> {
    let mut graph = greedy(Policies::new(platform, 4)?)?;
    let (first, second) = (graph.run()?, graph.run()?);
    check(first == second, || format!("{first:?}, then {second:?}"))
}

/// Stops the graph in its third tick.
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
    has("node ticks")?;
    has("numbers 8")?;
    has("edge dropped because")?;
    has("numbers.number >> popped.number 4 policy `pop`")
}
