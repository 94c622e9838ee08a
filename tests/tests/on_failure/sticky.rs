//! Checks that no policy applies after an error that makes the device unusable.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use streamflow::driver::DriverError;
use streamflow::prelude::*;
use streamflow_tests::kernels::{fill, trap};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

/// Adds the tests on the simulator only. On a GPU the error would be that of the whole process.
pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .host("after_a_sticky_error_no_tick_is_skipped", skips)
        .host("after_a_sticky_error_no_operator_is_restarted", restarts)
        .host("a_sticky_error_says_what_it_means_for_other_graphs", others)
        .seeded("a_launch_that_waits_names_its_kernel_and_its_grid", blocking)
        .host("another_error_of_the_same_operator_is_survived", control)
}

/// What goes wrong in the third tick of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Third {
    /// The operator launches a kernel that breaks the device.
    Faults,
    /// The operator fails, and the device stays usable.
    Fails,
}

/// The number of calls of each hook.
#[derive(Debug, Default)]
struct Calls {
    starts: AtomicU64,
    ticks: AtomicU64,
}

#[operator(streams(work))]
struct Worker {
    #[output]
    tick: u64,
    third: Third,
    calls: Arc<Calls>,
}

impl Compute for Worker {
    fn start(&mut self, _: WorkerStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.calls.starts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn compute(&mut self, io: WorkerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.calls.ticks.fetch_add(1, Ordering::Relaxed);
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.buffer::<f32>(64, &stream)?;
        stream.launch::<fill>(64, (&mut data, 1.0))?;
        match (cx.tick(), self.third) {
            (2, Third::Faults) => stream.launch::<trap>(1, (&mut data,))?,
            (2, Third::Fails) => return Err(Failure::msg("on purpose")),
            _ => {}
        }
        stream.synchronize_blocking()?;
        io.tick.emit(cx.tick())
    }
}

graph! {
    struct Skips(third: Third, calls: Arc<Calls>) {
        #[when(count(6))] #[on_failure(skip)] let worker: Worker = Worker::new(third, calls);
        worker.tick >> _;
    }
}

graph! {
    struct Restarts(third: Third, calls: Arc<Calls>) {
        #[when(count(6))] #[on_failure(restart(5, Duration::ZERO))]
        let worker: Worker = Worker::new(third, calls);
        worker.tick >> _;
    }
}

fn ends(run: Result<streamflow::schedule::Report, Error>, calls: &Calls) -> Result<(), Failed> {
    let Err(error) = run else { return Err(Failed::msg("the run did not end with the error")) };
    check_text(&error.to_string(), &["`worker`", "tick 2", "KERNEL_PANICKED", "`trap`"])?;
    let cause = error.find_cause::<DriverError>();
    check(matches!(cause, Some(DriverError::Call { .. })), || error.to_string())?;
    let done = (calls.starts.load(Ordering::Relaxed), calls.ticks.load(Ordering::Relaxed));
    check(done == (1, 3), || format!("{done:?} starts and ticks"))
}

/// Checks that another graph of the same platform fails, too, and that its error says why.
fn others(platform: &Platform) -> Result<(), Failed> {
    let [one, other] = [Arc::<Calls>::default(), Arc::<Calls>::default()];
    let mut fine = Skips::new(platform, Third::Fails, other.clone())?;
    ends(Restarts::new(platform, Third::Faults, one.clone())?.run(), &one)?;
    let Err(error) = fine.run() else { return Err(Failed::msg("the device has failed")) };
    let parts = ["was not tried", "KERNEL_PANICKED", "every graph of this process"];
    check_text(&error.to_string(), &parts)?;
    // The tick that meets the error is not skipped.
    let ticks = other.ticks.load(Ordering::Relaxed);
    check(ticks <= 1, || format!("{ticks} ticks"))
}

/// Checks a kernel that fails. A blocking launch returns the error of its own kernel, with its grid. Without
/// blocking launches a later call returns the error, and says how to find the launch.
fn blocking(seed: u64) -> Result<(), Failed> {
    for blocks in [true, false] {
        let platform = Platform::builder().seed(seed).blocking_launches(blocks).host()?;
        let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("a")?;
        let mut data = platform.buffer::<f32>(64, &stream)?;
        let launched = stream.launch::<trap>(Grid::blocks(2).threads(32), (&mut data,));
        let launch = "the launch of kernel `trap` with a grid of 2x1x1 blocks of 32x1x1 threads";
        if blocks {
            let text = check_error("the launch", launched, |_| true)?;
            check_text(&text, &[launch])?;
            check(!text.contains("STREAMFLOW_BLOCKING_LAUNCHES"), || text)?;
        } else {
            launched?;
            let text = check_error("a later call", stream.synchronize_blocking(), |_| true)?;
            check_text(&text, &["`trap`", "set STREAMFLOW_BLOCKING_LAUNCHES=1 to get the launch"])?;
            check(!text.contains(launch), || text)?;
        }
    }
    Ok(())
}

fn skips(platform: &Platform) -> Result<(), Failed> {
    let calls = Arc::<Calls>::default();
    ends(Skips::new(platform, Third::Faults, calls.clone())?.run(), &calls)
}

fn restarts(platform: &Platform) -> Result<(), Failed> {
    let calls = Arc::<Calls>::default();
    ends(Restarts::new(platform, Third::Faults, calls.clone())?.run(), &calls)
}

fn control(platform: &Platform) -> Result<(), Failed> {
    let calls = Arc::<Calls>::default();
    Skips::new(platform, Third::Fails, calls.clone())?.run()?;
    Restarts::new(platform, Third::Fails, calls.clone())?.run()?;
    let done = (calls.starts.load(Ordering::Relaxed), calls.ticks.load(Ordering::Relaxed));
    check(done == (3, 12), || format!("{done:?} starts and ticks"))
}
