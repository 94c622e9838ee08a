//! Hooks that sleep by `ExecutionContext::sleep` in a run with workers. A simulated clock does not advance while a hook runs, but
//! may advance while it sleeps. With a real or a simulated clock, the end of the run ends the sleep.

use std::cell::Cell;

use super::board::Board;
use super::core::WorkerId;
use super::protocol;
use crate::context::Sleeper;
use crate::schedule::idle::LONG;
use crate::sync::Arc;
use crate::time::{Clock, Timestamp};

thread_local! {
    /// The index of the worker that this thread is, in the innermost run that the thread is part of.
    static WORKER: Cell<Option<WorkerId>> = const { Cell::new(None) };
}

/// A guard of a thread that is a worker. Dropping the guard makes the thread the worker that it was before, or no worker.
pub(super) struct IsWorker(Option<WorkerId>);

/// Makes the calling thread this worker until the returned guard is dropped.
pub(super) fn enter(worker: WorkerId) -> IsWorker {
    let outer = WORKER.get();
    WORKER.set(Some(worker));
    IsWorker(outer)
}

impl Drop for IsWorker {
    fn drop(&mut self) {
        WORKER.set(self.0);
    }
}

/// Makes a hook sleep on the run's clock, while other workers run.
#[derive(Debug)]
pub(super) struct Naps {
    pub(super) board: Arc<Board>,
    pub(super) clock: Clock,
}

impl Sleeper for Naps {
    fn sleep(&self, until: Timestamp) {
        let Some(me) = WORKER.get() else { return };
        protocol::nap(&self.board, me, until.0, &self.clock, |bell, seen| bell.sleep(seen, LONG));
    }

    fn is_over(&self) -> bool {
        self.board.change(|core| core.is_over())
    }
}

impl protocol::Moves for Clock {
    fn now(&self) -> u64 {
        Clock::now(self).0
    }

    fn advance_to(&self, moment: u64) {
        Clock::advance_to(self, Timestamp(moment));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_run_inside_of_a_hook_leaves_the_thread_its_worker() {
        let outer = enter(3);
        let inner = enter(0);
        assert_eq!(WORKER.get(), Some(0));
        drop(inner);
        assert_eq!(WORKER.get(), Some(3));
        drop(outer);
        assert_eq!(WORKER.get(), None);
    }
}
