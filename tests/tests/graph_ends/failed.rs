//! The messages of each edge in the report of a run with failed ticks, and of a run that did not start.

use streamflow::prelude::*;
use streamflow::schedule::{DropReason, EdgeReport};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::counting::{Slow, Tally};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("messages_that_a_failed_tick_has_not_taken_are_counted", failed)
        .both("the_report_of_a_run_that_did_not_start_has_no_figures_of_the_last_one", not_started)
}

/// An operator that fails in its second tick, before or after it has received `a`.
#[operator]
struct Fails {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    before: bool,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.before && cx.tick() == 1 {
            return Err(Failure::msg("before it has received"));
        }
        io.a.receive().into_data();
        if cx.tick() == 1 {
            return Err(Failure::msg("after it has received"));
        }
        io.b.receive().into_data();
        Ok(())
    }
}

graph! {
    struct Failing(before: bool) {
        #[when(count(3))] let a: Counter = Counter::new();
        #[when(count(3))] let b: Counter = Counter::new();
        #[on_failure(skip)] let skips: Fails = Fails::new(before);
        #[on_failure(restart(1, 1ms))] let restarts: Fails = Fails::new(before);
        a.number >> skips.a;
        b.number >> skips.b;
        a.number >> restarts.a;
        b.number >> restarts.b;
    }
}

fn failed(platform: &Platform) -> Result<(), Failed> {
    for before in [false, true] {
        let report = Failing::new(platform, before)?.run()?;
        let of = |edge: &str| {
            let EdgeReport { sent, received, dropped, left, .. } = *report.edge(edge)?;
            Some([sent, received, dropped, left])
        };
        let lost = |edge: &str| {
            let of = report.dropped.iter().filter(|of| of.edge == edge);
            of.map(|of| (of.messages, of.reason)).collect::<Vec<_>>()
        };
        let [all, two] = [Some([3, 3, 0, 0]), Some([3, 2, 1, 0])];
        let dropped = |is| if is { vec![(1, DropReason::TickFailed)] } else { Vec::new() };
        let edges = [
            ("a.number >> skips.a", before),
            ("b.number >> skips.b", true),
            ("a.number >> restarts.a", false),
            // An operator that fails before it has received anything leaves its messages to the new operator.
            ("b.number >> restarts.b", !before),
        ];
        for (edge, loses) in edges {
            check_equal((edge, of(edge)), (edge, if loses { two } else { all }))?;
            check_equal((edge, lost(edge)), (edge, dropped(loses)))?;
        }
        check_text(&report.to_string(), &["3  a tick of the consumer failed before it took them"])?;
    }
    Ok(())
}

/// An operator whose second `start` fails.
#[operator]
struct StartsOnce {
    #[output]
    number: u64,
    has_started: bool,
}

impl Compute for StartsOnce {
    fn start(&mut self, _: StartsOnceStreams<'_>, _: &ExecutionContext) -> Result<()> {
        if std::mem::replace(&mut self.has_started, true) {
            return Err(Failure::msg("no second time"));
        }
        Ok(())
    }

    fn compute(&mut self, io: StartsOnceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Starts(tally: Tally) {
        #[when(count(5))] let once: StartsOnce = StartsOnce::new(false);
        let slow: Slow = Slow::new(true, "slow.n", tally);
        #[policy(pop)] once.number >> slow.n;
    }
}

fn not_started(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Starts::new(platform, Tally::default())?;
    let first = graph.run()?;
    check_equal(first.edges.iter().map(|edge| edge.sent).sum::<u64>(), 5)?;
    let running = graph.spawn()?;
    let handle = running.handle();
    check(running.join().is_err(), || "it has started again".to_owned())?;
    let report = handle.report()?;
    check_text(&report.to_string(), &["no second time"])?;
    let figures: Vec<_> = report.edges.iter().map(|of| (of.sent, of.received, of.left)).collect();
    check_equal(figures, vec![(0, 0, 0)])?;
    check_equal((report.ticks("once"), report.ticks("slow")), (Some(0), Some(0)))?;
    check_equal(report.dropped.len(), 0)
}
