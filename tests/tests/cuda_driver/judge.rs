//! Whether a trial is explained.

use std::collections::BTreeMap;
use std::fmt;

use streamflow_tests::layers::faults::{Code, documented};
use streamflow_tests::{Failed, check};

use super::trial::{Fault, Log, Round};

/// The ways in which a trial with a failing call may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    /// The program received the error.
    Returned,
    /// The error was logged, where none can be returned.
    Logged,
    /// CUDA was shutting down, and had given everything back itself (law 11), so the error does not count.
    ShutDown,
    /// The allocation succeeded after free memory was given back, and this was logged.
    TriedAgain,
    /// The context was bound, and the program was right.
    Bound,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Returned => "returned",
            Self::Logged => "logged in a drop",
            Self::ShutDown => "not an error while CUDA shuts down",
            Self::TriedAgain => "tried again",
            Self::Bound => "the context was bound again",
        })
    }
}

/// The CUDA functions that give something back, each with the kind of object.
const GIVE_BACK: &[(&str, &str)] = &[
    ("cuStreamDestroy_v2", "stream"),
    ("cuEventDestroy_v2", "event"),
    ("cuMemFreeAsync", "device memory"),
    ("cuMemFreeHost", "page-locked memory"),
    ("cuMemPoolDestroy", "memory pool"),
    ("cuGreenCtxDestroy", "green context"),
    ("cuModuleUnload", "module"),
    ("cuGraphDestroy", "graph"),
    ("cuGraphExecDestroy", "executable graph"),
];

/// Calls that need only some current context: after `CUDA_ERROR_INVALID_CONTEXT` the library binds one and repeats the
/// call.
const REPEATED: &[&str] = &[
    "cuEventRecord",
    "cuStreamWaitEvent",
    "cuEventQuery",
    "cuStreamQuery",
    "cuEventSynchronize",
    "cuStreamSynchronize",
];

/// Returns how the trial ended.
///
/// # Errors
/// A text about what no rule explains.
pub(crate) fn judge(log: &Log, fault: &Fault) -> Result<Ending, String> {
    let [first, second] = &log.rounds[..] else { return Err(format!("no two rounds: {log:?}")) };
    if !(log.has_ended && log.has_fired && log.wrong.is_empty()) {
        return Err(format!("ended, fired, wrong handles: {log:?}"));
    }
    let ending = reported(first, fault)?;
    if fault.code.is_sticky() {
        return refused(first, second, fault).map(|()| ending);
    }
    for reports in [&second.returned, &second.logged, &second.warned] {
        if let Some(report) = reports.first() {
            return Err(format!("not usable afterwards: {report}"));
        }
    }
    let left: BTreeMap<String, i64> =
        kept(first, fault).into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    if log.live != left {
        return Err(format!("left alive: {:?}, not {left:?}", log.live));
    }
    Ok(ending)
}

/// Returns the kind and number of objects that were not given back, because the call that should have done so failed.
fn kept(round: &Round, fault: &Fault) -> Option<(&'static str, i64)> {
    let is_shut_down = fault.code.name == "CUDA_ERROR_DEINITIALIZED";
    match &*fault.function {
        // The code of kernels stays loaded if the host can't wait for the kernels' context.
        "cuCtxSynchronize" | "cuCtxSetCurrent" => {
            let is_kept = round.logged.iter().any(|text| text.contains("unloading kernels"));
            let loads = round.calls.iter().filter(|call| *call == "cuModuleLoadDataEx");
            (is_kept && !is_shut_down).then(|| ("module", loads.count() as i64))
        }
        function => {
            let gives_back = GIVE_BACK.iter().find(|(name, _)| *name == function);
            gives_back.map(|(_, kind)| (*kind, 1))
        }
    }
}

/// Judges what the round with the fault reported.
fn reported(round: &Round, fault: &Fault) -> Result<Ending, String> {
    let Round { returned, logged, warned, .. } = round;
    let is_no_memory = fault.code.name == "CUDA_ERROR_OUT_OF_MEMORY";
    let is_it = |text: &String| {
        !text.contains("was not tried")
            && (names(text, fault) || is_no_memory && text.contains("out of memory on"))
    };
    let (reports, others): (Vec<&String>, Vec<&String>) =
        returned.iter().chain(logged).partition(|text| is_it(text));
    let is_logged = logged.iter().any(is_it);
    // A sticky error that was logged in a drop ends the program, and the program's error says so.
    let is_end = |text: &String| text.contains("was not tried") && text.contains(fault.code.name);
    let ends = fault.code.is_sticky() && is_logged && others.len() == 1;
    if let Some(other) = others.iter().find(|text| !(ends && is_end(text))) {
        return Err(format!("another error: {other}"));
    }
    match reports.len() {
        1 => Ok(if is_logged { Ending::Logged } else { Ending::Returned }),
        0 if fault.code.name == "CUDA_ERROR_DEINITIALIZED" && shuts_down(fault) => {
            Ok(Ending::ShutDown)
        }
        0 if is_no_memory && warned.iter().any(|text| text.contains("out of")) => {
            Ok(Ending::TriedAgain)
        }
        0 if is_bound(fault) => Ok(Ending::Bound),
        times => Err(format!("reported {times} times: {round:?}")),
    }
}

/// Whether a report has the names of the function and of the error.
fn names(text: &str, fault: &Fault) -> bool {
    let name = documented(&fault.function).map_or("", |function| function.name);
    if is_refused_division(fault) {
        return text.contains("can't be divided into partitions");
    }
    // cudarc opens a context by several calls, and returns only the error code. If its query for the current context
    // fails, it calls `cuCtxSetCurrent`, which then returns a sticky error as well.
    let stands_for = ["opening the device"]
        .into_iter()
        .chain((name == "cuCtxGetCurrent" && fault.code.is_sticky()).then_some("cuCtxSetCurrent"));
    let mut all = stands_for.chain([name]);
    text.contains(fault.code.name) && all.any(|name| text.contains(name))
}

/// CUDA returns this error if a device can't be divided into groups of so many multiprocessors. The library's error lists
/// the legal sizes.
fn is_refused_division(fault: &Fault) -> bool {
    fault.code.name == "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"
        && fault.function == "cuDevSmResourceSplitByCount"
}

fn shuts_down(fault: &Fault) -> bool {
    let gives_back = GIVE_BACK.iter().any(|(function, _)| *function == fault.function);
    let waits = ["cuCtxSetCurrent", "cuCtxSynchronize"].contains(&fault.function.as_str());
    gives_back || waits || is_bound(fault)
}

fn is_bound(fault: &Fault) -> bool {
    let is_repeated = REPEATED.contains(&fault.function.as_str());
    fault.function == "cuCtxGetCurrent"
        || is_repeated && fault.code.name == "CUDA_ERROR_INVALID_CONTEXT"
}

/// Checks that after a sticky error the program gets an error that names it, and that CUDA is not called.
fn refused(first: &Round, second: &Round, fault: &Fault) -> Result<(), String> {
    let is_named = matches!(&second.returned[..], [one] if one.contains(fault.code.name));
    if !is_named || !second.logged.is_empty() {
        return Err(format!("the next program was not refused: {second:?}"));
    }
    // cudarc releases a context that it could not bind, by two calls. In other places the context is bound although the
    // query for the current one has failed.
    let more = match first.returned.iter().any(|text| text.contains("opening the device")) {
        true => 2,
        false => usize::from(fault.function == "cuCtxGetCurrent"),
    };
    if first.calls_after <= more && second.calls.is_empty() {
        return Ok(());
    }
    Err(format!("CUDA was called after a sticky error: {first:?}; {second:?}"))
}

/// Makes a log wrong.
type Change = fn(&mut Log);

/// The controls: `judge` must find reports that are wrong.
pub(crate) fn controls() -> Result<(), Failed> {
    let code = Code { number: 1, name: "CUDA_ERROR_INVALID_VALUE" };
    let fault = Fault { function: "cuMemPoolCreate".to_owned(), nth: 0, code };
    let text = "cuMemPoolCreate failed on device 0: CUDA_ERROR_INVALID_VALUE (1): x".to_owned();
    let right = Log {
        has_fired: true,
        has_ended: true,
        rounds: vec![Round { returned: vec![text.clone()], ..Round::default() }, Round::default()],
        ..Log::default()
    };
    check(judge(&right, &fault) == Ok(Ending::Returned), || {
        format!("{:?}", judge(&right, &fault))
    })?;
    let wrong: [(&str, Change); 8] = [
        ("swallowed", |log| log.rounds[0].returned.clear()),
        ("twice", |log| log.rounds[0].logged = log.rounds[0].returned.clone()),
        ("nameless", |log| log.rounds[0].returned = vec!["it failed".to_owned()]),
        ("leaked", |log| log.live.extend([("stream".to_owned(), 1)])),
        ("given back twice", |log| log.live.extend([("stream".to_owned(), -1)])),
        ("a wrong handle", |log| log.wrong.push("0x1 is no stream".to_owned())),
        ("unusable", |log| log.rounds[1].returned.push("it failed".to_owned())),
        ("died", |log| log.has_ended = false),
    ];
    for (what, change) in wrong {
        let mut log = right.clone();
        change(&mut log);
        check(judge(&log, &fault).is_err(), || format!("{what} is not found"))?;
    }
    // In this wrong report, CUDA is called again after a sticky error.
    let code = Code { number: 700, name: "CUDA_ERROR_ILLEGAL_ADDRESS" };
    let fault = Fault { code, ..fault };
    let text = text.replace("INVALID_VALUE (1)", "ILLEGAL_ADDRESS (700)");
    let mut lost = right;
    lost.rounds[0].returned = vec![text.clone()];
    lost.rounds[1].returned = vec![text.replace("cuMemPoolCreate failed", "it was not tried")];
    check(judge(&lost, &fault) == Ok(Ending::Returned), || format!("{:?}", judge(&lost, &fault)))?;
    lost.rounds[0].calls_after = 1;
    check(judge(&lost, &fault).is_err(), || "calls after a sticky error are not found".to_owned())
}
