//! A device that becomes slow after the warm-up, so that a run sleeps for the first time.

use std::sync::Arc;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_tests::graph_runs::{Example, OnTick};
use streamflow_tests::layers::NotYet;
use streamflow_tests::{Failed, check};

use super::{TICKS, WARM_UP, few_allocations_within, late};

/// More queries than a run makes about one event before it sleeps.
const QUERIES: u64 = 15_050;

/// Makes the device slow for a while, from tick `slow` on.
fn slow_at(slow: u64, device: &Arc<NotYet>, mut on_tick: OnTick) -> OnTick {
    let device = device.clone();
    Box::new(move |tick| {
        if tick == slow {
            device.for_next(QUERIES);
        }
        on_tick(tick)
    })
}

/// Checks a slow device. The stream that wakes a sleeping run exists already, from an earlier run. The simulator
/// executes all work at once, so that its own queues don't grow.
pub(super) fn slow_device() -> Result<(), Failed> {
    let driver = HostDriver::builder().seed(0).policy(Policy::Eager).build();
    let device = Arc::new(NotYet::new(Arc::new(Replaying::new(driver))));
    device.for_next(0);
    let platform = Platform::builder().driver(device.clone())?;
    let warm_up = WARM_UP as u64;
    Example::Default.run(
        &platform,
        warm_up,
        slow_at(warm_up / 2, &device, Box::new(|_| Ok(()))),
    )?;
    let slept = device.host_functions();
    few_allocations_within("a slow device", TICKS, late(), |ticks, on_tick| {
        Example::Default.run(&platform, ticks, slow_at(warm_up + 100, &device, on_tick))
    })?;
    check(0 < slept && slept < device.host_functions(), || "a run has not slept".to_owned())
}
