//! Ends the process when a trial hangs, and names the trial.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The time limit of a trial. A trial takes milliseconds, and only a hanging one takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// The exit code of a process that a watchdog has ended.
pub(crate) const HANGS: i32 = 86;

/// A thread that watches the trials of one other thread.
pub(crate) struct Watchdog(Sender<String>);

impl Watchdog {
    /// Starts a watchdog with the usual time limit.
    pub(crate) fn new() -> Self {
        Self::with_limit(LIMIT)
    }

    /// Starts a watchdog with another time limit, for a control.
    pub(crate) fn with_limit(limit: Duration) -> Self {
        let (sender, receiver) = mpsc::channel::<String>();
        thread::spawn(move || {
            let mut trial = String::new();
            loop {
                match receiver.recv_timeout(limit) {
                    Ok(next) => trial = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("a trial hangs, for {limit:?}: {trial}");
                        process::exit(HANGS);
                    }
                }
            }
        });
        Self(sender)
    }

    /// Reports that a trial begins, and that the trial before has ended.
    pub(crate) fn begin(&self, trial: String) {
        // The watching thread receives until this sender is dropped, so sending can't fail.
        let _sent = self.0.send(trial);
    }
}
