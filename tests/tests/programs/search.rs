//! Runs random programs until one fails.

use std::env;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamflow::prelude::*;
use streamflow_tests::{Failed, Search};

use super::program::{Program, Reuse, RunMode, attempt, on};
use super::shrink::{Failing, shrink};
use super::{code, count, graphs};

/// The beginning of the names of the search's environment variables.
const NAME: &str = "STREAMFLOW_PROGRAMS";

/// The environment variable that restricts the programs to `threads` or `graphs`.
const ONLY: &str = "STREAMFLOW_PROGRAMS_ONLY";

/// The number of programs that run on the simulator, and on a GPU.
const COUNT: u64 = 8000;

/// The number of threads that each run one program at a time.
const WORKERS: usize = 2;

/// The time limit for making a failing program smaller.
const SHRINK_TIME: Duration = Duration::from_secs(60);

/// How often a program that is selected by its seed runs in each way.
const REPEATS: u64 = 200;

/// Returns whether the environment selects programs of this kind.
fn is_selected(program: &Program) -> Result<bool, Failed> {
    let Some(only) = env::var_os(ONLY) else { return Ok(true) };
    match only.to_str() {
        Some("threads") => Ok(program.flow.is_none()),
        Some("graphs") => Ok(program.threads.is_none()),
        _ => Err(Failed::msg(format!("{ONLY} is {only:?}: expected `threads` or `graphs`"))),
    }
}

/// Returns the ways in which the program of a seed runs, for the `nth` time.
fn ways(seed: u64, program: &Program, nth: u64) -> Vec<RunMode> {
    let seed = seed.wrapping_mul(3).wrapping_add(3 * nth);
    let mode = |add, checked, turns| RunMode { seed: seed + add, checked, turns };
    if program.has_threads() {
        // Threads that take turns give a reproducible order. Ordinary threads also interleave within a turn.
        vec![mode(0, true, true), mode(1, false, true), mode(2, true, false)]
    } else {
        vec![mode(0, true, false), mode(1, false, false)]
    }
}

fn fails(seed: u64, nth: u64) -> Option<Failing> {
    let program = Program::of_seed(seed);
    if !is_selected(&program).unwrap_or(true) {
        return None;
    }
    let found = ways(seed, &program, nth)
        .into_iter()
        .find_map(|mode| attempt(&program, mode).map(|fault| (mode, fault)));
    found.map(|(mode, fault)| Failing { program, mode, fault })
}

/// Runs random programs on the simulator.
pub(crate) fn simulated() -> Result<(), Failed> {
    let begun = Instant::now();
    let search = Search::from_env(NAME, COUNT)?;
    if let Search::One(seed) = search {
        let found = (0..REPEATS).find_map(|nth| fails(seed, nth));
        return report(seed, found, begun);
    }
    is_selected(&Program::of_seed(0))?;
    let (programs, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (seeds, found) = (Mutex::new(search.seeds()), Mutex::new(None));
    let next = || seeds.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(seed) = next().filter(|_| !stop.load(Ordering::Acquire)) {
                    programs.fetch_add(1, Ordering::Relaxed);
                    if let Some(failing) = fails(seed, 0) {
                        stop.store(true, Ordering::Release);
                        found
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .get_or_insert((seed, failing));
                    }
                }
            });
        }
    });
    print_totals(programs.into_inner(), begun);
    match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((seed, failing)) => report(seed, Some(failing), begun),
        None => Ok(()),
    }
}

#[allow(clippy::print_stdout, reason = "prints the number of programs and calls")]
fn print_totals(programs: u64, begun: Instant) {
    println!("{programs} random programs, {} calls in {:.1?}", count::calls(), begun.elapsed());
}

fn report(seed: u64, found: Option<Failing>, begun: Instant) -> Result<(), Failed> {
    let Some(found) = found else { return Ok(()) };
    let after = begun.elapsed();
    let fault = found.fault.to_string();
    let mode = found.mode;
    let small = shrink(found, SHRINK_TIME);
    Err(Failed::msg(format!(
        "program {seed} fails after {after:.1?} ({mode}): {fault}\n\
         reproduce it with: {NAME}_SEED={seed}\n\n\
         The shrunk program fails with {}: {}\n\n{}",
        small.mode,
        small.fault,
        code::print(&small)
    )))
}

/// Runs random programs on a GPU, one after the other.
pub(crate) fn on_a_gpu(platform: &Platform) -> Result<(), Failed> {
    let begun = Instant::now();
    let search = Search::from_env(NAME, COUNT)?;
    let repeats = if matches!(search, Search::One(_)) { REPEATS } else { 1 };
    let mut programs = 0;
    for seed in search.seeds().flat_map(|seed| (0..repeats).map(move |_| seed)) {
        let program = Program::of_seed(seed);
        if let Some(fault) = on(&program, platform) {
            let mode = RunMode { seed: 0, checked: true, turns: false };
            let text = code::print(&Failing { program, mode, fault: fault.clone() });
            return Err(Failed::msg(format!(
                "program {seed} fails: {fault}\nreproduce it with: {NAME}_SEED={seed}\n\n{text}"
            )));
        }
        programs += 1;
    }
    print_totals(programs, begun);
    Ok(())
}

/// Runs the programs that once failed, under many seeds.
pub(crate) fn known() -> Result<(), Failed> {
    let program =
        Program { memory: Reuse::Default, threads: None, flow: Some(graphs::left_out_wait()) };
    for seed in 0..16 {
        for checked in [true, false] {
            let mode = RunMode { seed, checked, turns: false };
            if let Some(fault) = attempt(&program, mode) {
                let failing = Failing { program, mode, fault };
                let text = code::print(&failing);
                return Err(Failed::msg(format!("{mode}: {}\n\n{text}", failing.fault)));
            }
        }
    }
    Ok(())
}
