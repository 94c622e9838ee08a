//! Runs programs until the time is up or one fails.

use std::env;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use streamflow::prelude::*;
use streamflow_tests::Failed;

use super::program::{Program, Reuse, RunMode, attempt, on};
use super::shrink::{Failing, shrink};
use super::{code, count, graphs};

/// The variable for the run time in seconds.
const SECONDS: &str = "STREAMFLOW_PROGRAMS_SECONDS";

/// The variable that selects one program by its seed.
const SEED: &str = "STREAMFLOW_PROGRAMS_SEED";

/// The variable that restricts programs to `threads` or `graphs`.
const ONLY: &str = "STREAMFLOW_PROGRAMS_ONLY";

/// The default run time in seconds.
const DEFAULT_SECONDS: u64 = 60;

/// A search in the default time that runs fewer programs fails.
const MIN_PROGRAMS: u64 = 100;

/// Threads that each run one program at a time.
const WORKERS: usize = 2;

/// The time limit for shrinking a program.
const SHRINK_TIME: Duration = Duration::from_secs(60);

/// How often a program that is selected by its seed runs in each way.
const REPEATS: u64 = 200;

fn variable(name: &str) -> Result<Option<u64>, Failed> {
    let Some(value) = env::var_os(name) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    let wrong = || Failed::msg(format!("{name} is {value:?}: expected a whole number"));
    number.map(Some).ok_or_else(wrong)
}

/// Whether the environment selects programs of this kind.
fn is_selected(program: &Program) -> Result<bool, Failed> {
    let Some(only) = env::var_os(ONLY) else { return Ok(true) };
    match only.to_str() {
        Some("threads") => Ok(program.flow.is_none()),
        Some("graphs") => Ok(program.threads.is_none()),
        _ => Err(Failed::msg(format!("{ONLY} is {only:?}: expected `threads` or `graphs`"))),
    }
}

/// The ways in which the program of a seed runs, for the `nth` time.
fn ways(seed: u64, program: &Program, nth: u64) -> Vec<RunMode> {
    let seed = seed.wrapping_mul(3).wrapping_add(3 * nth);
    let mode = |add, checked, turns| RunMode { seed: seed + add, checked, turns };
    if program.has_threads() {
        // Turns are reproducible. Ordinary threads also interleave within a turn.
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

/// Runs programs on the simulator.
pub(crate) fn simulated() -> Result<(), Failed> {
    let begun = Instant::now();
    if let Some(seed) = variable(SEED)? {
        let found = (0..REPEATS).find_map(|nth| fails(seed, nth));
        return report(seed, found, begun);
    }
    is_selected(&Program::of_seed(0))?;
    let end = Duration::from_secs(variable(SECONDS)?.unwrap_or(DEFAULT_SECONDS));
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let found = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while begun.elapsed() < end && !stop.load(Ordering::Acquire) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
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
    let programs = next.into_inner();
    print_totals(programs, begun);
    match found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((seed, failing)) => report(seed, Some(failing), begun),
        None if programs < MIN_PROGRAMS && end >= Duration::from_secs(DEFAULT_SECONDS) => {
            Err(Failed::msg(format!("only {programs} programs in {end:?}")))
        }
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
         reproduce it with: {SEED}={seed}\n\n\
         The shrunk program fails with {}: {}\n\n{}",
        small.mode,
        small.fault,
        code::print(&small)
    )))
}

/// Runs programs on a GPU, one after the other.
pub(crate) fn on_a_gpu(platform: &Platform) -> Result<(), Failed> {
    let begun = Instant::now();
    let one = variable(SEED)?;
    let end = Duration::from_secs(variable(SECONDS)?.unwrap_or(DEFAULT_SECONDS));
    let mut programs = 0;
    while begun.elapsed() < end {
        let seed = one.unwrap_or(programs);
        let program = Program::of_seed(seed);
        if let Some(fault) = on(&program, platform) {
            let mode = RunMode { seed: 0, checked: true, turns: false };
            let text = code::print(&Failing { program, mode, fault: fault.clone() });
            return Err(Failed::msg(format!(
                "program {seed} fails: {fault}\nreproduce it with: {SEED}={seed}\n\n{text}"
            )));
        }
        programs += 1;
    }
    print_totals(programs, begun);
    Ok(())
}

/// Runs programs that once failed, under many seeds.
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
