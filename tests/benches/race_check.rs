//! The host's time for the race checker: nanoseconds per launch, record and wait.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench race_check
//! ```
//!
//! Two streams take turns: one launches a kernel that reads two buffers and writes a third, and records; the other
//! waits. The driver does nothing, so the time is streamflow's. "At the seam" measures only these three driver calls;
//! the goal applies to these. "Through streams" also measures the platform's part. Each is measured without the
//! checker, with it, and with it from a thread other than the first. All take turns, so that a change of the machine's
//! speed affects all. The results are medians. A checker that is off costs nothing: it is not a layer then.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use streamflow::driver::RawStream;
use streamflow::driver::race::RaceReports;
use streamflow::kernel::Kernel;
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::{
    Access, AccessMode, DriverResult, MemoryRange, Param, RawEvent, RawFunction,
};
use streamflow_tests::foreign::{BYTES, Bare};
use streamflow_tests::kernels::axpy;
use streamflow_tests::layers::Null;

const TURNS: u64 = 1_000;
const ROUNDS: usize = 1_501;
const LEN: usize = 256;

/// How many events a platform makes for two streams, so that the measurement at the seam uses as many.
const EVENTS: usize = 32;

/// The most that the checker may cost at the seam (the driver calls themselves), in nanoseconds.
const GOAL: f64 = 50.0;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Two streams that call the driver directly.
struct Seam {
    bare: Bare,
    streams: [RawStream; 2],
    events: Vec<RawEvent>,
    kernel: RawFunction,
    params: [Param; 7],
    accesses: [Access; 3],
}

impl Seam {
    fn new(bare: Bare) -> DriverResult<Self> {
        let stream = || bare.stream(StreamFlags::NonBlocking);
        let streams = [stream()?, stream()?];
        let events = (0..EVENTS).map(|_| bare.event()).collect::<DriverResult<_>>()?;
        let memory = || bare.allocate(streams[0]);
        let (out, x, y) = (memory()?, memory()?, memory()?);
        bare.write(streams[0], x)?;
        bare.write(streams[0], y)?;
        bare.order(streams[0], streams[1], true)?;
        let len = Param::new(BYTES / 4);
        let address = |range: MemoryRange| Param::new(range.address);
        let params = [address(out), len, Param::new(2.0_f32), address(x), len, address(y), len];
        let access = |range, mode, argument| Access { range, mode, argument, rows: None };
        let accesses = [
            access(out, AccessMode::Write, "out"),
            access(x, AccessMode::Read, "x"),
            access(y, AccessMode::Read, "y"),
        ];
        let kernel = bare.kernel(axpy::<f32>::INFO)?;
        Ok(Self { bare, streams, events, kernel, params, accesses })
    }

    /// Returns the nanoseconds per launch, record and wait.
    fn run(&mut self) -> Result<f64> {
        let Self { bare, streams: [a, b], events, kernel, params, accesses } = self;
        let start = Instant::now();
        for turn in 0..TURNS as usize {
            let (stream, next) = if turn % 2 == 0 { (*a, *b) } else { (*b, *a) };
            let event = events[turn % EVENTS];
            bare.launch(stream, (*kernel, "axpy"), params, accesses)?;
            bare.record(event, stream)?;
            bare.wait(next, event)?;
        }
        Ok(start.elapsed().as_secs_f64() * 1e9 / TURNS as f64)
    }
}

/// Two streams of a platform, with three buffers each.
struct Pair {
    streams: [CudaStream; 2],
    data: [Buffer<f32>; 3],
}

impl Pair {
    fn new(platform: &Platform) -> Result<Self> {
        let pool = platform.stream_pool("PAIR", &CudaStreamPool::new())?;
        let streams = [pool.allocate("a")?, pool.allocate("b")?];
        let buffer = || -> Result<Buffer<f32>> {
            let mut buffer = platform.buffer(LEN, &streams[0])?;
            streams[0].fill_bytes(&mut buffer, 0)?;
            Ok(buffer)
        };
        let data = [buffer()?, buffer()?, buffer()?];
        Ok(Self { streams, data })
    }

    /// Returns the nanoseconds per launch, record and wait.
    fn run(&mut self) -> Result<f64> {
        let [x, y, out] = &mut self.data;
        let [a, b] = &self.streams;
        let start = Instant::now();
        for _ in 0..TURNS / 2 {
            for (stream, next) in [(a, b), (b, a)] {
                stream.launch::<axpy<f32>>(LEN, (&mut *out, 2.0, &*x, &*y))?;
                next.wait(stream.record()?)?;
            }
        }
        Ok(start.elapsed().as_secs_f64() * 1e9 / TURNS as f64)
    }

    /// Runs once on a driver that works, so that the lists inside the platform reach their final size.
    fn warm_up(&mut self) -> Result<()> {
        self.run()?;
        Ok(self.streams.iter().try_for_each(CudaStream::synchronize_blocking)?)
    }
}

/// Returns the medians of `N` measurements that take turns.
fn medians<const N: usize>(
    null: &Null,
    mut measure: impl FnMut(usize) -> Result<f64>,
) -> Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    null.off(|| -> Result<()> {
        for _ in 0..ROUNDS {
            for (index, times) in times.iter_mut().enumerate() {
                times.push(measure(index)?);
            }
        }
        Ok(())
    })?;
    Ok(times.map(median))
}

fn on_another_thread(run: impl FnOnce() -> Result<f64> + Send) -> Result<f64> {
    let joined = thread::scope(|scope| scope.spawn(run).join());
    joined.unwrap_or_else(|_| Err(Failure::msg("the measuring thread panicked")))
}

fn measure() -> Result<()> {
    let host = Platform::host().race_check(false).build()?;
    let null = Arc::new(Null::new(host.driver().clone()));
    println!("a launch that reads two buffers and writes one, a record, a wait, in ns");
    println!("{:<18}{:>10}{:>10}{:>10}", "", "without", "with", "cost");

    let mut plain = Seam::new(Bare::unwatched(null.clone())?)?;
    let mut checked = Seam::new(Bare::new(null.clone())?)?;
    plain.run()?;
    checked.run()?;
    let [without, with, other] = medians(&null, |index| match index {
        0 => plain.run(),
        1 => checked.run(),
        _ => on_another_thread(|| checked.run()),
    })?;
    let cost = row("at the seam", without, with);
    row("  another thread", without, other);
    no_races(checked.bare.races())?;

    let off = Platform::builder().race_check(false);
    let on = Platform::builder().race_check(true);
    let checked = on.driver(null.clone())?;
    let mut pairs = [Pair::new(&off.driver(null.clone())?)?, Pair::new(&checked)?];
    pairs.iter_mut().try_for_each(Pair::warm_up)?;
    let [without, with, other] = medians(&null, |index| match index {
        2 => on_another_thread(|| pairs[1].run()),
        _ => pairs[index].run(),
    })?;
    row("through streams", without, with);
    row("  another thread", without, other);
    no_races(checked.take_races())?;

    let verdict = if cost <= GOAL { "within" } else { "above" };
    println!("at the seam the cost is {verdict} the goal of {GOAL} ns");
    Ok(())
}

fn row(name: &str, without: f64, with: f64) -> f64 {
    println!("{name:<18}{without:>10.1}{with:>10.1}{:>10.1}", with - without);
    with - without
}

fn no_races(races: RaceReports) -> Result<()> {
    if races.is_empty() { Ok(()) } else { Err(Error::Races(races).into()) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
