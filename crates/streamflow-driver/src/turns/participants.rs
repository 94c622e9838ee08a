//! The threads of a run, with the threads that can continue and the thread that has the turn.

use std::sync::{Arc, Condvar};

use super::Order;

/// The number of steps in a row after which a thread is made to yield once. The thread may poll for something that only
/// another thread can do, and an order that never chooses that other thread would never let the poll end.
const MAX_STREAK: u32 = 10_000;

/// The number of steps of other threads after which a thread that was able to continue starves: the other threads may
/// pass the turn to each other while they wait for something that only the starving thread can do.
const MAX_WAIT: u64 = 10_000;

/// A thread of a run.
#[derive(Debug)]
pub(super) struct Participant {
    /// The thread's name, or the source location where it was spawned.
    pub(super) name: String,
    /// The thread's last step.
    pub(super) last: &'static str,
    /// The kernel of the body that the thread executes.
    pub(super) body: Option<Arc<str>>,
    scope: u64,
    status: Status,
    /// The latest step at which the thread had the turn, or could not continue.
    served: u64,
    wake: Arc<Condvar>,
}

/// Whether a thread can continue, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ready,
    /// The thread has nothing to do until another thread has made a step. The number is the step at which this thread yielded.
    Yielded(u64),
    /// The thread sleeps until another thread wakes it. The number is the step at which this thread fell asleep.
    Asleep(u64),
    Waits(Until),
    Ended,
}

/// The end that a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The end of a thread.
    Ended(usize),
    /// The end of all threads of a scope.
    ScopeEnded(u64),
}

#[derive(Debug, Default)]
pub(super) struct Participants {
    all: Vec<Participant>,
    /// The index of the thread that has the turn.
    turn: usize,
    /// The number of steps so far, of all threads.
    steps: u64,
    /// The number of steps in which no thread yielded.
    progress: u64,
    /// The number of steps since the turn last changed.
    streak: u32,
    scopes: u64,
}

impl Participants {
    pub(super) fn add(&mut self, name: String, scope: u64) -> usize {
        let (status, wake) = (Status::Ready, Arc::default());
        let (last, served) = ("its beginning", self.steps);
        self.all.push(Participant { name, last, body: None, scope, status, served, wake });
        self.all.len() - 1
    }

    /// A new number for a scope of threads; never 0.
    pub(super) fn new_scope(&mut self) -> u64 {
        self.scopes += 1;
        self.scopes
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether at most one thread has not ended.
    pub(super) fn is_single_threaded(&self) -> bool {
        self.all.iter().filter(|thread| thread.status != Status::Ended).count() <= 1
    }

    /// The thread that has the turn.
    pub(super) fn current(&self) -> &Participant {
        &self.all[self.turn]
    }

    pub(super) fn has_turn(&self, index: usize) -> bool {
        self.turn == index
    }

    pub(super) fn has_ended(&self, index: usize) -> bool {
        self.all[index].status == Status::Ended
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of steps so far in which no thread yielded: each may have woken another thread.
    pub(super) fn progress(&self) -> u64 {
        self.progress
    }

    /// Sets the kernel of the body that the thread executes; `None` after the body.
    pub(super) fn set_body(&mut self, index: usize, kernel: Option<Arc<str>>) {
        self.all[index].body = kernel;
    }

    pub(super) fn name(&self, index: usize) -> String {
        self.all[index].name.clone()
    }

    pub(super) fn wake(&self, index: usize) -> Arc<Condvar> {
        self.all[index].wake.clone()
    }

    pub(super) fn wake_all(&self) {
        self.all.iter().for_each(|thread| thread.wake.notify_all());
    }

    /// Records a step of the thread, or that it yields.
    pub(super) fn step(&mut self, index: usize, what: &'static str, yields: bool) {
        self.steps += 1;
        self.streak += 1;
        if !yields {
            // A yielded thread may have waited for this step.
            self.wake_yielded();
        }
        let yields = yields || self.streak > MAX_STREAK;
        let thread = &mut self.all[index];
        thread.last = what;
        thread.status = if yields { Status::Yielded(self.steps) } else { Status::Ready };
    }

    /// Records that the thread sleeps. The thread still gets turns, in which it checks whether another thread has woken it.
    pub(super) fn sleep(&mut self, index: usize) {
        self.steps += 1;
        self.streak += 1;
        let thread = &mut self.all[index];
        thread.last = "its sleep";
        thread.status = Status::Asleep(self.steps);
    }

    /// Whether only this thread can go on: all other threads have ended, wait for the end of threads, or sleep.
    pub(super) fn is_alone(&self, index: usize) -> bool {
        let others = self.all.iter().enumerate().filter(|(other, _)| *other != index);
        others.map(|(_, thread)| thread.status).all(|status| match status {
            Status::Ready | Status::Yielded(_) => false,
            Status::Waits(until) => !self.is_over(until),
            Status::Asleep(_) | Status::Ended => true,
        })
    }

    fn is_over(&self, until: Until) -> bool {
        match until {
            Until::Ended(index) => self.has_ended(index),
            Until::ScopeEnded(scope) => self.has_scope_ended(scope),
        }
    }

    fn wake_yielded(&mut self) {
        self.progress += 1;
        for thread in &mut self.all {
            if let Status::Yielded(_) | Status::Asleep(_) = thread.status {
                thread.status = Status::Ready;
            }
        }
    }

    pub(super) fn wait_until(&mut self, index: usize, until: Until) {
        self.steps += 1;
        self.wake_yielded();
        let thread = &mut self.all[index];
        thread.last = "waiting for a thread";
        thread.status = Status::Waits(until);
    }

    pub(super) fn end(&mut self, index: usize) {
        self.steps += 1;
        self.wake_yielded();
        self.all[index].status = Status::Ended;
    }

    /// Gives the turn to the thread that `order` chooses among the threads that can continue. If no thread can
    /// continue, gives the turn to the thread that yielded first.
    pub(super) fn pass_turn(&mut self, order: &mut dyn Order) {
        let ready = |status| match status {
            Status::Ready => true,
            Status::Waits(until) => self.is_over(until),
            Status::Yielded(_) | Status::Asleep(_) | Status::Ended => false,
        };
        let ready: Vec<_> =
            (0..self.all.len()).filter(|index| ready(self.all[*index].status)).collect();
        for (index, thread) in self.all.iter_mut().enumerate() {
            if index == self.turn || !ready.contains(&index) {
                thread.served = self.steps;
            } else if self.steps - thread.served > MAX_WAIT {
                thread.served = self.steps;
                order.starves(index);
            }
        }
        let next = match &*ready {
            [] => self.first_yielded(),
            [only] => Some(*only),
            several => {
                let current = several.contains(&self.turn).then_some(self.turn);
                Some(order.next(current, several))
            }
        };
        // If all threads have ended or wait for each other, no thread gets the turn.
        let Some(next) = next else { return };
        if next != self.turn {
            self.turn = next;
            self.streak = 0;
            self.all[next].wake.notify_all();
        }
    }

    fn has_scope_ended(&self, scope: u64) -> bool {
        let mut of_scope = self.all.iter().filter(|thread| thread.scope == scope);
        of_scope.all(|thread| thread.status == Status::Ended)
    }

    fn first_yielded(&self) -> Option<usize> {
        let since = |index: &usize| match self.all[*index].status {
            Status::Yielded(since) | Status::Asleep(since) => Some((since, *index)),
            _ => None,
        };
        (0..self.all.len()).filter_map(|index| since(&index)).min().map(|(_, index)| index)
    }
}
