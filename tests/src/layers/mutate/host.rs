//! Host threads: where they are in a program, and what they wait and ask for.

use std::cell::Cell;
use std::sync::Arc;

use streamflow::driver::DriverResult;

use super::edge::Names;
use super::{EdgeKind, Mutate, Step};

thread_local! {
    /// The number of the calling thread, among those of a program.
    pub(super) static THREAD: Cell<usize> = const { Cell::new(0) };
}

impl Mutate {
    /// Gives the calling thread a number, and says where in a program it is: as a hook is entered, for programs without.
    pub fn enter(&self, thread: usize, place: &str) {
        THREAD.set(thread);
        self.lock().visit().enter(&format!("thread {thread}"), place);
    }

    /// The calling thread has joined all others.
    pub fn joined(&self) {
        self.note(|_| Step::Joined);
    }

    /// Whether all that was queued on streams with a name is complete: to be asked after the [`end`](Self::end).
    ///
    /// # Errors
    /// The driver's.
    pub fn is_idle(&self) -> DriverResult<bool> {
        let streams = self.lock().names.streams();
        for stream in streams {
            self.below.bind(stream.device())?;
            // SAFETY: the platform, which is there, has named it, and keeps its streams.
            if !unsafe { self.below.query_stream(stream) }? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a wait of the host is the edge to be dropped.
    pub(super) fn goes_on(
        &self,
        of: impl Fn(&Names) -> Arc<str>,
        step: impl Fn(bool) -> Step,
    ) -> bool {
        let Some(mut state) = self.running() else { return false };
        let name = of(&state.names);
        let edge = state.visit().edge(EdgeKind::HostWait, name, None);
        let drops = self.drops(&mut state, edge);
        state.log.push(step(drops));
        drops
    }

    /// What a question of the host is answered with.
    pub(super) fn answers(
        &self,
        complete: bool,
        of: impl Fn(&Names) -> Arc<str>,
        step: impl Fn(bool) -> Step,
    ) -> bool {
        let Some(mut state) = self.running() else { return complete };
        // Where it is complete, the answer takes nothing away.
        let lies = !complete && {
            let name = of(&state.names);
            let edge = state.visit().only(EdgeKind::HostQuery, name);
            self.drops(&mut state, edge)
        };
        if complete || lies {
            state.log.push(step(lies));
        }
        complete || lies
    }
}
