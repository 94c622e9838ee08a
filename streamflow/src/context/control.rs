//! The control of a run: the flags that end or pause it, and the signal that wakes its scheduler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::driver::Signal;

const RUNS: u8 = 0;
const PAUSED: u8 = 1;
const STOPPED: u8 = 2;

/// What the threads of a run share: whether it goes on, and how to wake its scheduler.
#[derive(Debug, Default)]
pub struct RunControl {
    state: AtomicU8,
    signal: Arc<Signal>,
}

/// What a scheduler shall do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Run the nodes.
    Run,
    /// Run no node until the command changes.
    Pause,
    /// End the run.
    Stop,
}

impl RunControl {
    /// The command. Read once in each pass.
    #[inline]
    pub(crate) fn command(&self) -> Command {
        match self.state.load(Ordering::Acquire) {
            RUNS => Command::Run,
            PAUSED => Command::Pause,
            _ => Command::Stop,
        }
    }

    /// Ends the run after the tick that runs now.
    pub(crate) fn stop(&self) {
        self.state.store(STOPPED, Ordering::Release);
        self.signal.raise();
    }

    /// What wakes the scheduler.
    pub fn waker(&self) -> Waker {
        Waker(self.signal.clone())
    }

    /// The signal that the scheduler sleeps on.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }
}

/// Wakes the scheduler of a run, so that it checks the conditions of its nodes again. Clones wake the same one.
#[derive(Debug, Clone)]
pub struct Waker(Arc<Signal>);

impl Waker {
    /// Wakes the scheduler. Change what the condition depends on *before* this call.
    pub fn wake(&self) {
        self.0.raise();
    }
}
