//! A trial: a process in which one call of CUDA fails, and the process's log.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use streamflow_tests::layers::faults::Code;
use streamflow_tests::{Failed, child};

/// The environment variable with the path of the log.
pub(crate) const LOG: &str = "STREAMFLOW_FAKE_CUDA_LOG";

/// A call that fails: call number `nth` of a function, counted from 0.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) function: String,
    pub(crate) nth: u64,
    pub(crate) code: Code,
}

/// The calls and reports of a process in one of its two rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Round {
    pub(crate) returned: Vec<String>,
    pub(crate) logged: Vec<String>,
    pub(crate) warned: Vec<String>,
    /// The functions that were called, in order.
    pub(crate) calls: Vec<String>,
    /// How many calls the process made after the fault.
    pub(crate) calls_after: usize,
}

/// The calls and reports of a whole process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) has_fired: bool,
    pub(crate) has_ended: bool,
    pub(crate) rounds: Vec<Round>,
    /// How many objects of each kind were made and not given back.
    pub(crate) live: BTreeMap<String, i64>,
    /// Reports of handles and memory that were used wrongly.
    pub(crate) wrong: Vec<String>,
    /// How many streams have both work and allocations or frees of memory.
    pub(crate) memory_in_order: usize,
}

impl Log {
    fn parse(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.to_owned();
            match word {
                "round" => log.rounds.push(Round::default()),
                "fault" => log.has_fired = true,
                "end" => log.has_ended = true,
                "+" => *log.live.entry(rest).or_default() += 1,
                "-" => *log.live.entry(rest).or_default() -= 1,
                "wrong:" => log.wrong.push(rest),
                "in-order" => log.memory_in_order += 1,
                _ => {}
            }
            let has_fired = log.has_fired;
            let Some(round) = log.rounds.last_mut() else { continue };
            match (word, line.split_once(' ').map(|(_, rest)| rest.to_owned())) {
                ("returned", Some(text)) => round.returned.push(text),
                ("logged", Some(text)) => round.logged.push(text),
                ("warned", Some(text)) => round.warned.push(text),
                ("call", Some(function)) => {
                    round.calls_after += usize::from(has_fired);
                    round.calls.push(function);
                }
                _ => {}
            }
        }
        log.live.retain(|_, count| *count != 0);
        // The contexts live until the process ends, so they are not counted.
        log.live.remove("context");
        log
    }
}

/// Runs the program with the library of a folder, with its log in `scratch`.
pub(crate) fn run(library: &Path, scratch: &Path, fault: Option<&Fault>) -> Result<Log, Failed> {
    let fault = fault.map(|Fault { function, nth, code }| {
        let lasts = if code.is_sticky() { "lost" } else { "once" };
        format!("{function} {nth} {} {} {lasts}", code.number, code.name)
    });
    let fault = ("STREAMFLOW_FAKE_CUDA_FAULT", &*fault.unwrap_or_default());
    run_as("program", library, scratch, &[fault])
}

/// As [`run`], in another role and with further environment variables.
pub(crate) fn run_as(
    role: &str,
    library: &Path,
    scratch: &Path,
    variables: &[(&str, &str)],
) -> Result<Log, Failed> {
    let path = scratch.join("log");
    fs::write(&path, "")?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (library, log) = (text(library), text(&path));
    let all = [("LD_LIBRARY_PATH", &*library), (LOG, &*log), ("STREAMFLOW_BLOCKING_LAUNCHES", "0")];
    child::run("cuda_driver", role, &[&all[..], variables].concat())?;
    Ok(Log::parse(&fs::read_to_string(&path)?))
}
