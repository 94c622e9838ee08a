//! Failures of operators that have a `flush`.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

use super::operators::{Count, List};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_run_that_fails_flushes_nothing::host", run_fails)
        .plain("a_flush_that_fails_ends_the_run::host", flush_fails)
        .plain("a_flush_that_panics_ends_the_run::host", flush_panics)
        .plain("a_flush_that_fails_ends_by_its_policy::host", policies)
        .plain("a_fresh_operator_is_flushed::host", restarted)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fails {
    Compute(u64),
    Flush,
    Panics,
}

/// An operator that sends its sum in two halves, one in each of two ticks of `flush`.
#[operator(flush)]
struct Fragile {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    fails: Fails,
    held: u64,
    flushes: u64,
}

impl Compute for Fragile {
    fn compute(&mut self, io: FragileIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        if self.fails == Fails::Compute(cx.tick()) { Err(Failure::msg("broken")) } else { Ok(()) }
    }
}

impl Flush for Fragile {
    fn flush(&mut self, io: FragileFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.flushes += 1;
        io.sum.emit(self.held / 2)?;
        if self.flushes < 2 {
            return Ok(Flushed::More);
        }
        match self.fails {
            Fails::Flush => Err(Failure::msg("broken")),
            #[allow(clippy::panic, reason = "the panic is what is tested")]
            Fails::Panics => panic!("broken"),
            Fails::Compute(_) => Ok(Flushed::Done),
        }
    }
}

graph! {
    struct Stops(fails: Fails) {
        #[when(count(5))] let count: Count = Count::new();
        let sum: Fragile = Fragile::new(fails, 0, 0);
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Skips(fails: Fails) {
        #[when(count(5))] let count: Count = Count::new();
        #[on_failure(skip)] let sum: Fragile = Fragile::new(fails, 0, 0);
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Restarts(fails: Fails) {
        #[when(count(5))] let count: Count = Count::new();
        #[on_failure(restart(3, Duration::ZERO))] let sum: Fragile = Fragile::new(fails, 0, 0);
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}
runs!(Stops, Skips, Restarts);

fn run_fails() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Stops::new(platform, Fails::Compute(3)),
        |graph, done| {
            let text = check_error("the run", done, |_| true)?;
            check_text(&text, &["`sum`", "compute", "tick 3", "broken"])?;
            check_equal((graph.list().got.len(), graph.sum().flushes), (0, 0))
        },
    )
}

/// Checks that messages which a tick of `flush` emitted before it failed are not sent.
fn flush_fails() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Stops::new(platform, Fails::Flush),
        |graph, done| {
            let text = check_error("the run", done, |_| true)?;
            check_text(&text, &["`sum`", "flush", "tick 6", "broken"])?;
            *graph.sum_mut() = Fragile::new(Fails::Flush, 0, 0);
            check_equal(std::mem::take(&mut graph.list_mut().got).len() <= 1, true)
        },
    )
}

fn flush_panics() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Stops::new(platform, Fails::Panics),
        |graph, done| {
            let text = check_error("the run", done, |_| true)?;
            check_text(&text, &["`sum`", "flush", "broken"])?;
            *graph.sum_mut() = Fragile::new(Fails::Panics, 0, 0);
            Ok(())
        },
    )
}

/// Checks that after a failed tick of `flush`, the node has no further one, and that the report says so.
fn policies() -> Result<(), Failed> {
    for fails in [Fails::Flush, Fails::Panics] {
        in_each_order(
            2,
            |platform| Skips::new(platform, fails),
            |graph, done| {
                let report = done?;
                check_equal(std::mem::take(&mut graph.list_mut().got), vec![5])?;
                check_equal(ticks(&report, "sum"), (7, 2))?;
                let of = report.nodes.iter().find(|node| node.name == "sum");
                check_equal(of.map(|node| (node.failures, node.unflushed)), Some((1, true)))?;
                *graph.sum_mut() = Fragile::new(fails, 0, 0);
                Ok(())
            },
        )?;
        in_each_order(
            2,
            |platform| Restarts::new(platform, fails),
            |graph, done| {
                let report = done?;
                check_equal(std::mem::take(&mut graph.list_mut().got), vec![5])?;
                let of = report.nodes.iter().find(|node| node.name == "sum");
                let of = of.map(|node| (node.failures, node.restarts, node.unflushed));
                check_equal(of, Some((1, 0, true)))
            },
        )?;
    }
    Ok(())
}

/// Checks a restart: the operator that failed held the numbers 0, 1 and 2, and the new operator holds 3 and 4.
fn restarted() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Restarts::new(platform, Fails::Compute(2)),
        |graph, done| {
            let report = done?;
            check_equal(std::mem::take(&mut graph.list_mut().got), vec![3, 3])?;
            check_equal(ticks(&report, "sum"), (7, 2))?;
            *graph.sum_mut() = Fragile::new(Fails::Compute(2), 0, 0);
            Ok(())
        },
    )
}
