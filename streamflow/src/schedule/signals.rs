//! Signals that stop runs. One thread of the process receives the signals, and `HANDLER` has the list of runs that they stop.
//!
//! A signal that stops no run has the effect that it had before the library set its handler. If the program had a handler at that
//! moment, the handler is called, as for every signal; if it had none, the process ends. A handler that the program sets later
//! makes no difference here: either it replaces the library's handler, or `signal-hook` calls both handlers, and the process
//! ends. So the library may handle a signal even after the last run, or after a call that has failed to get another signal. It
//! has to, since `signal-hook` can't remove its own handler.

use std::fs;
use std::mem;
use std::process;
use std::sync::{Arc, Mutex, Weak};

use super::shared::Shared;
use crate::context::StopSource;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::log;

/// A signal that can stop a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    /// The signal's number in POSIX.
    number: i32,
    name: &'static str,
    source: StopSource,
}

/// The signal that Ctrl-C sends.
pub(super) const INTERRUPT: Signal =
    Signal { number: 2, name: "SIGINT", source: StopSource::CtrlC };

/// All signals that ask a process to end.
pub(super) const ALL: [Signal; 3] = [
    INTERRUPT,
    Signal { number: 15, name: "SIGTERM", source: StopSource::Terminate },
    Signal { number: 1, name: "SIGHUP", source: StopSource::HangUp },
];

impl Signal {
    /// The signal's bit in one of the kernel's masks of signals; 0 for numbers beyond 64.
    fn bit(&self) -> u64 {
        1_u64.unbounded_shl((self.number - 1).unsigned_abs())
    }
}

static HANDLER: Mutex<Handler> = Mutex::new(Handler {
    source: system::Source::new(),
    listened: 0,
    handled: 0,
    runs: Vec::new(),
});

struct Handler {
    source: system::Source,
    /// The mask of the signals that the library receives.
    listened: u64,
    /// The mask of the signals for which the program had a handler before the library set its own.
    handled: u64,
    /// The runs that a signal stops. Each run is in the list once.
    runs: Vec<Weak<Shared>>,
}

impl Handler {
    /// Makes the library receive a signal from now on. `caught` is the mask of signals for which the process has a handler.
    fn listen(&mut self, signal: &Signal, caught: u64) -> Result<(), String> {
        if self.listened & signal.bit() == 0 {
            self.source.listen(signal.number)?;
            self.listened |= signal.bit();
            self.handled |= signal.bit() & caught;
        }
        Ok(())
    }
}

/// Makes the next signal of `signals`, or of those that another run was registered for, stop this run.
///
/// # Errors
/// [`Error::CtrlC`]. The list of runs is unchanged then: if an earlier call has registered this run, signals still stop it; if
/// not, no signal stops it.
pub(super) fn stop(run: &Arc<Shared>, signals: &[Signal]) -> Result<()> {
    let _later = log::later();
    let [ignored, caught] = ["SigIgn:", "SigCgt:"].map(mask);
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
            let listened = handler.listen(signal, caught);
            listened.map_err(|problem| Error::CtrlC { problem })?;
        }
    }
    handler.runs.retain(|run| run.upgrade().is_some_and(|run| !run.is_over()));
    let run = Arc::downgrade(run);
    if !handler.runs.iter().any(|known| known.ptr_eq(&run)) {
        handler.runs.push(run);
    }
    Ok(())
}

/// Handles a signal, on the thread that receives the signals.
fn arrived(number: i32) {
    let Some(signal) = ALL.into_iter().find(|signal| signal.number == number) else { return };
    let mut handler = locked(&HANDLER);
    let runs = mem::take(&mut handler.runs);
    let is_handled = handler.handled & signal.bit() != 0;
    drop(handler);
    let mut has_run = false;
    for run in runs.iter().filter_map(Weak::upgrade).filter(|run| !run.is_over()) {
        // A run that is already being stopped counts, too, since this is the first signal that it gets.
        has_run = true;
        run.control.stop(signal.source);
    }
    if !has_run && !is_handled {
        // A shell reports this exit code for a process that the signal has ended.
        process::exit(128 + number);
    }
}

/// Returns a mask of signals from the status of the process: of the signals that the process ignores (`SigIgn:`), or has a
/// handler for (`SigCgt:`). An ignored signal must stay ignored: `nohup` makes a process ignore SIGHUP, and a script makes the
/// programs that it starts with `&` ignore SIGINT. Only Linux offers these masks without a call of C. On other systems the result
/// is 0.
fn mask(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(name));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(unix)]
mod system {
    use std::thread;

    use signal_hook::iterator::{Handle, Signals};

    /// The thread that receives the signals, once there is one.
    pub(super) struct Source(Option<Handle>);

    impl Source {
        pub(super) const fn new() -> Self {
            Self(None)
        }

        /// Receives this signal from now on. The program's handlers are still called, too. Called once for each signal.
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

/// The implementation for systems on which Ctrl-C is the only signal.
#[cfg(not(unix))]
mod system {
    pub(super) struct Source(());

    impl Source {
        pub(super) const fn new() -> Self {
            Self(())
        }

        pub(super) fn listen(&mut self, number: i32) -> Result<(), String> {
            if number != super::INTERRUPT.number {
                return Ok(());
            }
            let set = ctrlc::try_set_handler(|| super::arrived(super::INTERRUPT.number));
            set.map_err(|error| error.to_string())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::env;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::context::{Command as Next, RunControl};
    use crate::time::Clock;

    /// A number that is not the number of a signal.
    const REFUSED: Signal = Signal { number: 100, name: "none", source: StopSource::HangUp };

    fn terminate() {
        let me = process::id().to_string();
        assert!(Command::new("kill").args(["-TERM", &me]).status().unwrap().success());
    }

    /// Returns a command that starts this test binary again, by cargo's runner for its target if the environment names one.
    fn again() -> Command {
        let target = format!("{}_UNKNOWN_LINUX_GNU", env::consts::ARCH.to_uppercase());
        let runner = env::var(format!("CARGO_TARGET_{target}_RUNNER")).unwrap_or_default();
        let mut words: Vec<_> = runner.split_whitespace().map(Into::into).collect();
        words.push(env::current_exe().unwrap().into_os_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// The test runs in a process of its own. The library gets one of two signals. The program's handler for it is still called,
    /// and the process does not end.
    #[test]
    fn a_call_that_can_not_have_all_signals_changes_the_effect_of_none() {
        const CHILD: &str = "STREAMFLOW_TEST_SIGNALS";
        if env::var_os(CHILD).is_none() {
            let name = "schedule::signals::tests::a_call_that_can_not_have_all_signals_changes_the_effect_of_none";
            let done = again().args(["--exact", name]).env(CHILD, "1").output().unwrap();
            return assert!(done.status.success(), "{done:?}");
        }
        if mask("SigIgn:") & ALL[1].bit() != 0 {
            return;
        }
        let called = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(ALL[1].number, called.clone()).unwrap();
        let run = || Arc::new(Shared::new("Graph", Arc::new(RunControl::default()), Clock::real()));
        let (first, second) = (run(), run());
        let refused = stop(&first, &[ALL[1], REFUSED]);
        assert!(matches!(refused, Err(Error::CtrlC { .. })), "{refused:?}");
        terminate();
        while !called.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        // The library handles signals in the order of their arrival. So when the signal below has stopped the second run, the
        // signal before it has been handled.
        stop(&second, &[ALL[1]]).unwrap();
        terminate();
        while second.control.command() != Next::Stop(StopSource::Terminate) {
            thread::yield_now();
        }
        assert_eq!(first.control.command(), Next::Run);
    }
}
