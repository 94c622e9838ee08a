//! The driver calls of a replayed graph: each pass is one launch of a CUDA graph, with the calls that order it.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::driver::{Driver, Recorder};
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::data::{Diamond, FEW, TICKS};
use super::nodes::Got;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("law12_a_replayed_tick_is_a_launch_of_a_graph", |seed| {
            steady(Arc::new(HostDriver::builder().seed(seed).build()))
        })
        .cuda("law12_a_replayed_tick_is_a_launch_of_a_graph", |_| {
            steady(Arc::new(CudaDriver::new()?))
        })
}

fn steady(below: Arc<dyn Driver>) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(below));
    let driver = Arc::new(Replaying::over(recorder.clone()));
    let platform = Platform::builder().memory(FEW).driver(driver)?;
    let mut graph = Diamond::new(&platform, u64::MAX, u64::MAX, Got::default())?;
    for _ in 0..TICKS {
        graph.tick()?;
    }
    recorder.clear();
    for _ in 0..TICKS {
        graph.tick()?;
    }
    let calls = recorder.calls();
    graph.end_run()?;
    let is_steady = |call: &&Call| {
        matches!(
            call,
            Call::Bind { .. }
                | Call::LaunchGraph { .. }
                | Call::RecordEvent { .. }
                | Call::WaitEvent { .. }
        )
    };
    let other = calls.iter().find(|call| !is_steady(call));
    check(other.is_none(), || {
        format!("after warm-up: {}", other.map_or(String::new(), Call::to_string))
    })?;
    let count = |wanted: fn(&Call) -> bool| calls.iter().filter(|call| wanted(call)).count() as u64;
    check_equal(count(|call| matches!(call, Call::LaunchGraph { .. })), TICKS)?;
    // All rotations of buffers share the states of two operators, so each launch waits for the launch before it, and
    // for nothing else.
    let orders = [
        count(|call| matches!(call, Call::RecordEvent { .. })),
        count(|call| matches!(call, Call::WaitEvent { .. })),
    ];
    check(orders.into_iter().all(|count| count <= TICKS), || format!("{orders:?}"))
}
