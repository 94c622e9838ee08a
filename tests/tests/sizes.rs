//! Every number that a program gives has a range. A number outside of it is an error with a text that says so, and no number
//! makes a call that does not return, or needs memory for as many things.
//!
//! Each row of the table is a child process with a time limit. The child tries the ends of the range, the numbers
//! beside them, and the largest ones. So a row that hangs, that is killed for its memory, or that panics is a failure
//! with its name.
#![allow(clippy::unit_arg, reason = "a row is one expression, which gives up what it makes")]
#![allow(clippy::print_stdout, reason = "a child prints the number that it tries")]

mod graphs;
mod signals;

use std::sync::Arc;
use std::time::Duration;

use streamflow::driver::host::HostDriver;
use streamflow::memory::{MemoryLimits, MemoryOptions};
use streamflow::operators::{self, Convolve2d, Resample};
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::stream::{Assign, CudaGreenContextPool};
use streamflow::testing::{Explorer, OperatorHarness};
use streamflow::time::{Clock, Timestamp};
use streamflow_math::operators::{Istft, Peaks, Polyphase, Stft};
use streamflow_math::random::Philox;
use streamflow_tests::kernels::fill;
use streamflow_tests::{Failed, Suite, check, child};

use graphs::{Many, One, Three};

/// A number that a program gives to the library.
struct Row {
    name: &'static str,
    /// The smallest and the largest number that are right.
    least: u64,
    most: u64,
    /// The largest number that the type can hold.
    largest: u64,
    /// Gives a number to the library.
    give: fn(u64) -> Result<(), Failure>,
}

impl Row {
    const fn new(
        name: &'static str,
        least: u64,
        most: u64,
        give: fn(u64) -> Result<(), Failure>,
    ) -> Self {
        Self { name, least, most, largest: u64::MAX, give }
    }

    /// Returns the row of a number of the type `u32`.
    const fn of_u32(
        name: &'static str,
        least: u64,
        most: u64,
        give: fn(u64) -> Result<(), Failure>,
    ) -> Self {
        Self { name, least, most, largest: u32::MAX as u64, give }
    }

    /// Returns the numbers to try.
    fn numbers(&self) -> Vec<u64> {
        let (least, most) = (self.least, self.most);
        let ends = [least.wrapping_sub(1), least, most, most.wrapping_add(1)];
        let mut all = [0, 1, 2, 1 << 20, 1 << 31, 1 << 40, 1 << 63, u64::from(u32::MAX), u64::MAX];
        all.sort_unstable();
        let all = all.into_iter().chain(ends);
        let mut all: Vec<u64> = all.filter(|number| *number <= self.largest).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn run(&self) -> Result<(), Failed> {
        for number in self.numbers() {
            println!("{number}");
            let given = (self.give)(number).map_err(|error| error.to_string());
            let is_right = (self.least..=self.most).contains(&number);
            check(given.is_ok() == is_right, || {
                format!(
                    "{}: {number} gives {given:?}, not within {} to {}",
                    self.name, self.least, self.most
                )
            })?;
            if let Err(text) = given {
                check(text.len() > 30, || {
                    format!("{}: {number}: an error without a remedy: {text}", self.name)
                })?;
                check(!text.contains("panic"), || format!("{}: {number}: {text}", self.name))?;
            }
        }
        Ok(())
    }
}

const ANY: u64 = u64::MAX;
const ANY_U32: u64 = u32::MAX as u64;

const ROWS: &[Row] = &[
    Row::of_u32("reserved_size", 0, 1024, |n| pool(CudaStreamPool::new().reserved_size(n as u32))),
    Row::of_u32("max_size", 1, ANY_U32, |n| pool(CudaStreamPool::new().max_size(n as u32))),
    Row::of_u32("priority", 0, ANY_U32, |n| pool(CudaStreamPool::new().priority(n as i32))),
    Row::of_u32("planned_depth", 1, 64, |n| {
        pool(CudaStreamPool::new().assign(Assign::Planned { depth: n as u32 }))
    }),
    Row::of_u32("device", 0, 0, |n| pool(CudaStreamPool::new().device(device(n as u32)))),
    Row::of_u32("sms_per_partition", 8, 8, |n| {
        green(CudaGreenContextPool::new().sms_per_partition(&[n as u32]))
    }),
    Row::new("devices", 1, 64, |n| Ok(drop(Platform::host().devices(n as usize).build()?))),
    Row::new("devices_of_a_driver", 1, 64, |n| {
        let driver = HostDriver::builder().devices(n as usize).build();
        Ok(drop(Platform::builder().driver(Arc::new(driver))?))
    }),
    Row::new("devices_of_an_explorer", 1, 64, |n| {
        let explored = Explorer::new()
            .seeds(1)
            .devices(n as usize)
            .run(|platform| Ok(drop(platform.upload(&[1_u32])?)))?;
        explored.failing.map_or(Ok(()), |failing| Err(failing.cause.into()))
    }),
    Row::new("seed", 0, ANY, |n| Ok(drop(Platform::host().seed(n).build()?))),
    Row::new("memory_of_a_driver", 0, ANY, |n| {
        let driver = HostDriver::builder().memory(n).build();
        Ok(drop(Platform::builder().driver(Arc::new(driver))?))
    }),
    Row::of_u32("compute_capability", 0, ANY_U32, |n| {
        let driver = HostDriver::builder().compute_capability(n as u32, n as u32).build();
        Ok(drop(Platform::builder().driver(Arc::new(driver))?))
    }),
    Row::new("spin", 0, 50_000, |n| {
        Ok(drop(Platform::builder().spin(Duration::from_nanos(n)).host()?))
    }),
    Row::new("in_flight", 0, ANY, |n| memory(MemoryOptions::new().in_flight(n as usize))),
    Row::new("small_in_flight", 0, ANY, |n| {
        memory(MemoryOptions::new().small_in_flight(n as usize))
    }),
    Row::new("release_threshold", 0, ANY, |n| memory(MemoryOptions::new().release_threshold(n))),
    Row::new("buffer", 0, MEMORY, |n| on_small(|p, s| Ok(drop(p.buffer::<u8>(n as usize, s)?)))),
    Row::new("buffer_of_large_elements", 0, MEMORY / 8, |n| {
        on_small(|p, s| Ok(drop(p.buffer::<f64>(n as usize, s)?)))
    }),
    Row::new("shape", 0, 1024, |n| on_small(|p, s| Ok(drop(p.tensor::<u8>([n as usize; 2], s)?)))),
    Row::new("rank_of_eight", 0, 5, |n| {
        on_small(|p, s| Ok(drop(p.tensor::<u8>([n as usize; 8], s)?)))
    }),
    Row::new("pitched_rows", 0, MEMORY / 512, |n| {
        on_small(|p, s| Ok(drop(p.pitched_tensor::<u8>([n as usize, 3], s)?)))
    }),
    Row::new("reshape", 4, 4, |n| {
        on_small(|p, s| Ok(drop(p.tensor::<u8>([16], s)?.reshape([n as usize; 2])?)))
    }),
    Row::new("block_bytes", 1, ANY, |n| limits(MemoryLimits::blocks(n, 1))),
    Row::new("blocks", 1, ANY, |n| limits(MemoryLimits::blocks(1, n))),
    Row::new("initial_size", 0, MEMORY, |n| limits(MemoryLimits::stream_ordered().initial_size(n))),
    Row::new("max_size_of_memory", 1, ANY, |n| limits(MemoryLimits::stream_ordered().max_size(n))),
    Row::new("elements_of_a_grid", 8, (i32::MAX as u64) * 256, |n| {
        launch(Grid::elements(n as usize))
    }),
    Row::new("blocks_of_a_grid", 1, i32::MAX as u64, |n| {
        launch(Grid::blocks(n as usize).threads(8))
    }),
    Row::new("threads_of_a_block", 1, 1024, |n| launch(Grid::elements(8).threads(n as usize))),
    Row::new("shared_bytes", 0, 227 << 10, |n| launch(Grid::elements(8).shared_bytes(n as usize))),
    Row::new("edge_of_many", 0, 1023, |n| {
        push::<Many>(n, Many::new(), |harness| harness.push_to(n as usize, |ports| &mut ports.x, 1))
    }),
    Row::new("edge_of_one", 0, 0, |n| {
        push::<One>(n, One::new(), |harness| harness.push_to(n as usize, |ports| &mut ports.x, 1))
    }),
    Row::new("edge_of_three", 0, 2, |n| {
        push::<Three>(n, Three::new(), |harness| {
            harness.push_to(n as usize, |ports| &mut ports.x, 1)
        })
    }),
    Row::new("seeds", 1, 1, |n| {
        // Any number of seeds from 1 on is right. The first failing test ends the exploration.
        let explored =
            Explorer::new().seeds(n).run(|_| Err(Failure::msg("the first one fails")))?;
        check(n == 1 || explored.runs == 1, || format!("{explored}"))?;
        if n == 1 {
            Ok(())
        } else {
            Err(Failure::msg("this number of seeds is right, and the test failed"))
        }
    }),
    Row::new("first_seed", 0, ANY, |n| {
        Ok(drop(Explorer::new().first_seed(n).seeds(2).run(|_| Ok(()))?))
    }),
    Row::new("resample", 1, 100_000, |n| Ok(drop(Resample::<f32>::new(n as usize, 1)?))),
    Row::new("convolve", 1, 1, |n| Ok(drop(Convolve2d::new(vec![1.0], [n as usize; 2])?))),
    Row::new("window", 16, 16, graphs::window),
    Row::new("axis_to_reduce", 0, 1, graphs::reduce),
    Row::new("polyphase", 1, 100_000, |n| {
        Ok(drop(Polyphase::<f32>::new([1.0], n as usize, n as usize)?))
    }),
    Row::new("hann_window_of_segments", 1, 1 << 24, |n| {
        Ok(drop(Stft::<f32>::hann(n as usize, 1)?))
    }),
    Row::new("hop_of_segments", 1, 4, |n| Ok(drop(Istft::<f32>::new([1.0; 4], n as usize)?))),
    Row::new("places_for_peaks", 1, u32::MAX as u64, |n| Peaks::new(n as usize).map(|_| ())),
    Row::new("distance_of_peaks", 1, ANY, |n| Peaks::new(1)?.distance(n as usize).map(|_| ())),
    Row::new("samples_of_segments", 0, 8, signals::samples),
    Row::new("axis_to_gather", 0, 1, signals::gather),
    Row::new("copies_in_flight", 1, ANY, |n| {
        Ok(drop(operators::Upload::<f32>::new().in_flight(n as usize)?))
    }),
    Row::new("offset_of_random_numbers", 0, ANY, |n| {
        on_small(|p, s| {
            Ok(Philox::<f32>::new(n).at(n).skip(n).uniform(s, &mut p.buffer(64, s)?)?)
        })
    }),
    Row::new("workers", 1, 1024, graphs::workers),
    Row::new("ticks", 1, ANY, graphs::ticks),
    Row::new("time_of_a_run", 1, ANY, graphs::time),
    Row::new("join_timeout", 0, ANY, graphs::join),
    Row::new("count", 1, ANY, graphs::count),
    Row::new("interval", 1, ANY, graphs::periodic),
    Row::new("catch_up", 0, ANY, graphs::catch_up),
    Row::new("timeout", 1, ANY, graphs::expiring),
    Row::new("messages", 1, 4, graphs::messages),
    Row::new("capacity", 1, ANY, graphs::capacity),
    Row::new("batch", 0, 4, graphs::batch),
    Row::of_u32("restarts", 0, ANY_U32, graphs::restarts),
    Row::new("back_off", 0, ANY, graphs::back_off),
    Row::new("sleep", 0, ANY, graphs::sleep),
    Row::new("sequence", 0, ANY, graphs::sequence),
    Row::new("advance", 0, ANY, |n| {
        let clock = Clock::simulated();
        clock.advance(Duration::from_nanos(n));
        clock.advance(Duration::MAX);
        check(clock.now() == Timestamp(u64::MAX), || format!("{:?}", clock.now()))
    }),
    Row::new("core", ANY, ANY, |n| {
        // Of the numbers that are tried, only the small ones are numbers of a core that the machine has.
        let refused = graphs::with_workers(Workers::new(1).cores([n as usize])).is_err();
        check(refused || n <= 2, || format!("core {n} is there"))?;
        if n == ANY {
            Ok(())
        } else {
            Err(Failure::msg("a core is there, or was refused as it should be"))
        }
    }),
];

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match ROWS.iter().find(|row| row.name == role) {
        Some(row) => row.run(),
        None => Err(Failed::msg(format!("no row is called {role}"))),
    }
}

pub(crate) fn suite() -> Suite {
    let each = |suite: Suite, row: &'static Row| {
        suite.plain(&format!("the_number_is_checked_{}", row.name), || {
            child::run("sizes", row.name, &[])
        })
    };
    ROWS.iter().fold(Suite::new(), each)
}

/// The platform's device memory in bytes: so little that none of the large numbers fits.
const MEMORY: u64 = 1 << 20;

fn small() -> Result<Platform, Error> {
    Platform::builder().driver(Arc::new(HostDriver::builder().memory(MEMORY).build()))
}

fn on_small(
    give: impl FnOnce(&Platform, &CudaStream) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let platform = small()?;
    let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("it")?;
    give(&platform, &stream)
}

fn pool(description: CudaStreamPool) -> Result<(), Failure> {
    let pool = small()?.stream_pool("POOL", &description)?;
    Ok(pool.allocate("it")?.synchronize_blocking()?)
}

fn green(description: CudaGreenContextPool) -> Result<(), Failure> {
    Ok(drop(small()?.green_contexts(&description)?))
}

/// Uses memory alternately on two streams.
fn memory(options: MemoryOptions) -> Result<(), Failure> {
    let platform = Platform::builder().memory(options).host()?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let streams = [pool.allocate("a")?, pool.allocate("b")?];
    for turn in 0..64 {
        let stream = &streams[turn % 2];
        let mut buffer = platform.buffer::<f32>(16, stream)?;
        stream.launch::<fill>(16, (&mut buffer, 1.0))?;
        drop(platform.pinned::<u8>(device(0), 16)?);
    }
    Ok(())
}

/// Makes an allocator with limits. The allocator takes memory only when a block is needed.
fn limits(limits: MemoryLimits) -> Result<(), Failure> {
    Ok(drop(small()?.allocator("MEMORY", device(0), limits)?))
}

fn launch(grid: Grid) -> Result<(), Failure> {
    on_small(|platform, stream| {
        let mut out = platform.buffer::<f32>(8, stream)?;
        Ok(stream.launch::<fill>(grid, (&mut out, 1.0))?)
    })
}

fn push<O: Compute + Send + 'static>(
    number: u64,
    operator: O,
    push: impl FnOnce(&mut OperatorHarness<O>) -> Result<(), Error>,
) -> Result<(), Failure> {
    let mut harness = OperatorHarness::new(&small()?, operator)?;
    push(&mut harness)?;
    // The operator ticks only if the message's edge is the first one, since an input waits for the messages of the
    // edges before it.
    let ticked = harness.tick()?;
    check(ticked == (number == 0), || format!("edge {number}: {ticked}"))
}
