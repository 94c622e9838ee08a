//! `#[on_failure(skip)]`: a node goes on after a failed tick, which sends nothing.

use streamflow::prelude::*;
use streamflow::schedule::{Report, Workers};
use streamflow_tests::greedy::greedy;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

use super::numbers::{
    Camera, Fault, Filter, Keep, Numbers, Planned, Shared, check_operators, locked, log, lost,
    without,
};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_skipped_tick_loses_its_messages_and_no_others", skips)
        .both("a_skipped_tick_loses_what_an_optional_input_would_have_received", optional)
        .both("without_the_policy_the_first_failure_ends_the_run", stops)
        .both("a_tick_that_fails_and_leaves_its_messages_is_not_repeated_for_ever", leaves)
        .both("a_source_that_fails_in_each_tick_does_its_count", source)
        .both("a_skipped_failure_is_in_the_report", reported)
        .both("a_stall_names_the_ticks_that_failed", stalls)
}

const FAULTS: [(u64, Fault); 5] =
    [(0, Fault::Early), (3, Fault::Late), (4, Fault::Panic), (5, Fault::Early), (9, Fault::Late)];

graph! {
    struct Skips(count: u64, log: Shared) {
        #[when(count(count))] let numbers: Numbers = Numbers::new();
        #[on_failure(skip)] let filter: Filter = Filter::new(log)?;
        let keep: Keep = Keep::new(Vec::new());
        numbers.number >> (filter.number, filter.other);
        filter.out >> keep.number;
    }
}

graph! {
    struct Stops(count: u64, log: Shared) {
        #[when(count(count))] let numbers: Numbers = Numbers::new();
        #[on_failure(stop)] let filter: Filter = Filter::new(log)?;
        let keep: Keep = Keep::new(Vec::new());
        numbers.number >> (filter.number, filter.other);
        filter.out >> keep.number;
    }
}

graph! {
    struct SkipsSource(count: u64, log: Shared) {
        #[when(count(count))] #[on_failure(skip)] let camera: Camera = Camera::new(log);
        let keep: Keep = Keep::new(Vec::new());
        camera.number >> keep.number;
    }
}

fn node<'a>(
    report: &'a Report,
    name: &str,
) -> Result<&'a streamflow::schedule::NodeReport, Failed> {
    let found = report.nodes.iter().find(|node| node.name == name);
    found.ok_or_else(|| Failed::msg(report))
}

fn skips(platform: &Platform) -> Result<(), Failed> {
    let log = log(&FAULTS);
    let mut graph = Skips::new(platform, 12, log.clone())?;
    for _ in 0..2 {
        let report = graph.run()?;
        // The two inputs stay in step, even if the failed tick had received only one of them.
        let expected = without(12, &FAULTS);
        let seen = std::mem::take(&mut graph.keep_mut().seen);
        check(seen == expected, || format!("{seen:?}, not {expected:?}"))?;
        let filter = node(&report, "filter")?;
        check((filter.ticks, filter.failures, filter.restarts) == (12, 5, 0), || {
            report.to_string()
        })?;
        // The failed ticks had not received these messages of the other input, which are dropped with them.
        check_equal(lost(&report), vec![("numbers.number >> filter.other", 2)])?;
    }
    // The operator that failed goes on, and is not replaced.
    let done = locked(&log).done.last().copied();
    check(done == Some((11, 11, 13)), || format!("{done:?}"))?;
    check_operators(&log, [1, 2, 2, 0])
}

fn stops(platform: &Platform) -> Result<(), Failed> {
    let log = log(&FAULTS[1..]);
    let mut graph = Stops::new(platform, 12, log.clone())?;
    let run = graph.run().map(drop);
    check(run.as_ref().is_err_and(|error| error.find_cause() == Some(&Planned(3))), || {
        format!("{run:?}")
    })?;
    check(graph.keep().seen == [0, 1, 2], || format!("{:?}", graph.keep().seen))?;
    check_error("run", run, |error| matches!(error, Error::Operator { tick: 3, .. }))?;
    check_operators(&log, [1, 1, 1, 0])
}

fn leaves(platform: &Platform) -> Result<(), Failed> {
    let faults: Vec<_> = (2..1000).map(|tick| (tick, Fault::Leaves)).collect();
    let log = log(&faults);
    let text = stalled(Skips::new(platform, 12, log.clone())?.run())?;
    check_text(&text, &["`filter`", "leaves the messages of"])?;
    let ticks = locked(&log).ticks.len();
    check(ticks < 100, || format!("{ticks} ticks"))
}

fn source(platform: &Platform) -> Result<(), Failed> {
    let faults: Vec<_> =
        (0..20).filter(|tick| tick % 5 != 0).map(|tick| (tick, Fault::Late)).collect();
    let log = log(&faults);
    let mut graph = SkipsSource::new(platform, 20, log.clone())?;
    let report = graph.run()?;
    check(graph.keep().seen == [0, 5, 10, 15], || format!("{:?}", graph.keep().seen))?;
    let camera = node(&report, "camera")?;
    check((camera.ticks, camera.failures) == (20, 16), || report.to_string())
}

fn reported(platform: &Platform) -> Result<(), Failed> {
    let report = Skips::new(platform, 12, log(&FAULTS))?.run()?;
    let filter = node(&report, "filter")?;
    let first = filter.first_failure.as_deref().unwrap_or_default();
    check_text(first, &["`filter`", "`compute`, tick 0", "planned for tick 0"])?;
    let text = report.to_string();
    check_text(&text, &["failures of", "planned for tick 0"])?;
    check(!text.contains("restarts"), || text.clone())?;
    let fine = Skips::new(platform, 12, log(&[]))?.run()?;
    check(!fine.to_string().contains("failures"), || fine.to_string())
}

/// An operator that needs a number at each input.
#[operator]
struct Pairs {
    #[input]
    a: u64,
    #[input]
    b: &u64,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.b.discard();
        Ok(())
    }
}

graph! {
    struct Stalls(limit: u64, log: Shared) {
        #[when(count(3))] let numbers: Numbers = Numbers::new();
        #[when(count(limit))] #[on_failure(skip)] let filter: Filter = Filter::new(log)?;
        let pairs: Pairs = Pairs::new();
        numbers.number >> (filter.number, filter.other);
        filter.out >> pairs.a;
        #[capacity(3)] numbers.number >> pairs.b;
    }
}

/// Checks that the run stalls, since one pair lacks the message that the failed tick did not send.
fn stalls(platform: &Platform) -> Result<(), Failed> {
    let failed = "of which 1 failed and sent nothing (`on_failure(skip)`)";
    for (limit, expected) in [
        (9, format!("`filter`, after 3 of 9 ticks, {failed}, waits for")),
        (3, format!("`filter` is done: its `count` of 3 is reached, {failed}")),
    ] {
        let text = stalled(Stalls::new(platform, limit, log(&[(1, Fault::Late)]))?.run())?;
        check_text(&text, &[&expected])?;
        let text = stalled(Stalls::new(platform, limit, log(&[(9, Fault::Late)]))?.run());
        check(text.is_err(), || "a run without a failure stalls".into())?;
    }
    Ok(())
}

/// An operator that fails in its second tick, after it has left the message at its input, or without leaving it.
#[operator]
struct Optional {
    #[input(optional)]
    number: &u64,
    leaves: bool,
}

impl Compute for Optional {
    fn compute(&mut self, io: OptionalIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 1 {
            if self.leaves {
                io.number.leave();
            }
            return Err(Planned(1).into());
        }
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct OptionalSkips(leaves: bool) {
        #[when(count(4))] let numbers: Counter = Counter::new();
        #[on_failure(skip)] let optional: Optional = Optional::new(leaves);
        numbers.number >> optional.number;
    }
}

/// Checks that a message that the failed tick has left waits for the next tick.
fn optional(platform: &Platform) -> Result<(), Failed> {
    let edge = "numbers.number >> optional.number";
    let judge = |report: &Report, received, dropped| {
        let all = if dropped > 0 { vec![(edge, dropped)] } else { Vec::new() };
        check_equal(lost(report), all)?;
        let counts = report.edge(edge).map(|of| (of.sent, of.received, of.dropped, of.left));
        check_equal(counts, Some((4, received, dropped, 0)))
    };
    for workers in [Workers::none(), Workers::new(2)] {
        let mut graph = OptionalSkips::new(platform, false)?;
        judge(&graph.workers(workers)?.run()?, 3, 1)?;
    }
    judge(&greedy(OptionalSkips::new(platform, true)?)?.run()?, 4, 0)
}
