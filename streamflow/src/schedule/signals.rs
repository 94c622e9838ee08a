//! Signals that stop runs: the process has one thread that gets them, and a list of the runs that each of them stops.

use std::fs;
use std::process;
use std::sync::{Arc, Mutex, Weak};

use super::shared::Shared;
use crate::context::StopSource;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::log;

/// A signal that can stop a run.
pub(super) struct Signal {
    /// POSIX has it.
    number: i32,
    name: &'static str,
    source: StopSource,
}

/// Ctrl-C.
pub(super) const INTERRUPT: Signal =
    Signal { number: 2, name: "SIGINT", source: StopSource::CtrlC };

/// All signals that ask a process to end.
pub(super) const ALL: [Signal; 3] = [
    INTERRUPT,
    Signal { number: 15, name: "SIGTERM", source: StopSource::Terminate },
    Signal { number: 1, name: "SIGHUP", source: StopSource::HangUp },
];

impl Signal {
    /// Its bit in a mask of signals, as the kernel has them.
    fn bit(&self) -> u64 {
        1 << (self.number - 1)
    }
}

static HANDLER: Mutex<Handler> =
    Mutex::new(Handler { source: system::Source::new(), runs: Vec::new() });

struct Handler {
    source: system::Source,
    /// Each run once, with a mask of the signals that stop it.
    runs: Vec<(Weak<Shared>, u64)>,
}

/// Stops a run at the next one of these signals.
///
/// # Errors
/// [`Error::CtrlC`].
pub(super) fn stop(run: &Arc<Shared>, signals: &[Signal]) -> Result<()> {
    let _later = log::later();
    let ignored = ignored();
    let mut handler = locked(&HANDLER);
    for signal in signals {
        if ignored & signal.bit() != 0 {
            let name = signal.name;
            log::write(move || {
                tracing::info!(
                    "{name} stops no run: whoever started this program has it ignore the signal"
                );
            });
        } else {
            let listened = handler.source.listen(signal.number);
            listened.map_err(|problem| Error::CtrlC { problem })?;
        }
    }
    let asked = signals.iter().fold(0, |mask, signal| mask | signal.bit());
    handler.runs.retain(|(run, _)| run.upgrade().is_some_and(|run| !run.is_over()));
    let run = Arc::downgrade(run);
    match handler.runs.iter_mut().find(|(known, _)| known.ptr_eq(&run)) {
        Some((_, mask)) => *mask |= asked,
        None => handler.runs.push((run, asked)),
    }
    Ok(())
}

/// Called on a thread of its own, for each signal.
fn arrived(number: i32) {
    let Some(signal) = ALL.into_iter().find(|signal| signal.number == number) else { return };
    let mut handler = locked(&HANDLER);
    let stopped = handler.runs.extract_if(.., |(_, mask)| *mask & signal.bit() != 0);
    let runs: Vec<_> = stopped.collect();
    drop(handler);
    let mut has_run = false;
    for run in runs.iter().filter_map(|(run, _)| run.upgrade()).filter(|run| !run.is_over()) {
        // Also one that is being stopped already: this is the first signal that it gets.
        has_run = true;
        run.control.stop(signal.source);
    }
    if !has_run {
        // As a shell reports a process that the signal has ended.
        process::exit(128 + number);
    }
}

/// The mask of the signals that the process ignores. `nohup` has it ignore SIGHUP, and a script SIGINT in what it starts with
/// `&`: that is to go on. Linux alone tells it without a call of C. A signal that the library gets is not ignored.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(unix)]
mod system {
    use std::thread;

    use signal_hook::iterator::{Handle, Signals};

    /// The thread that gets the signals.
    pub(super) struct Source(Option<Handle>);

    impl Source {
        pub(super) const fn new() -> Self {
            Self(None)
        }

        /// Gets this signal from now on, beside the handlers that the program has.
        pub(super) fn listen(&mut self, number: i32) -> Result<(), String> {
            let thread = match &self.0 {
                Some(thread) => thread,
                None => self.0.insert(begin().map_err(|error| error.to_string())?),
            };
            thread.add_signal(number).map_err(|error| error.to_string())
        }
    }

    fn begin() -> std::io::Result<Handle> {
        let mut signals = Signals::new::<_, i32>([])?;
        let handle = signals.handle();
        let thread = thread::Builder::new().name("streamflow signals".to_owned());
        thread.spawn(move || signals.forever().for_each(super::arrived))?;
        Ok(handle)
    }
}

/// Ctrl-C is all that such a system has.
#[cfg(not(unix))]
mod system {
    /// Whether the handler of Ctrl-C is installed.
    pub(super) struct Source(bool);

    impl Source {
        pub(super) const fn new() -> Self {
            Self(false)
        }

        pub(super) fn listen(&mut self, number: i32) -> Result<(), String> {
            if number == super::INTERRUPT.number && !self.0 {
                let set = ctrlc::try_set_handler(|| super::arrived(super::INTERRUPT.number));
                set.map_err(|error| error.to_string())?;
                self.0 = true;
            }
            Ok(())
        }
    }
}
