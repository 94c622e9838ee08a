//! Whether a fault was reported: once, with the names of the call, of the error and of the node.

use streamflow_tests::forms::Form;
use streamflow_tests::layers::faults::{Fault, INJECTED, Target, gives_back};

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
    /// Replay had held the call back. A later call made the driver send it, received its error in a drop, and the run
    /// ended with the error.
    HeldBack,
    /// A CUDA graph could not be made, changed or launched. The failure was logged, and the graph's calls were sent one
    /// by one.
    SentOneByOne,
    /// The device was bound again, as after a library that has cleared the current context. Then the call succeeded.
    BoundAgain,
    /// The program did not make the call. The device's pace may cause that.
    NotReached,
}

/// What a trial reported.
#[derive(Debug)]
pub(crate) struct Reports {
    /// The errors that the program received.
    pub(crate) returned: Vec<String>,
    pub(crate) logged: Vec<String>,
    /// The warnings in the log.
    pub(crate) warned: Vec<String>,
}

impl Reports {
    /// Returns how a trial ended after its call has failed.
    ///
    /// # Errors
    /// The mistake in the reports.
    pub(crate) fn judge(&self, target: &Target, fault: Fault) -> Result<Ending, String> {
        let Self { returned, logged, warned } = self;
        let is_no_memory = fault.code.name == "CUDA_ERROR_OUT_OF_MEMORY";
        let is_it = |text: &String| {
            let is_injected = text.contains(INJECTED) && !text.contains("was not tried");
            is_injected || is_no_memory && text.contains("out of memory on")
        };
        let (reports, others): (Vec<&String>, Vec<&String>) =
            returned.iter().chain(logged).partition(|text| is_it(text));
        let says_so = |text: &&String| text.contains("sent one by one") && names_it(fault, text);
        let times = warned.iter().filter(says_so).count();
        let is_sent = times == 1 || times > 1 && fault.lasts;
        // A sticky error that was logged, in a drop or for a graph, ends the run, and the run's error says so.
        let is_end =
            |text: &String| text.contains("was not tried") && text.contains(fault.code.name);
        let is_logged = logged.iter().any(is_it);
        let ends_the_run = fault.code.is_sticky() && (is_logged || is_sent) && others.len() == 1;
        if let Some(other) = others.iter().find(|text| !(ends_the_run && is_end(text))) {
            return Err(format!("another error: {other}"));
        }
        for text in &reports {
            let has_names = names_it(fault, text);
            // From the first failure on, calls of other workers fail as well, so the error may be of another call.
            let may_be_other = fault.lasts && Form::Workers.is_set();
            let has_node = may_be_other || names_the_node(target, text, logged);
            if !(is_no_memory || has_names) || !has_node {
                return Err(format!("call, error or node are missing: {text}"));
            }
        }
        let is_shut_down = fault.code.name == "CUDA_ERROR_DEINITIALIZED" && gives_back(target.call);
        match reports.len() {
            1 => Ok(if is_logged { Ending::Logged } else { Ending::Returned }),
            0 if is_shut_down => Ok(Ending::ShutDown),
            0 if is_no_memory && warned.iter().any(|text| text.contains("out of")) => {
                Ok(Ending::TriedAgain)
            }
            0 if is_sent => Ok(Ending::SentOneByOne),
            0 if is_bound_again(target, fault) => Ok(Ending::BoundAgain),
            2 if is_held_back(returned, logged) => Ok(Ending::HeldBack),
            2.. if fault.lasts => Ok(Ending::Returned),
            times => Err(format!("reported {times} times: {self:?}")),
        }
    }
}

/// Whether a text names the function and its error.
fn names_it(fault: Fault, text: &str) -> bool {
    text.contains(fault.function) && text.contains(fault.code.name)
}

/// Whether the error of a run is that of a call that replay had held back, and that another call has logged in a drop.
fn is_held_back(returned: &[String], logged: &[String]) -> bool {
    let one = |texts: &[String]| <[String; 1]>::try_from(texts.to_vec()).ok();
    let both = one(returned).zip(one(logged));
    Form::Replayed.is_set() && both.is_some_and(|([returned], [logged])| logged.contains(&returned))
}

/// Whether the library binds the device and repeats the call, as for calls that need only some current context.
fn is_bound_again(target: &Target, fault: Fault) -> bool {
    const CALLS: [&str; 6] = [
        "record_event",
        "wait_event",
        "query_event",
        "query_stream",
        "synchronize_event",
        "synchronize_stream",
    ];
    let is_repeated = CALLS.contains(&target.call) && !fault.lasts;
    is_repeated && fault.code.name == "CUDA_ERROR_INVALID_CONTEXT"
}

/// Checks that an error in a hook names its node, unless it is only logged.
fn names_the_node(target: &Target, text: &str, logged: &[String]) -> bool {
    let node = target.place.split_once(": ").and_then(|(_, hook)| hook.split_once('.'));
    let Some((node, _)) = node else { return true };
    text.contains(&format!("`{node}`")) || logged.iter().any(|line| line == text)
}
