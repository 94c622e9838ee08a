//! What the race checker costs the host: nanoseconds per launch, record and wait.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench race_check
//! ```
//!
//! Two streams take turns: one launches a kernel that reads two buffers and writes a third, records, and
//! the other waits. The driver does nothing, so what is left is ours. Beside it stands the same with the
//! checker, from the thread that made the platform and from another one. All take turns, so that a
//! machine that changes its speed changes each; medians. Where the checker is off there is nothing to
//! measure: it is not there.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use streamflow::driver::race::RaceChecker;
use streamflow::prelude::*;
use streamflow_tests::kernels::axpy;
use streamflow_tests::layers::Null;

const TURNS: u64 = 1_000;
const ROUNDS: usize = 1_501;
const LEN: usize = 256;

/// The most that the checker may cost.
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

/// Two streams and three buffers for each, on a platform.
struct Pair {
    streams: [CudaStream; 2],
    data: [Buffer<f32>; 3],
}

impl Pair {
    fn new(platform: &Platform) -> Result<Self> {
        let pool = platform.stream_pool("PAIR", &CudaStreamPool::new())?;
        let streams = [pool.allocate("a")?, pool.allocate("b")?];
        let buffer = || platform.buffer(LEN, &streams[0]);
        let data = [buffer()?, buffer()?, buffer()?];
        Ok(Self { streams, data })
    }

    /// Nanoseconds per launch, record and wait.
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

    /// Until everything has its size, with a driver that works.
    fn warm_up(&mut self) -> Result<()> {
        self.run()?;
        self.streams.iter().try_for_each(CudaStream::synchronize_blocking)
    }
}

fn measure() -> Result<()> {
    let host = Platform::host().race_check(false).build()?;
    let null = Arc::new(Null::new(host.driver().clone()));
    let off = PlatformOptions { race_check: Some(false), ..PlatformOptions::default() };
    let plain = Platform::with_options(null.clone(), off)?;
    let checked = Platform::from_driver(Arc::new(RaceChecker::new(null.clone())))?;
    let (mut without, mut with) = (Pair::new(&plain)?, Pair::new(&checked)?);
    let mut other = Pair::new(&checked)?;
    for pair in [&mut without, &mut with, &mut other] {
        pair.warm_up()?;
    }
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    null.off(|| -> Result<()> {
        for _ in 0..ROUNDS {
            times[0].push(without.run()?);
            times[1].push(with.run()?);
            let elsewhere = thread::scope(|scope| scope.spawn(|| other.run()).join());
            times[2].push(elsewhere.unwrap_or_else(|_| Err(Error::other("it panicked")))?);
        }
        Ok(())
    })?;
    let races = checked.take_races();
    if !races.is_empty() {
        return Err(Error::Races(races));
    }
    let [without, with, elsewhere] = times.map(median);
    println!("a launch that reads two and writes one, a record, a wait");
    println!("  without the checker          {without:>7.1} ns");
    println!("  with it                      {with:>7.1} ns");
    println!("  with it, on another thread   {elsewhere:>7.1} ns");
    let cost = with - without;
    let verdict = if cost <= GOAL { "within" } else { "above" };
    println!("  the checker's cost           {cost:>7.1} ns   {verdict} the goal of {GOAL} ns");
    println!("  and on another thread        {:>7.1} ns", elsewhere - without);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
