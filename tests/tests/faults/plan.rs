//! The plan of the trials: which calls fail, and with which errors.

use std::collections::BTreeSet;
use std::sync::Arc;

use streamflow_tests::layers::faults::{Fault, STICKY, Target, functions};
use streamflow_tests::random::Random;

use super::trial::Clean;

/// The calls that may fail after they have taken effect. A call that makes something, a record and a host
/// function have no effect if they fail, by the contract of the driver.
const MAY_TAKE_EFFECT: [&str; 16] = [
    "destroy_stream",
    "synchronize_stream",
    "destroy_event",
    "destroy_graph",
    "set_graph_kernel",
    "wait_event",
    "synchronize_event",
    "free",
    "free_pinned",
    "copy to the device",
    "copy to the host",
    "copy on the device",
    "copy of rows",
    "fill",
    "launch",
    "call_library",
];

/// How many trials of the fault table are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The first call of each kind at each place fails with each error, unless a trial on another simulator has
    /// covered that call. Later calls fail with errors that a seed draws.
    Kinds,
    /// Each call fails with each error.
    All,
    /// The first call of each kind at each place fails with one error of its own and with one sticky error, for
    /// tools under which a trial takes long.
    Few,
}

/// The number of later calls of a kind at a place that fail, beside the first call.
const LATER: u64 = 2;

/// The places and kinds of calls whose trials with each error were made.
pub(crate) type Seen = BTreeSet<(Arc<str>, &'static str)>;

/// Returns the trials of a program.
pub(crate) fn plan(
    clean: &Clean,
    seed: u64,
    extent: Extent,
    seen: &mut Seen,
) -> Vec<(Target, Fault)> {
    let mut random = Random::new(seed);
    let mut trials = Vec::new();
    for (place, call, count) in &clean.calls {
        let faults = faults(call);
        if faults.is_empty() {
            continue;
        }
        let target = |nth| Target { place: Arc::clone(place), call, nth };
        let is_new = seen.insert((Arc::clone(place), call));
        if extent == Extent::Few {
            if is_new {
                let is_own = |fault: &&Fault| {
                    !fault.code.is_sticky() && !fault.code.name.ends_with("INITIALIZED")
                };
                let own = faults.iter().find(is_own);
                let sticky = faults.iter().find(|fault| fault.code.is_sticky());
                trials.extend(own.into_iter().chain(sticky).map(|fault| (target(0), *fault)));
            }
            continue;
        }
        let all = extent == Extent::All;
        let full = if all { *count } else { u64::from(is_new) };
        for nth in 0..full {
            trials.extend(faults.iter().map(|fault| (target(nth), *fault)));
        }
        let later = if all { 0 } else { LATER.min(count - full) };
        for _ in 0..later {
            let nth = full + random.below((count - full) as usize) as u64;
            trials.push((target(nth), faults[random.below(faults.len())]));
        }
    }
    trials
}

/// Returns the ways in which a call can fail.
fn faults(call: &str) -> Vec<Fault> {
    let functions = functions(call);
    let mut faults = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        let fault =
            |code| Fault { function: function.name, code, takes_effect: false, lasts: false };
        let own = function.errors.iter().map(|code| fault(*code));
        faults.extend(own.clone());
        // Only the first function that is called may return the error of earlier work.
        let sticky = STICKY.iter().filter(|code| index == 0 && !function.errors.contains(code));
        faults.extend(sticky.map(|code| fault(*code)));
        for fault in own.filter(|fault| !fault.code.is_sticky()) {
            let is_shut_down = fault.code.name == "CUDA_ERROR_DEINITIALIZED";
            if MAY_TAKE_EFFECT.contains(&call) && !is_shut_down {
                faults.push(Fault { takes_effect: true, ..fault });
            }
            if fault.code.name == "CUDA_ERROR_OUT_OF_MEMORY" {
                faults.push(Fault { lasts: true, ..fault });
            }
        }
    }
    faults
}
