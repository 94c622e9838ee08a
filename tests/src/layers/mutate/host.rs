//! The host threads of a program: their places, their waits and their queries.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use streamflow_driver::driver::DriverResult;

use super::dependency::Names;
use super::{DependencyKind, LogStep, Mutate};

/// The numbers of a program's threads. A thread has the number that the program sets, or one by the order of the first
/// calls.
#[derive(Debug, Default)]
pub(super) struct Threads {
    numbers: HashMap<ThreadId, usize>,
}

impl Threads {
    fn set(&mut self, number: usize) {
        self.numbers.insert(thread::current().id(), number);
    }

    /// Returns the number of the calling thread.
    pub(super) fn number(&mut self) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(thread::current().id()).or_insert(next)
    }
}

impl Mutate {
    /// Sets the number and the place of the calling thread, for programs without hooks.
    pub fn enter(&self, thread: usize, place: &str) {
        let mut state = self.lock();
        state.threads.set(thread);
        state.visit().enter(&format!("thread {thread}"), place);
    }

    /// Logs that the calling thread has joined all other threads.
    pub fn joined(&self) {
        self.log_step(|_| LogStep::Joined);
    }

    /// Whether all work on streams with a name is complete. Call it after [`end`](Self::end).
    ///
    /// # Errors
    /// Those of the driver.
    pub fn is_idle(&self) -> DriverResult<bool> {
        let streams = self.lock().names.streams();
        for stream in streams {
            self.below.bind(stream.device())?;
            // SAFETY: the platform has named the stream. The platform still exists, and keeps its streams.
            if !unsafe { self.below.query_stream(stream) }? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a wait of the host, unless it is dropped, and logs it.
    pub(super) fn host_wait(
        &self,
        label: impl Fn(&Names) -> Arc<str>,
        wait: impl FnOnce() -> DriverResult<()>,
        step: impl Fn(bool) -> LogStep,
    ) -> DriverResult<()> {
        let Some(mut state) = self.running() else { return wait() };
        let name = label(&state.names);
        let dependency = state.visit().dependency(DependencyKind::HostWait, name, None);
        let dropped = self.drops(&mut state, dependency);
        drop(state);
        if !dropped {
            wait()?;
        }
        self.log_step(|_| step(dropped));
        Ok(())
    }

    /// Logs a query of the host. Returns whether to report it as complete.
    pub(super) fn reports_complete(
        &self,
        complete: bool,
        label: impl Fn(&Names) -> Arc<str>,
        step: impl Fn(bool) -> LogStep,
    ) -> bool {
        let Some(mut state) = self.running() else { return complete };
        // If the work is complete, the query's answer is true anyway, so there is nothing to drop.
        let dropped = !complete && {
            let name = label(&state.names);
            let dependency = state.visit().query_dependency(DependencyKind::HostQuery, name);
            self.drops(&mut state, dependency)
        };
        if complete || dropped {
            state.push(step(dropped));
        }
        complete || dropped
    }
}
