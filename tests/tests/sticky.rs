//! A device with a sticky error, each time in its own process. The first call that meets the error returns it, later
//! calls return that they were not tried, and dropping everything neither panics, blocks nor aborts (law 11, and law 9
//! after a sticky error).

use std::thread;
use std::time::{Duration, Instant};

use streamflow::driver::DriverError;
use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow::stream::StreamPool;
use streamflow_tests::kernels::{add_one, fill, slow_fill, trap, write_to_nowhere};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, child};

const LEN: usize = 1003;

/// How many clock cycles a slow kernel takes: about 10 ms on a GPU, so that it still runs when the device fails.
const SLOW: u64 = 20_000_000;

/// For each test, the first call after the error, or how the error is caused.
const SCENARIOS: [&str; 5] = ["download", "synchronize", "trap", "unnoticed", BLOCKING];

/// The role in which each launch blocks until its kernel is complete.
const BLOCKING: &str = "blocking";

pub(crate) fn suite() -> Suite {
    SCENARIOS.iter().fold(Suite::new(), |suite, scenario| {
        let name = format!("law11_a_sticky_error_neither_hangs_nor_aborts_{scenario}");
        suite
            .seeded(&name, move |seed| run(&format!("{seed} {scenario}")))
            .cuda(&name, move |_| run(&format!("cuda {scenario}")))
    })
}

fn run(role: &str) -> Result<(), Failed> {
    let blocks = if role.ends_with(BLOCKING) { "1" } else { "0" };
    child::run("sticky", role, &[("STREAMFLOW_BLOCKING_LAUNCHES", blocks)])
}

/// A value of each resource, which is dropped after the error.
struct World {
    platform: Platform,
    pool: StreamPool,
    a: CudaStream,
    b: CudaStream,
    shared: Shared<Tensor<f32>>,
    kept: Tensor<f32>,
    pinned: Pinned<f32>,
    early: Download<f32>,
    in_flight: Download<f32>,
    victim: Buffer<f32>,
}

fn world(platform: Platform) -> Result<World> {
    const POOL: CudaStreamPool = CudaStreamPool::new().reserved_size(3);
    let pool = platform.stream_pool("POOL", &POOL)?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut kept = platform.tensor([17, 59], &a)?;
    let mut pinned = platform.pinned(device(0), LEN)?;
    pinned.as_mut_slice_blocking()?.fill(3.0);
    a.upload(&pinned, &mut kept)?;
    let early = platform.download(&kept, &a)?;
    early.wait_blocking()?;
    let mut shared = platform.tensor([LEN], &b)?;
    b.launch::<slow_fill>(LEN, (&mut shared, 5.0, SLOW))?;
    let in_flight = platform.download(&shared, &b)?;
    let mut victim = platform.buffer(LEN, &a)?;
    // Load the kernel now, so that the device fails below, and not the compiler.
    a.launch::<fill>(LEN, (&mut victim, 0.0))?;
    a.launch::<add_one>(LEN, (&mut victim,))?;
    a.synchronize_blocking()?;
    let shared = Shared::new(shared);
    Ok(World { platform, pool, a, b, shared, kept, pinned, early, in_flight, victim })
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    let (name, scenario) = role.split_once(' ').ok_or_else(|| Failed::msg("no scenario"))?;
    let mut world = world(child::platform(name)?)?;
    // Leave a free block in the memory pool while its use still runs on the other stream.
    let mut dropped = world.platform.buffer::<f32>(5 * LEN, &world.b)?;
    world.b.launch::<slow_fill>(5 * LEN, (&mut dropped, 1.0, SLOW))?;
    drop(dropped);
    match scenario {
        BLOCKING => the_launch_reports(&mut world)?,
        "trap" => world.a.launch::<trap>(1, (&mut world.victim,))?,
        _ => world.a.launch::<write_to_nowhere>(1, (&mut world.victim,))?,
    }
    if scenario != "unnoticed" {
        if scenario != BLOCKING {
            first_call_reports(&world, scenario)?;
        }
        later_calls_are_not_tried(&mut world)?;
        new_platforms(name)?;
    }
    let start = Instant::now();
    drop_everything(world)?;
    let elapsed = start.elapsed();
    check(elapsed < Duration::from_secs(10), || format!("dropping took {elapsed:?}"))
}

/// The launch of the broken kernel returns its error. Earlier launches return none.
fn the_launch_reports(world: &mut World) -> Result<(), Failed> {
    let World { a, b, kept, victim, .. } = world;
    b.launch::<add_one>(LEN, (kept,))?;
    let grid = Grid::blocks(3).threads(32);
    let text = check_error("the launch", a.launch::<write_to_nowhere>(grid, (victim,)), |error| {
        matches!(error, Error::Driver(DriverError::Call { .. }))
    })?;
    let launch =
        "launch of kernel `write_to_nowhere` with a grid of 3x1x1 blocks of 32x1x1 threads";
    check_text(&text, &[launch, "every graph of this process", "start the process again"])?;
    check(!text.contains("STREAMFLOW_BLOCKING_LAUNCHES"), || text.clone())
}

/// The first call that meets the error returns it, and says how to find the launch.
fn first_call_reports(world: &World, scenario: &str) -> Result<(), Failed> {
    let World { platform, a, victim, .. } = world;
    // Work on `b` may still succeed. Work after the broken kernel can't succeed.
    let result = match scenario {
        "download" => platform.download(victim, a).and_then(|d| d.wait_blocking().map(drop)),
        _ => a.synchronize_blocking(),
    };
    let text = check_error("the first call", result, |error| {
        matches!(error, Error::Driver(DriverError::Call { .. }))
    })?;
    let kernel = if scenario == "trap" { "trap" } else { "write_to_nowhere" };
    // CUDA reports only the kind of error, not the kernel.
    let reported = match platform.name() {
        "host" => text.contains("KERNEL_PANICKED (719)") && text.contains(kernel),
        _ => text.contains("CUDA_ERROR_"),
    };
    check_text(&text, &["every graph of this process", "STREAMFLOW_BLOCKING_LAUNCHES=1"])?;
    check(reported, || format!("the first call returned: {text}"))
}

/// Later calls are not tried: no call waits for a device that executes nothing any more.
fn later_calls_are_not_tried(world: &mut World) -> Result<(), Failed> {
    let start = Instant::now();
    let World { platform, a, b, kept, pinned, early, in_flight, victim, .. } = world;
    let sticky = |what: &str, result: Result<(), Error>| -> Result<(), Failed> {
        let text = check_error(what, result, |error| {
            matches!(error, Error::Driver(DriverError::Sticky { .. }))
        })?;
        check(text.contains("was not tried"), || format!("{what} returned: {text}"))
    };
    sticky("a launch", a.launch::<add_one>(LEN, (victim,)))?;
    sticky("a launch elsewhere", b.launch::<add_one>(LEN, (kept,)))?;
    sticky("an upload", a.upload(pinned, kept))?;
    sticky("a blocking upload", a.upload_blocking(&[0.0; LEN], kept))?;
    sticky("a blocking download", a.download_blocking(kept).map(drop))?;
    sticky("a download", platform.download(kept, a).map(drop))?;
    sticky("a fill", a.fill_bytes(kept, 0))?;
    sticky("waiting for a download", in_flight.wait_blocking().map(drop))?;
    sticky("looking at a download", in_flight.try_get().map(drop))?;
    sticky("synchronising", b.synchronize_blocking())?;
    sticky("a record", b.record().map(drop))?;
    sticky("a query", b.is_complete().map(drop))?;
    sticky("new memory", platform.tensor::<f32>([7 * LEN], a).map(drop))?;
    sticky("used memory", platform.buffer::<f32>(5 * LEN, b).map(drop))?;
    sticky("page-locked memory", platform.pinned::<f32>(device(0), 90 * LEN).map(drop))?;
    const MORE: CudaStreamPool = CudaStreamPool::new().reserved_size(9);
    sticky("a pool", platform.stream_pool("MORE", &MORE).map(drop))?;
    // Data that arrived before the error can still be read on the host.
    let arrived = early.wait_blocking()?.iter().all(|&x| x == 3.0);
    check(arrived, || "a complete download has changed".into())?;
    let elapsed = start.elapsed();
    check(elapsed < Duration::from_secs(5), || format!("calls that are not tried took {elapsed:?}"))
}

/// CUDA's context belongs to the process, so that a new platform fails. Simulators are independent.
fn new_platforms(name: &str) -> Result<(), Failed> {
    if name == "cuda" {
        let text = check_error("a new platform", Platform::cuda(), |error| {
            matches!(error, Error::Driver(DriverError::Sticky { .. }))
        })?;
        return check(text.contains("start the process again"), || format!("the error is: {text}"));
    }
    let platform = Platform::host().build()?;
    let s = platform.default_stream(device(0))?;
    let mut data = platform.buffer(LEN, &s)?;
    s.launch::<fill>(LEN, (&mut data, 2.0))?;
    check(s.download_blocking(&data)?.iter().all(|&x| x == 2.0), || "wrong data".into())
}

/// Drops everything in an unfavourable order, half of it on another thread.
fn drop_everything(world: World) -> Result<(), Failed> {
    let World { platform, pool, a, b, shared, kept, pinned, early, in_flight, victim } = world;
    let (copy, handle) = (shared.clone(), platform.clone());
    drop(pool);
    let there = thread::spawn(move || {
        drop(a);
        drop((shared, victim, in_flight));
        drop(handle);
    });
    drop((copy, pinned));
    check(there.join().is_ok(), || "a drop on another thread panicked".into())?;
    drop(platform);
    drop((kept, early));
    drop(b);
    Ok(())
}
