//! Law 12 for operators with plans of libraries: steady ticks make no allocations.

use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::{Failed, check, plans};

use super::{check_steady, few_allocations_within, late, warm_calls};

/// The number of ticks, which is lower than for other graphs, since the simulator computes for longer.
const TICKS: usize = 200;

/// The number of library calls in a tick of [`plans::run`]: two of each operator, and two more where a solver
/// factors and then solves.
const CALLS: usize = 10;

pub(super) fn plans_make_no_resources(platform: &Platform) -> Result<(), Failed> {
    let calls = warm_calls(platform, TICKS, |platform, ticks, on_tick| {
        Ok(plans::run(platform, ticks, on_tick)?)
    })?;
    check_steady("plans", &calls)?;
    let found = calls.iter().filter(|call| matches!(call, Call::Library { .. })).count();
    // At both ends of the count, the sources may be ahead of the sink by some ticks.
    check(found.abs_diff(CALLS * TICKS) <= 5 * CALLS, || {
        format!("{found} calls of libraries in {TICKS} ticks, not {}", CALLS * TICKS)
    })
}

/// The products here are small. For a larger product, the simulator's device allocates, since the crate
/// `matrixmultiply` packs the matrices. Such an allocation is not the tick's own, and a GPU has none.
pub(super) fn plans_make_no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    few_allocations_within("plans", TICKS, late(), |ticks, on_tick| {
        Ok(plans::run(platform, ticks, on_tick)?)
    })
}
