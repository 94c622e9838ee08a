//! Host threads: their places in a program, their waits and their queries.

use std::cell::Cell;
use std::sync::Arc;

use streamflow::driver::DriverResult;

use super::dependency::Names;
use super::{DependencyKind, LogStep, Mutate};

thread_local! {
    /// The number of the calling thread in its program.
    pub(super) static THREAD: Cell<usize> = const { Cell::new(0) };
}

impl Mutate {
    /// Sets the number and the place of the calling thread, for programs without hooks.
    pub fn enter(&self, thread: usize, place: &str) {
        THREAD.set(thread);
        self.lock().visit().enter(&format!("thread {thread}"), place);
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
            // SAFETY: the platform has named the stream. It still exists, and keeps its streams.
            if !unsafe { self.below.query_stream(stream) }? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Logs a wait of the host. Returns whether to drop it.
    pub(super) fn drops_host_wait(
        &self,
        label: impl Fn(&Names) -> Arc<str>,
        step: impl Fn(bool) -> LogStep,
    ) -> bool {
        let Some(mut state) = self.running() else { return false };
        let name = label(&state.names);
        let dependency = state.visit().dependency(DependencyKind::HostWait, name, None);
        let drops = self.drops(&mut state, dependency);
        state.log.push(step(drops));
        drops
    }

    /// Logs a query of the host. Returns whether to report completion.
    pub(super) fn reports_complete(
        &self,
        complete: bool,
        label: impl Fn(&Names) -> Arc<str>,
        step: impl Fn(bool) -> LogStep,
    ) -> bool {
        let Some(mut state) = self.running() else { return complete };
        // If the work is complete, the result is true, so there is nothing to drop.
        let dropped = !complete && {
            let name = label(&state.names);
            let dependency = state.visit().query_dependency(DependencyKind::HostQuery, name);
            self.drops(&mut state, dependency)
        };
        if complete || dropped {
            state.log.push(step(dropped));
        }
        complete || dropped
    }
}
