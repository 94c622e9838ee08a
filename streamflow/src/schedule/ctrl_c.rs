//! Ctrl-C: the process has one handler, and a list of the runs that it stops.

use std::fs;
use std::process;
use std::sync::{Arc, Mutex, Weak};

use super::shared::Shared;
use crate::context::StopSource;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::log;

/// The exit code of a process that Ctrl-C has ended: 128 and the number of SIGINT.
const EXIT_CODE: i32 = 130;

/// SIGINT has number 2, so it is the second bit of a mask of signals.
const SIGINT: u64 = 0b10;

static HANDLER: Mutex<Handler> = Mutex::new(Handler { is_installed: false, runs: Vec::new() });

struct Handler {
    is_installed: bool,
    runs: Vec<Weak<Shared>>,
}

/// Stops a run at the next Ctrl-C.
///
/// # Errors
/// [`Error::CtrlC`].
pub(super) fn stop(run: &Arc<Shared>) -> Result<()> {
    let _later = log::later();
    let mut handler = locked(&HANDLER);
    if !handler.is_installed {
        match ctrlc::try_set_handler(handle) {
            Ok(()) => handler.is_installed = true,
            Err(ctrlc::Error::MultipleHandlers) if is_ignored() => {
                log::write(|| {
                    tracing::info!(
                        "Ctrl-C stops no run: whoever started this program has it ignore the signal"
                    );
                });
                return Ok(());
            }
            Err(error) => return Err(refused(error)),
        }
    }
    handler.runs.retain(|run| run.upgrade().is_some_and(|run| !run.is_over()));
    handler.runs.push(Arc::downgrade(run));
    Ok(())
}

/// Called on a thread of the crate `ctrlc`, for each signal.
fn handle() {
    let runs = std::mem::take(&mut locked(&HANDLER).runs);
    let mut has_run = false;
    for run in runs.iter().filter_map(Weak::upgrade).filter(|run| !run.is_over()) {
        // Also one that is being stopped already: this is the first signal that it gets.
        has_run = true;
        run.control.stop(StopSource::CtrlC);
    }
    if !has_run {
        process::exit(EXIT_CODE);
    }
}

/// Whether the process ignores SIGINT: what a script starts with `&` does, and is to go on when somebody presses Ctrl-C.
/// Linux alone tells it without a call of C.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & SIGINT != 0)
}

fn refused(error: ctrlc::Error) -> Error {
    let problem = match error {
        ctrlc::Error::MultipleHandlers => {
            "the program has a handler of its own; call `stop` of a `handle()` of this run there, or don't ask for Ctrl-C"
                .to_owned()
        }
        other => other.to_string(),
    };
    Error::CtrlC { problem }
}
