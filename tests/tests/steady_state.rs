//! Law 12: after warm-up a tick allocates nothing on the host and makes no stream, event or device
//! allocation; the driver sees launches, copies, records, waits and queries alone.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::Call;
use streamflow::prelude::*;
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_tests::allocations::{self, Counting, count};
use streamflow_tests::graph_runs::Example;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: usize = 200;
const TICKS: usize = 1000;

fn main() -> ExitCode {
    Suite::new()
        .both("law12_no_resources_are_made", no_resources_are_made)
        .both("law12_no_heap_allocations", no_heap_allocations)
        .both("law12_graphs_make_no_resources", graphs_make_no_resources)
        .both("law12_graphs_make_no_heap_allocations", graphs_make_no_heap_allocations)
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

/// What the driver may see once all is warm.
fn is_steady(call: &Call) -> bool {
    matches!(
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
}

fn no_resources_are_made(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut app = HandWired::new(&platform, 3, 65, Streams::Pool)?;
    run(&mut app, WARM_UP)?;
    recorder.clear();
    run(&mut app, TICKS)?;
    let calls = recorder.calls();
    let first = calls.iter().find(|call| !is_steady(call)).map(Call::to_string);
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

/// Kernels and copies of one tick.
fn work_per_tick(example: Example) -> (usize, usize) {
    match example {
        Example::Pool | Example::Default => (3, 1),
        Example::Edges => (6, 2),
        // The pattern, a part of each of four frames, the fade and the mix; the edge's copy and the
        // download.
        Example::Temporal => (7, 2),
    }
}

fn graphs_make_no_resources(platform: &Platform) -> Result<(), Failed> {
    for example in Example::ALL {
        let (recorder, platform) = recorded(platform.driver().clone())?;
        let seen = recorder.clone();
        let steady = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = steady.clone();
        // Within one run, at the same place of a tick, so that neither its start nor its end counts.
        let on_tick = Box::new(move |tick| {
            if tick == WARM_UP as u64 {
                seen.clear();
            } else if tick == (WARM_UP + TICKS) as u64
                && let Ok(mut kept) = kept.lock()
            {
                *kept = seen.calls();
            }
            Ok(())
        });
        example.run(&platform, (WARM_UP + TICKS + 10) as u64, on_tick)?;
        let calls = steady.lock().map_err(|_| Failed::new("a poisoned lock"))?;
        let first = calls.iter().find(|call| !is_steady(call)).map(Call::to_string);
        check(first.is_none(), || {
            format!("{example:?}, after warm-up: {}", first.unwrap_or_default())
        })?;
        let count = |wanted: fn(&Call) -> bool| calls.iter().filter(|call| wanted(call)).count();
        let (launches, copies) = work_per_tick(example);
        // How far the sources are ahead of the sink may differ by a tick or two at both ends.
        for (what, found, wanted) in [
            ("launches", count(|call| matches!(call, Call::Launch { .. })), launches * TICKS),
            ("copies", count(|call| matches!(call, Call::Copy { .. })), copies * TICKS),
        ] {
            check(found.abs_diff(wanted) <= 3 * launches, || {
                format!("{example:?}: {found} {what} in {TICKS} ticks, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn graphs_make_no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    for example in Example::ALL {
        let (before, after) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (first, last) = (before.clone(), after.clone());
        let on_tick = Box::new(move |tick| {
            if tick == WARM_UP as u64 {
                first.store(allocations::so_far(), Ordering::Relaxed);
            } else if tick == (WARM_UP + TICKS) as u64 {
                last.store(allocations::so_far(), Ordering::Relaxed);
            }
            Ok(())
        });
        // Counted as a whole as well: then it is certain that allocations are counted.
        let (whole, done) = count(|| example.run(platform, (WARM_UP + TICKS + 10) as u64, on_tick));
        done?;
        check(whole > 0, || format!("{example:?}: a run that allocates nothing"))?;
        let (before, after) = (before.load(Ordering::Relaxed), after.load(Ordering::Relaxed));
        check(before > 0 && after == before, || {
            format!("{example:?}: {} allocations in {TICKS} ticks", after - before)
        })?;
    }
    Ok(())
}
