//! Operators that hold messages back, and send them when their inputs have ended: `#[operator(flush)]`.

mod cut_off;
mod device;
mod ends;
mod failures;
mod held;
mod left;
mod meanwhile;
mod operators;
mod optional;
mod order;

use operators::{Count, Delay, List, SumOfFour};
use streamflow::prelude::*;
use streamflow::schedule::{End, Report, Stepped, Workers};
use streamflow::testing::OperatorHarness;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, runs};

pub(crate) fn suite() -> Suite {
    let suite = device::add(failures::add(left::add(order::add(ends::add(Suite::new())))));
    optional::add(held::add(cut_off::add(meanwhile::add(suite))))
        .both("what_an_operator_holds_back_is_sent_when_its_inputs_have_ended", sums)
        .both("a_run_that_is_stepped_flushes", stepped)
        .both("a_replayed_run_flushes", replayed)
        .both("a_harness_flushes", harness)
        .both("a_tick_of_a_harness_between_two_flushes_calls_nothing", harness_between)
        .plain("a_run_flushes_in_each_order::host", || {
            in_each_order(2, |platform| Sums::new(platform, 10), |graph, done| judge(graph, &done?))
        })
}

runs!(Sums);

/// Returns how many ticks a node did, and how many of them were ticks of `flush`.
pub(crate) fn ticks(report: &Report, node: &str) -> (u64, u64) {
    let found = report.nodes.iter().find(|found| found.name == node);
    found.map_or((0, 0), |found| (found.ticks, found.flush_ticks))
}

graph! {
    struct Sums(numbers: u64) {
        #[when(count(numbers))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

fn judge(graph: &mut Sums, report: &Report) -> Result<(), Failed> {
    check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 22, 17])?;
    check_equal(graph.sum().held.len(), 0)?;
    check_equal(&report.end, &End::SourcesDone)?;
    check_equal(ticks(report, "sum"), (11, 1))?;
    check(report.dropped.is_empty(), || format!("{report:?}"))?;
    check(report.nodes.iter().all(|node| !node.unflushed), || format!("{report:?}"))?;
    check_text(&report.to_string(), &["\nflush of         ticks\nsum                  1\n"])
}

/// Checks in a harness that a tick between two calls of `flush` calls no hook.
fn harness_between(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Delay::new(Vec::new(), false, 0))?;
    for n in 0..3 {
        harness.push(|ports| &mut ports.n, n)?;
        check(harness.tick()?, || "the operator was not ready".to_owned())?;
    }
    for n in 0..3 {
        check_equal(harness.flush()?, Flushed::More)?;
        let flushes = harness.operator().flushes;
        check_equal([harness.tick()?, harness.tick()?], [false; 2])?;
        check_equal(harness.operator().flushes, flushes)?;
        check_equal(harness.take(|ports| &mut ports.out).map(|out| *out.message), Some(n))?;
    }
    check_equal(harness.flush()?, Flushed::Done)?;
    Ok(harness.stop()?)
}

/// Checks that a second run flushes as the first one does. If the operator holds nothing back, `flush` sends
/// nothing.
fn sums(platform: &Platform) -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let mut graph = Sums::new(platform, 10)?;
        graph.workers(workers)?;
        for _ in 0..2 {
            let report = graph.run()?;
            judge(&mut graph, &report)?;
        }
    }
    let mut graph = Sums::new(platform, 8)?;
    let report = graph.run()?;
    check_equal(&graph.list().got[..], &[6, 22])?;
    check_equal((ticks(&report, "sum"), ticks(&report, "list")), ((9, 1), (2, 0)))
}

fn stepped(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Sums::new(platform, 10)?;
    while graph.tick()? != Stepped::Over {}
    let report = graph.end_run()?;
    judge(&mut graph, &report)
}

graph! {
    #[replay]
    struct Replayed {
        #[when(count(10))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

fn replayed(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Replayed::new(platform)?;
    graph.run()?;
    check_equal(&graph.list().got[..], &[6, 22, 17])
}

fn harness(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, SumOfFour::new(Vec::new()))?;
    for run in 0..2 {
        for n in 0..5 {
            harness.push(|ports| &mut ports.n, n)?;
        }
        let ran = [harness.tick()?, harness.tick()?];
        check_equal(ran, [true; 2])?;
        // The operator holds two messages, and `flush` receives the three others.
        check_equal(harness.flush()?, Flushed::Done)?;
        let sum = harness.take(|ports| &mut ports.sum).map(|sum| *sum.message);
        check_equal(sum, Some(10))?;
        check_equal(harness.flush()?, Flushed::Done)?;
        check(harness.take(|ports| &mut ports.sum).is_none(), || "flushed twice".to_owned())?;
        harness.push(|ports| &mut ports.n, 1)?;
        check(!harness.tick()?, || format!("run {run}: a tick after the flush"))?;
        harness.stop()?;
    }
    Ok(())
}
