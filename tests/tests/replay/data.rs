//! A replayed graph computes the same, and its report counts the replayed passes.

use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow::schedule::Report;
use streamflow_driver::driver::replay::ReplayReport;
use streamflow_tests::forms::Form;
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_replayed_diamond_computes_the_same", diamond)
        .both("many_rotations_of_buffers_are_replayed", rotations)
        .both("a_parameter_that_changes_once_is_set", change)
        .both("ticks_by_hand_are_replayed", by_hand)
}

pub(crate) const TICKS: u64 = 80;
/// Options with few rotations of buffers, so that ticks soon repeat.
pub(crate) const FEW: MemoryOptions = MemoryOptions::new().in_flight(2).small_in_flight(2);

/// Returns a platform on the same driver, with few rotations of buffers.
pub(crate) fn few(platform: &Platform) -> Result<Platform, Error> {
    Platform::builder().memory(FEW).driver(platform.driver().clone())
}

const NEVER: u64 = u64::MAX;

graph! {
    #[replay]
    pub(crate) struct Diamond(ticks: u64, changes: u64, got: Got) {
        #[when(count(ticks))] let source: Source = Source::new(None);
        let a: Step = Step::new(2, changes);
        let b: Step = Step::new(3, u64::MAX);
        let join: Join = Join::new();
        let fold: Fold = Fold::new(None, got);
        source.image >> (a.image, b.image);
        a.out >> join.a;
        b.out >> join.b;
        join.out >> fold.image;
    }
}

graph! {
    struct Plain(ticks: u64, got: Got) {
        #[when(count(ticks))] let source: Source = Source::new(None);
        let fold: Fold = Fold::new(None, got);
        source.image >> fold.image;
    }
}

pub(crate) fn replayed(report: &Report) -> Result<&ReplayReport, Failed> {
    report.replay.as_ref().ok_or_else(|| Failed::msg(format!("no replay in: {report}")))
}

fn diamond(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Diamond::new(&few(platform)?, TICKS, NEVER, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(TICKS, NEVER)])?;
    let replay = replayed(&report)?;
    check(replay.replayed > TICKS * 3 / 4, || report.to_string())?;
    check_equal(replay.replayed + replay.sent, TICKS)?;
    check_text(&report.to_string(), &["replay: ", "replayed"])
}

/// Checks replay with the platform's own options, where memory is used again after 16 ticks.
fn rotations(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Diamond::new(platform, 150, NEVER, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(150, NEVER)])?;
    check(replayed(&report)?.replayed > 50, || report.to_string())
}

fn change(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Diamond::new(&few(platform)?, TICKS, TICKS / 2, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(TICKS, TICKS / 2)])?;
    let replay = replayed(&report)?;
    // In each rotation of buffers, the changed parameter is set once in the lane's CUDA graph.
    let is_replayed = replay.replayed > TICKS * 3 / 4 && (1..TICKS / 8).contains(&replay.changed);
    check(is_replayed, || report.to_string())
}

fn by_hand(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let mut graph = Diamond::new(&few(platform)?, NEVER, NEVER, got.clone())?;
    for _ in 0..TICKS {
        graph.tick()?;
    }
    let report = graph.end_run()?;
    check_equal(seen::all(&got), vec![expected(TICKS, NEVER)])?;
    check(replayed(&report)?.replayed > TICKS * 3 / 4, || report.to_string())
}

pub(super) fn not_asked(platform: &Platform) -> Result<(), Failed> {
    let report = Plain::new(platform, 8, Got::default())?.run()?;
    check_equal(report.replay.is_some(), Form::Replayed.is_set())
}
