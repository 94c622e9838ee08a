//! The cost of waking a thread when the device is done: microseconds per round trip, and CPU time of the host's thread.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench wake_up
//! ```
//!
//! `ping` starts a kernel of known duration and a copy to the host, `pong` answers when the copy is complete, and
//! `ping` waits for the answer. There are four forms: `stream_done` (queries for at most 50 µs, and then a sleep until
//! the device calls), a blocking wait in `pong` (CUDA's own, which polls), and the same two calls by hand on one
//! stream, with a loop of queries and with a blocking wait. The difference to the loop of queries is streamflow's cost:
//! for short kernels that of its scheduler, for long ones that of waking its thread. The forms take turns; the results
//! are medians.
//!
//! The last line is the time of two threads to wake each other, without a device: `std::thread::park`, a futex.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;

const ROUNDS: usize = 5;

/// Pairs of a kernel's duration in microseconds and the number of round trips. A microsecond is about 1 900 clock cycles.
const KERNELS: [(u64, u64); 6] =
    [(0, 500), (10, 500), (50, 500), (200, 500), (2_000, 200), (40_000, 10)];
const CYCLES: u64 = 1_900;

const TRIPS_OF_THREADS: usize = 200;

#[operator(streams(work))]
struct Ping {
    #[input]
    answer: u64,
    #[output]
    flag: Pinned<f32>,
    cycles: u64,
}

impl Compute for Ping {
    fn compute(&mut self, io: PingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let answer = io.answer.receive().into_data();
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.buffer(1, &stream)?;
        stream.launch::<slow_fill>(1, (&mut data, answer as f32, self.cycles))?;
        let flag = cx.download(&data, &stream)?.into_pinned();
        io.flag.set_cuda_stream(&stream).emit(flag)
    }
}

#[operator]
struct Pong {
    #[input]
    flag: &Pinned<f32>,
    #[output]
    answer: u64,
}

impl Compute for Pong {
    fn compute(&mut self, io: PongIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (flag, _) = io.flag.receive().receive_cuda_stream(cx)?;
        let flag = flag.as_slice_blocking()?[0];
        if flag as u64 != cx.tick() {
            return Err(Failure::msg(format!("the flag is {flag} in tick {}", cx.tick())));
        }
        io.answer.emit(cx.tick() + 1)
    }
}

macro_rules! trips {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(cycles: u64, trips: u64) {
                #[when(count(trips))] let ping: Ping = Ping::new(cycles);
                $($condition)*
                let pong: Pong = Pong::new();
                ping.flag >> pong.flag;
                #[feedback(initial = 0)]
                pong.answer >> ping.answer;
            }
        }
    };
}

trips!(Conditional, #[when(stream_done(flag))]);
trips!(Blocking,);

/// The microseconds per round trip: wall time, and CPU time of the thread.
type Cost = (f64, f64);

fn by_hand(platform: &Platform, cycles: u64, trips: u64, queries: bool) -> Result<()> {
    let pool = platform.stream_pool("by hand", &CudaStreamPool::new())?;
    let stream = pool.allocate("by hand")?;
    for trip in 0..trips {
        let mut data = platform.buffer(1, &stream)?;
        stream.launch::<slow_fill>(1, (&mut data, trip as f32, cycles))?;
        let download = platform.download(&data, &stream)?;
        while queries && download.try_get()?.is_none() {
            std::hint::spin_loop();
        }
        if download.wait_blocking()?[0] as u64 != trip {
            return Err(Failure::msg("wrong data"));
        }
    }
    Ok(())
}

/// Returns how many microseconds one thread needs to wake another: the median of half a round trip between two threads.
/// Each thread sleeps for `asleep` before it wakes the other thread.
fn futex(asleep: Duration) -> f64 {
    let turn = AtomicUsize::new(0);
    let main = std::thread::current();
    let wait_for = |number| {
        while turn.load(Ordering::Acquire) != number {
            std::thread::park();
        }
    };
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            for trip in 0..TRIPS_OF_THREADS {
                wait_for(2 * trip + 1);
                turn.store(2 * trip + 2, Ordering::Release);
                main.unpark();
            }
        });
        let trips = (0..TRIPS_OF_THREADS).map(|trip| {
            // `asleep` is long enough for the other thread to fall asleep. A benchmark may rely on that; a test must not.
            std::thread::sleep(asleep);
            let start = Instant::now();
            turn.store(2 * trip + 1, Ordering::Release);
            other.thread().unpark();
            wait_for(2 * trip + 2);
            start.elapsed().as_nanos() as f64 / 2_000.0
        });
        trips.collect()
    });
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns the CPU time of this thread in nanoseconds, as Linux counts it.
fn cpu_time() -> f64 {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    counts.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

fn cost(trips: u64, run: impl FnOnce() -> Result<(), Error>) -> Result<Cost> {
    let (start, before) = (Instant::now(), cpu_time());
    run()?;
    let (took, worked) = (start.elapsed().as_nanos() as f64, cpu_time() - before);
    Ok((took / 1000.0 / trips as f64, worked / 1000.0 / trips as f64))
}

fn median(costs: &mut [Cost]) -> Cost {
    costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    costs[costs.len() / 2]
}

fn measure(platform: &Platform) -> Result<()> {
    println!("platform: {} ({})", platform.name(), platform.why());
    println!("us per trip (in parentheses: CPU time of the thread), medians of {ROUNDS} rounds");
    println!(
        "{:>12} {:>18} {:>18} {:>18} {:>18}",
        "kernel, us", "stream_done", "blocking", "by hand, queries", "by hand, blocking"
    );
    for (us, trips) in KERNELS {
        let cycles = us * CYCLES;
        let mut costs = [(); 4].map(|()| Vec::new());
        // The first round warms up and is not counted.
        for _ in 0..=ROUNDS {
            let mut graph = Conditional::new(platform, cycles, trips)?;
            costs[0].push(cost(trips, || graph.run().map(drop))?);
            let mut graph = Blocking::new(platform, cycles, trips)?;
            costs[1].push(cost(trips, || graph.run().map(drop))?);
            costs[2].push(cost(trips, || Ok(by_hand(platform, cycles, trips, true)?))?);
            costs[3].push(cost(trips, || Ok(by_hand(platform, cycles, trips, false)?))?);
        }
        let texts = costs.map(|mut costs| {
            let (took, worked) = median(&mut costs[1..]);
            format!("{took:.1} ({worked:.1})")
        });
        let [done, blocking, queries, by_hand] = texts;
        println!("{us:>12} {done:>18} {blocking:>18} {queries:>18} {by_hand:>18}");
    }
    for asleep in [Duration::from_micros(100), Duration::from_millis(2)] {
        println!("a thread wakes another, which slept {asleep:?}: {:.1} us", futex(asleep));
    }
    Ok(())
}

fn main() -> ExitCode {
    match Platform::detect().and_then(|platform| Ok(measure(&platform)?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
