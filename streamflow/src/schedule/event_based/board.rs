//! The state of a run that its workers share: [`Core`] behind a lock, and the signals on which workers sleep.
//!
//! No wake-up is lost. A worker reads the count of its signal before it calls [`Board::next`]. A change of the state is made
//! under the lock, and raises the signal after that. So either `next` has seen the change, or the worker's sleep ends at once.

use std::fmt;

use super::core::{Core, Looked, MOST_WAKES, Next, NodeId, NodeLinks, WorkerId};
use crate::driver::Signal;
use crate::lock::Lock;
use crate::sync::{Arc, AtomicU64, Ordering};

/// The state machine that the workers of a run share, behind a lock, and the signals on which the workers sleep.
pub(super) struct Board {
    core: Lock<Core>,
    /// A copy of [`Core::epoch`], read without the lock.
    epoch: AtomicU64,
    /// For each worker, the signal on which it sleeps while it is parked or its hook sleeps in simulated time.
    bells: Box<[Signal]>,
    /// The run's signal, on which the poller sleeps. Devices and other threads raise it, too.
    run: Arc<Signal>,
}

// Formatting takes no lock, because the formatter may be the user's code.
impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("workers", &self.bells.len()).finish_non_exhaustive()
    }
}

impl Board {
    pub(super) fn new(
        places: Vec<NodeLinks>,
        shared: usize,
        workers: usize,
        run: Arc<Signal>,
    ) -> Self {
        let core = Core::new(places, shared, workers);
        let bells = (0..workers).map(|_| Signal::default()).collect();
        Self { epoch: AtomicU64::new(core.epoch()), core: Lock::new(core), bells, run }
    }

    /// Returns the signal of a worker that is parked, or whose hook sleeps in simulated time.
    pub(super) fn bell(&self, worker: WorkerId) -> &Signal {
        &self.bells[worker]
    }

    /// Changes the state under the lock, and then wakes the workers for which the change has work.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut Core) -> R) -> R {
        let mut core = self.core.lock();
        let result = change(&mut core);
        self.epoch.store(core.epoch(), Ordering::Release);
        loop {
            // The poller is read under the lock: a worker that sleeps as the poller remains the poller until it is woken.
            let (poller, wakes) = (core.poller(), core.take_wakes());
            drop(core);
            let is_last = wakes.len() < MOST_WAKES;
            for worker in wakes {
                if poller == Some(worker) {
                    self.run.nudge();
                }
                // The worker's own signal is raised, too: it may have stopped polling since, and be parked.
                self.bells[worker].raise();
            }
            if is_last {
                return result;
            }
            core = self.core.lock();
        }
    }

    /// Gives back the node that the worker has looked at, if any, and returns the worker's next action.
    #[inline]
    pub(super) fn next(
        &self,
        worker: WorkerId,
        looked: Option<(NodeId, Looked)>,
        rests: bool,
    ) -> Next {
        self.change(|core| {
            if let Some((node, found)) = looked {
                core.looked(worker, node, found);
            }
            core.next(worker, rests)
        })
    }

    /// A number that changes when a node is queued that a spinning worker may run, and when the run is over.
    #[inline]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }
}
