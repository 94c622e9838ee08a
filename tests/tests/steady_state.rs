//! Law 12: after warm-up a tick allocates nothing on the host and makes no stream, event or device
//! allocation; the driver sees launches, copies, records, waits and queries alone.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::Arc;

use streamflow::driver::{Call, Recorder};
use streamflow::prelude::*;
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_tests::allocations::{Counting, count};
use streamflow_tests::{Failed, Suite, check};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: usize = 200;
const TICKS: usize = 1000;

fn main() -> ExitCode {
    Suite::new()
        .both("law12_no_resources_are_made", no_resources_are_made)
        .both("law12_no_heap_allocations", no_heap_allocations)
        .run()
}

/// Two ticks in flight, as the example does it.
fn run(app: &mut HandWired, ticks: usize) -> Result<()> {
    let mut before = app.tick()?;
    for _ in 1..ticks {
        let next = app.tick()?;
        before.wait_blocking()?;
        before = next;
    }
    before.wait_blocking()?;
    Ok(())
}

fn no_resources_are_made(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let platform = Platform::from_driver(recorder.clone())?;
    let mut app = HandWired::new(&platform, 3, 65, Streams::Pool)?;
    run(&mut app, WARM_UP)?;
    recorder.clear();
    run(&mut app, TICKS)?;
    let unexpected = |call: &Call| {
        !matches!(
            call,
            Call::Bind { .. }
                | Call::Launch { .. }
                | Call::Copy { .. }
                | Call::RecordEvent { .. }
                | Call::WaitEvent { .. }
                | Call::QueryEvent { .. }
                | Call::SynchronizeEvent { .. }
                // No call of CUDA's: it tells the simulator that memory has a new owner.
                | Call::Recycle { .. }
        )
    };
    let calls = recorder.calls();
    let first = calls.iter().find(|call| unexpected(call)).map(Call::to_string);
    check(first.is_none(), || format!("after warm-up: {}", first.unwrap_or_default()))?;
    let launches = calls.iter().filter(|call| matches!(call, Call::Launch { .. })).count();
    check(launches == 3 * TICKS, || format!("{launches} launches in {TICKS} ticks"))
}

fn no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    let mut app = HandWired::new(platform, 3, 65, Streams::Pool)?;
    run(&mut app, WARM_UP)?;
    let (allocations, done) = count(|| run(&mut app, TICKS));
    done?;
    check(allocations == 0, || format!("{allocations} allocations in {TICKS} ticks"))
}
