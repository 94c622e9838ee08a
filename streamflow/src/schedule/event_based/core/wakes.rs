//! How sleeping threads are woken: parked workers, the poller, and workers whose hook sleeps in simulated time.

use super::{Core, Doing, WorkerId};

impl Core {
    /// Wakes a worker if it is parked or sleeps as the poller. If the run is over, also if its hook sleeps in simulated time.
    pub(super) fn wake(&mut self, worker: WorkerId) {
        match &mut self.workers[worker] {
            doing @ Doing::Parked => *doing = Doing::Looks,
            Doing::Polls { sleeps } if *sleeps => *sleeps = false,
            Doing::Naps(_) if self.is_over => {}
            _ => return,
        }
        self.wakes.push(worker);
    }

    pub(super) fn wake_poller(&mut self) {
        if let Some(poller) = self.poller {
            self.wake(poller);
        }
    }

    /// Wakes a shared worker if a node is queued for the shared workers and each of them works or sleeps.
    pub(super) fn wake_for_queue(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let shared = &self.workers[..self.shared];
        let is_awake =
            |doing: &Doing| matches!(doing, Doing::Looks | Doing::Polls { sleeps: false });
        if shared.iter().any(is_awake) {
            return;
        }
        let parked = shared.iter().position(|doing| *doing == Doing::Parked);
        let sleeping = || shared.iter().position(|doing| matches!(doing, Doing::Polls { .. }));
        if let Some(worker) = parked.or_else(sleeping) {
            self.wake(worker);
        }
    }

    /// Wakes an idle worker so that it polls, if a node waits or a hook sleeps in simulated time. Called when there is no poller
    /// and the calling worker has got a node to run.
    pub(super) fn hand_over_poll(&mut self) {
        let is_needed =
            self.waiting > 0 || self.workers.iter().any(|it| matches!(it, Doing::Naps(_)));
        let is_free = |doing: &Doing| matches!(doing, Doing::Parked | Doing::Looks);
        if is_needed && let Some(free) = self.workers.iter().position(is_free) {
            self.wake(free);
        }
    }

    /// Returns whether the poller may sleep: `version`, for which it has made its lists, is the latest one, and no node is queued
    /// that it may run. If so, the poller counts as asleep from now on, and later changes wake it.
    pub(in super::super) fn may_sleep(&mut self, worker: WorkerId, version: u64) -> bool {
        if self.version != version || self.has_news_for(worker) {
            return false;
        }
        self.workers[worker] = Doing::Polls { sleeps: true };
        true
    }

    /// Records that the poller is awake again, and still polls.
    pub(in super::super) fn awake(&mut self, worker: WorkerId) {
        self.workers[worker] = Doing::Polls { sleeps: false };
    }

    /// Whether simulated time may pass. No hook may run, except hooks that sleep in simulated time. A node may be queued only if
    /// all workers that may run it are in such hooks. No node may be claimed, since it may have been queued before, and no worker
    /// may be in `Team::ask`.
    pub(in super::super) fn is_still(&self) -> bool {
        let naps = |doing: &Doing| matches!(doing, Doing::Naps(_));
        let shared_nap = || self.workers[..self.shared].iter().all(naps);
        let mut own = self.own.iter().zip(&self.workers);
        !self.is_over
            && self.held == self.workers.iter().filter(|doing| naps(doing)).count()
            && !self.workers.contains(&Doing::Asks)
            && (self.queue.is_empty() || shared_nap())
            && own.all(|(queue, doing)| queue.is_empty() || naps(doing))
    }

    /// Records that the worker's hook sleeps in simulated time until `until`. Returns whether the worker must advance the clock
    /// itself, since no other worker is left that could.
    pub(in super::super) fn nap(&mut self, worker: WorkerId, until: u64) -> bool {
        self.workers[worker] = Doing::Naps(until);
        self.version += 1;
        match self.poller {
            Some(poller) => self.wake(poller),
            None => match self.workers.iter().position(|doing| *doing == Doing::Parked) {
                Some(parked) => self.wake(parked),
                None => return self.is_still() && !self.workers.contains(&Doing::Looks),
            },
        }
        false
    }

    /// Returns the earliest moment at which a hook's sleep in simulated time ends.
    pub(in super::super) fn nap_ends(&self) -> Option<u64> {
        let ends = self.workers.iter().filter_map(|doing| match doing {
            Doing::Naps(until) => Some(*until),
            _ => None,
        });
        ends.min()
    }

    /// Wakes the workers whose hooks sleep in simulated time until `now` or an earlier moment.
    pub(in super::super) fn end_naps(&mut self, now: u64) {
        for worker in 0..self.workers.len() {
            if matches!(self.workers[worker], Doing::Naps(until) if until <= now) {
                self.workers[worker] = Doing::Works;
                self.wakes.push(worker);
            }
        }
    }

    /// Whether the worker's hook sleeps in simulated time.
    pub(in super::super) fn naps(&self, worker: WorkerId) -> bool {
        matches!(self.workers[worker], Doing::Naps(_))
    }

    /// Ends the sleep of the worker's hook early, since the run ends.
    pub(in super::super) fn get_up(&mut self, worker: WorkerId) {
        self.workers[worker] = Doing::Works;
    }
}
