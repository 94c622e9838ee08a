//! Runs a graph of 12 operators for millions of ticks, with timers, notices, a queue that drops, feedback, random
//! failures and restarts. The benchmark fails if a message is lost, if memory grows, or if a seed does not repeat a
//! run.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench soak              # 10 million ticks of the operators together
//! cargo bench -p streamflow-tests --bench soak -- 100 7     # 100 million, with seed 7
//! cargo bench -p streamflow-tests --bench soak -- 10 7 4 real    # 10 million, with 4 workers on real threads
//! cargo bench -p streamflow-tests --bench soak -- 1 7 4 turns    # 1 million, with 4 workers that take turns
//! ```
//!
//! With workers on real threads, no seed repeats the order of the workers' steps; everything else is checked.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::Explorer;
use streamflow_tests::soak::{self, Outcome};
use streamflow_tests::{Failed, check, check_equal};

/// How many ticks all operators together run for each frame of the camera, at least.
const TICKS_PER_FRAME: u64 = 8;

/// By how many bytes the process's memory may grow after the first run, since an allocator keeps some memory in reserve.
const GROWTH: u64 = 4 << 20;

/// Returns the resident memory of this process in bytes. Linux reports it in kibibytes, so no page size is needed.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
        .map_or(0, |kibibytes: u64| kibibytes << 10)
}

/// How the graph's nodes are run: on one thread, on real workers, or on workers that take turns.
#[derive(Debug, Clone)]
enum Threads {
    One,
    Real(Workers),
    Turns(Workers),
}

fn run(seed: u64, frames: u64, threads: &Threads) -> Result<Outcome, Failed> {
    let start = Instant::now();
    let outcome = match threads {
        Threads::One => soak::run(seed, frames)?,
        Threads::Real(workers) => soak::run_with(seed, frames, workers)?,
        Threads::Turns(workers) => {
            let mut outcome = None;
            let once = Explorer::new().first_seed(seed).seeds(1).race_check(false);
            let explored = once.run(|platform| {
                let found = soak::run_on(platform, seed, frames, workers);
                outcome = Some(found.map_err(|error| Failure::msg(error.to_string()))?);
                Ok(())
            });
            explored?.check()?;
            outcome.ok_or_else(|| Failure::msg("nothing was run"))?
        }
    };
    let (Outcome { ticks, failures, took, digest }, real) = (&outcome, start.elapsed());
    println!(
        "seed {seed}: {ticks} ticks, {failures} of them failed; {took:.0?} simulated in {real:.1?}; digest {digest:016x}; \
         memory {} KiB",
        memory() / 1024
    );
    Ok(outcome)
}

fn soak(millions: u64, seed: u64, threads: &Threads) -> Result<(), Failed> {
    let frames = millions * 1_000_000 / TICKS_PER_FRAME;
    // This shorter run warms up: the queues and the process's memory reach their final size.
    run(seed, frames / 10, threads)?;
    let before = memory();
    let (first, second) = (run(seed, frames, threads)?, run(seed, frames, threads)?);
    let grown = memory().saturating_sub(before);
    println!(
        "the memory grew by {} KiB; of each message that was sent the run said where it went",
        grown / 1024
    );
    check(first.ticks >= millions * 1_000_000, || format!("too few ticks: {first:?}"))?;
    check(grown <= GROWTH, || format!("the memory grew by {grown} bytes"))?;
    match threads {
        Threads::Real(_) => Ok(()),
        Threads::One | Threads::Turns(_) => check_equal(first, second),
    }
}

fn main() -> ExitCode {
    // The arguments that are numbers: cargo also passes `--bench`.
    let numbers: Vec<u64> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let at = |index: usize, default| numbers.get(index).copied().unwrap_or(default);
    let workers = Workers::new(usize::try_from(at(2, 2)).unwrap_or(2));
    let threads = match std::env::args().next_back().as_deref() {
        Some("real") => Threads::Real(workers),
        Some("turns") => Threads::Turns(workers),
        _ => Threads::One,
    };
    match soak(at(0, 10), at(1, 1), &threads) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
