//! All trials: which calls fail, and the table of how the trials ended.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use streamflow_tests::layers::faults::{INTERNAL, STICKY, documented};
use streamflow_tests::{Failed, Tier, check, check_equal};

use super::judge::{Ending, judge};
use super::library;
use super::trial::{self, Fault, Log};

/// Functions of features that an old driver may lack. Without the function, the first use of the feature returns
/// an error.
const OPTIONAL: &[&str] = &[
    "cuDevResourceGenerateDesc",
    "cuDevSmResourceSplitByCount",
    "cuDeviceGetDevResource",
    "cuCtxRecordEvent",
    "cuStreamGetCtx_v2",
    "cuEventElapsedTime_v2",
    "cuGreenCtxCreate",
    "cuGreenCtxDestroy",
    "cuGreenCtxGetDevResource",
    "cuGreenCtxStreamCreate",
];

/// Runs the program without a fault.
fn run_clean(folder: &Path) -> Result<Log, Failed> {
    library::install(&folder.join("lib"))?;
    let log = trial::run(&folder.join("lib"), folder, None)?;
    check(log.has_ended && log.rounds.len() == 2, || format!("it has not ended: {log:?}"))?;
    for round in &log.rounds {
        let reports = [&round.returned, &round.logged, &round.warned].map(Vec::is_empty);
        check_equal(reports, [true; 3]).map_err(|_| Failed::msg(format!("{round:?}")))?;
    }
    check(log.live.is_empty() && log.wrong.is_empty(), || {
        format!("{:?}, {:?}", log.live, log.wrong)
    })?;
    Ok(log)
}

pub(crate) fn clean() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let log = run_clean(folder.path())?;
    let called: BTreeSet<&String> = log.rounds.iter().flat_map(|round| &round.calls).collect();
    for function in INTERNAL {
        let is_called = called.iter().any(|call| documented(call) == Some(function));
        check(is_called, || format!("the program does not call {}", function.name))?;
    }
    check_equal(log.memory_in_order, 0)?;
    // The module of the program, those of its graph and of the copies in one, and one image for two kernels.
    for round in &log.rounds {
        let loads = round.calls.iter().filter(|call| *call == "cuModuleLoadDataEx").count();
        check_equal(loads, 4)?;
    }
    for call in called {
        check(documented(call).is_some(), || format!("{call} has no list of errors"))?;
    }
    Ok(())
}

/// Returns the calls of the first round, each with the errors that it is to return in turn. In the fast tier a
/// call returns only one of the errors that CUDA documents for its function, and the function's next call returns
/// the next error.
fn plan(clean: &Log, all: bool, tier: Tier) -> Vec<Fault> {
    let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
    for call in &clean.rounds[0].calls {
        *counts.entry(call).or_default() += 1;
    }
    let (mut plan, mut sticky) = (Vec::new(), STICKY.iter().cycle());
    for (function, count) in counts {
        let own = documented(function).map_or(&[][..], |known| known.errors);
        for nth in 0..count {
            let fault = |code| Fault { function: function.clone(), nth, code };
            let (skipped, every) = match tier {
                Tier::Full => (0, 1),
                Tier::Fast => (nth as usize % own.len().max(1), own.len().max(1)),
            };
            plan.extend(own.iter().skip(skipped).step_by(every).copied().map(fault));
            let count = if all { STICKY.len() } else { 1 };
            let also = sticky.by_ref().take(count).filter(|code| !own.contains(code));
            plan.extend(also.copied().map(fault));
        }
    }
    plan
}

/// How often the trials of each function ended in each way.
type Table = BTreeMap<String, BTreeMap<Ending, u64>>;

pub(crate) fn each_call() -> Result<(), Failed> {
    let wish = env::var("STREAMFLOW_FAULTS").unwrap_or_default();
    let folder = tempfile::tempdir()?;
    let clean = run_clean(folder.path())?;
    let plan =
        plan(&clean, wish == "all", if wish == "all" { Tier::Full } else { Tier::from_env()? });
    let (next, table) = (AtomicUsize::new(0), Mutex::new(Table::new()));
    let unexplained = Mutex::new(Vec::new());
    let locked = |of: &Mutex<Vec<String>>, text| {
        of.lock().unwrap_or_else(PoisonError::into_inner).push(text)
    };
    let work = |number: usize| -> Result<(), Failed> {
        let scratch = folder.path().join(number.to_string());
        std::fs::create_dir_all(&scratch)?;
        while let Some(fault) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
            let log = trial::run(&folder.path().join("lib"), &scratch, Some(fault))?;
            match judge(&log, fault) {
                Ok(ending) => {
                    let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
                    let row = table.entry(fault.function.clone()).or_default();
                    *row.entry(ending).or_default() += 1;
                }
                Err(why) => {
                    let Fault { function, nth, code } = fault;
                    locked(&unexplained, format!("{function} number {nth}, {}: {why}", code.name));
                }
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        all.into_iter()
            .try_for_each(|one| one.join().unwrap_or_else(|_| Err(Failed::msg("a panic"))))
    })?;
    let unexplained = unexplained.into_inner().unwrap_or_else(PoisonError::into_inner);
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&table, plan.len(), unexplained.len(), !wish.is_empty())?;
    check(unexplained.is_empty(), || {
        let first = unexplained.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        format!("{} of {} trials are not explained:\n{first}", unexplained.len(), plan.len())
    })
}

fn print(table: &Table, trials: usize, unexplained: usize, rows: bool) -> Result<(), Failed> {
    let mut out = std::io::stdout();
    let mut sums: BTreeMap<Ending, u64> = BTreeMap::new();
    let texts = |row: &BTreeMap<Ending, u64>| {
        row.iter().map(|(ending, count)| format!("{count} {ending}")).collect::<Vec<_>>().join(", ")
    };
    for (function, row) in table {
        row.iter().for_each(|(ending, count)| *sums.entry(*ending).or_default() += count);
        if rows {
            writeln!(out, "{function}: {}", texts(row))?;
        }
    }
    writeln!(out, "{trials} trials: {}, {unexplained} unexplained", texts(&sums))?;
    Ok(())
}

/// Checks libraries that lack one function: an error names the function, and nothing panics.
pub(crate) fn each_missing_function() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let clean = run_clean(folder.path())?;
    let functions: BTreeSet<&String> = clean.rounds[0].calls.iter().collect();
    for function in functions {
        let lib = folder.path().join("without");
        library::install_without(&lib, Some(function))?;
        let log = trial::run(&lib, folder.path(), None)?;
        check(log.has_ended && log.live.is_empty() && log.wrong.is_empty(), || {
            format!("without {function}: {log:?}")
        })?;
        for round in &log.rounds {
            let is_named = |text: &String| text.contains(function.as_str());
            let is_one = round.returned.len() == 1 && round.returned.iter().all(is_named);
            let is_early = round.calls.iter().all(|call| call == "cuDriverGetVersion");
            let is_optional = OPTIONAL.contains(&function.as_str());
            check(is_one && round.logged.is_empty() && is_early != is_optional, || {
                format!("without {function}: {round:?}")
            })?;
        }
    }
    Ok(())
}
