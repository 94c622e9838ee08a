//! Hooks that sleep: `ExecutionContext::sleep` beside other workers. A simulated clock stands still while a hook runs, but
//! not while it sleeps; with every clock the sleep ends when the run does.

use std::cell::Cell;

use super::board::Board;
use super::core::WorkerId;
use crate::context::Sleeper;
use crate::schedule::idle::LONG;
use crate::sync::Arc;
use crate::time::{Clock, Timestamp};

thread_local! {
    /// The worker that this thread is, in the innermost run.
    static WORKER: Cell<Option<WorkerId>> = const { Cell::new(None) };
}

/// The calling thread's time as a worker, until it is dropped.
pub(super) struct IsWorker(Option<WorkerId>);

/// The calling thread is this worker of a run from now on.
pub(super) fn enter(worker: WorkerId) -> IsWorker {
    IsWorker(WORKER.replace(Some(worker)))
}

impl Drop for IsWorker {
    fn drop(&mut self) {
        WORKER.set(self.0);
    }
}

/// Lets simulated time pass for a hook, while other workers run.
#[derive(Debug)]
pub(super) struct Naps {
    pub(super) board: Arc<Board>,
    pub(super) clock: Clock,
}

impl Sleeper for Naps {
    fn sleep(&self, until: Timestamp) {
        let Some(me) = WORKER.get() else { return };
        if self.clock.now() >= until {
            // So no worker naps that goes on without being woken.
            return;
        }
        let bell = self.board.bell(me);
        let mut alone = self.board.change(|core| core.nap(me, until.0));
        loop {
            let seen = bell.raised();
            if alone {
                self.board.change(|core| {
                    // Another worker may have moved the clock meanwhile, and have woken one.
                    if core.is_still()
                        && let Some(first) = core.nap_ends()
                    {
                        self.clock.advance_to(Timestamp(first));
                        core.end_naps(self.clock.now().0);
                    }
                });
            }
            let goes_on = self.board.change(|core| {
                let ends = core.is_over() || self.clock.now() >= until;
                if ends && core.naps(me) {
                    core.get_up(me);
                }
                !ends && core.naps(me)
            });
            if !goes_on || !bell.sleep(seen, LONG) {
                return;
            }
            // If its nap has ended, it goes on, and nobody takes it for one that naps until then.
            alone = self.board.change(|core| core.naps(me) && core.nap(me, until.0));
        }
    }

    fn is_over(&self) -> bool {
        self.board.change(|core| core.is_over())
    }
}
