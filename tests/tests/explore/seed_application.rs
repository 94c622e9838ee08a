//! The application of NVIDIA's CudaStreamPool example with two ticks, explored in each of its states.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, explore, scope};
use streamflow_examples::seed_app;
use streamflow_examples::seed_graph::CudaStreamApp;
use streamflow_tests::greedy::greedy;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::seen::{report, take};
use streamflow_tests::{Failed, check, check_close};

use super::edges::enough_seeds;

const ROWS: usize = 2;
const COLS: u32 = 3;
const TICKS: u64 = 2;

/// Runs the application, and compares every value with the reference.
fn run(platform: &Platform) -> Result<()> {
    run_as(platform, Ok)
}

/// As [`run`], with a setting of the graph.
fn run_as(
    platform: &Platform,
    set: impl FnOnce(CudaStreamApp) -> Result<CudaStreamApp>,
) -> Result<()> {
    let (sums, report) = report();
    set(CudaStreamApp::new(platform, ROWS, COLS, TICKS, false, report)?)?.run()?;
    let sums = take(&sums);
    let ticks: Vec<_> = sums.iter().map(|(tick, _)| *tick).collect();
    if ticks != Vec::from_iter(0..TICKS) {
        return Err(Failure::msg(format!("the ticks {ticks:?} were reported")));
    }
    let tolerance = |expected| seed_app::tolerance(COLS) * expected;
    let reference = seed_app::reference(ROWS, COLS);
    sums.iter().try_for_each(|(_, row)| check_close(row, &reference, tolerance))
}

pub(crate) fn right() -> Result<(), Failed> {
    // The greedy scheduler is used, since the orders of workers would have more states than the exploration's limit.
    let found = Explorer::new().run_exhaustively(|platform| run_as(platform, greedy))?;
    found.check()?;
    // There are about 1400 pairs of submitted and executed operations, and further states by the answers of queries.
    check(found.states > Some(1400), || found.to_string())?;
    check(found.runs > 100, || found.to_string())
}

/// Runs two applications on one platform, each on a thread of its own.
pub(crate) fn in_two_threads() -> Result<(), Failed> {
    explore(|platform| {
        scope(|scope| {
            let other = scope.spawn(|| run(platform));
            run(platform)?;
            other.join().map_err(|_| Failure::msg("the thread panicked"))?
        })
    })?;
    Ok(())
}

pub(crate) fn found() -> Result<(), Failed> {
    let without_waits = |platform: &Platform| {
        Platform::builder().driver(Arc::new(DropWaits::all(platform.driver().clone())))
    };
    let broken = |platform: &Platform| run(&without_waits(platform)?);
    // The greedy scheduler is used, since the orders of four workers would have more states than the exploration's
    // limit.
    let greedy = |platform: &Platform| run_as(&without_waits(platform)?, greedy);
    // The race checker is off, so that the data alone must show the fault.
    let explorer = enough_seeds().race_check(false);
    for found in [explorer.run(broken)?, explorer.run_exhaustively(greedy)?] {
        let cause = found.failing.as_ref().map(|failing| failing.cause.to_string());
        check(cause.is_some_and(|cause| cause.starts_with("value ")), || found.to_string())?;
    }
    Ok(())
}
