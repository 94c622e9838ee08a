//! The queue of a port, between a Python program at one end and an operator of the graph at the other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use streamflow::context::Waker;
use streamflow::operator::Answer;

/// A bounded queue between a program and a graph. No thread holds the queue's lock while it drops an entry, or while it takes the
/// interpreter lock.
pub(crate) struct Queue<E> {
    state: Mutex<State<E>>,
    /// Wakes the program's thread when the queue changes. The graph's threads are woken by the waker in the state.
    changed: Condvar,
    capacity: usize,
}

struct State<E> {
    entries: VecDeque<E>,
    /// Whether the program has closed its end.
    is_closed: bool,
    phase: Phase,
    /// How many entries of the program were dropped because the operator did not emit them before the run ended.
    left: usize,
    waker: Option<Waker>,
}

/// The state of the run, as the graph has set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The graph has not started.
    New,
    /// The graph runs.
    Runs,
    /// The graph still runs, but sends nothing more to this queue.
    Flushed,
    /// The graph has ended, and changes the queue no more.
    Ended,
}

/// Why an entry was not added.
pub(crate) enum Refused<E> {
    /// The queue has no room now.
    Full(E),
    /// The program has closed the port.
    Closed,
    /// The run has ended.
    Ended,
}

/// The result of [`take`](Queue::take).
pub(crate) enum Found<E> {
    Entry(E),
    /// The queue is empty, and an entry may follow.
    Empty,
    /// The queue is empty, and no entry will follow: the run has ended.
    Ended,
    /// The queue is empty, and no entry will follow, although the run goes on.
    Flushed,
    /// The program has closed the port.
    Closed,
}

impl<E> Queue<E> {
    pub(crate) fn new(capacity: usize) -> Self {
        let (entries, phase) = (VecDeque::new(), Phase::New);
        let state = State { entries, is_closed: false, phase, left: 0, waker: None };
        Self { state: Mutex::new(state), changed: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// How many of the program's entries [`give_up`](Self::give_up) has dropped.
    pub(crate) fn left(&self) -> usize {
        self.state().left
    }

    pub(crate) fn phase(&self) -> Phase {
        self.state().phase
    }

    // ---- the program's side -----------------------------------------------------------------------------------

    /// Adds an entry of the program, which the graph will take.
    pub(crate) fn push(&self, entry: E) -> Result<(), Refused<E>> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Refused::Closed);
        }
        if state.phase == Phase::Ended {
            return Err(Refused::Ended);
        }
        if state.entries.len() >= self.capacity {
            return Err(Refused::Full(entry));
        }
        state.entries.push_back(entry);
        wake(state);
        Ok(())
    }

    /// Takes the oldest entry that the graph has added.
    pub(crate) fn take(&self) -> Found<E> {
        let mut state = self.state();
        if let Some(entry) = state.entries.pop_front() {
            wake(state);
            return Found::Entry(entry);
        }
        match (state.is_closed, state.phase) {
            (true, _) => Found::Closed,
            (false, Phase::Ended) => Found::Ended,
            (false, Phase::Flushed) => Found::Flushed,
            (false, Phase::New | Phase::Runs) => Found::Empty,
        }
    }

    /// Waits until `is_enough` holds for the queue, but not longer than `at_most`. The caller must not hold the interpreter lock.
    pub(crate) fn wait(&self, at_most: Duration, is_enough: impl Fn(usize, Phase) -> bool) {
        let state = self.state();
        let waits = |state: &mut State<E>| !is_enough(state.entries.len(), state.phase);
        drop(
            self.changed
                .wait_timeout_while(state, at_most, waits)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Notes that the program will push or take no more.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        wake(state);
    }

    // ---- the graph's side -------------------------------------------------------------------------------------

    /// Notes that a run begins.
    pub(crate) fn begin(&self, waker: &Waker) {
        let mut state = self.state();
        state.waker = Some(waker.clone());
        state.phase = Phase::Runs;
        self.changed.notify_all();
    }

    /// Notes that the graph will send nothing more to the program in this run.
    pub(crate) fn flushed(&self) {
        let mut state = self.state();
        if state.phase == Phase::Runs {
            state.phase = Phase::Flushed;
        }
        self.changed.notify_all();
    }

    /// Notes that the run has ended, or that the graph was dropped.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        let waker = state.waker.take();
        state.phase = Phase::Ended;
        self.changed.notify_all();
        drop(state);
        drop(waker);
    }

    /// Whether the operator that emits the program's entries may run: the answer of its node's condition.
    pub(crate) fn has_entry(&self) -> Answer {
        let state = self.state();
        match (state.entries.is_empty(), state.is_closed) {
            (false, _) => Answer::Ready,
            (true, true) => Answer::Never,
            (true, false) => Answer::Waiting,
        }
    }

    /// Whether the operator that passes entries to the program may run: the answer of its node's condition.
    pub(crate) fn has_room(&self) -> Answer {
        let state = self.state();
        if state.is_closed {
            Answer::Never
        } else if state.entries.len() < self.capacity {
            Answer::Ready
        } else {
            Answer::Waiting
        }
    }

    /// Takes the oldest entry of the program, which the operator emits next.
    pub(crate) fn pop(&self) -> Option<E> {
        let entry = self.state().entries.pop_front();
        self.changed.notify_all();
        entry
    }

    /// Drops the program's entries that the operator has not emitted, and counts them.
    pub(crate) fn give_up(&self) {
        let mut state = self.state();
        let entries = std::mem::take(&mut state.entries);
        state.left += entries.len();
        drop(state);
        drop(entries);
    }

    /// Adds an entry of the graph, which the program will take. The node's condition has found room, and no other thread adds
    /// entries.
    ///
    /// # Errors The entry, if the node lacks that condition: without it, nothing would limit the length of the queue.
    pub(crate) fn hand_over(&self, entry: E) -> Result<(), E> {
        let mut state = self.state();
        if state.phase == Phase::New {
            return Err(entry);
        }
        state.entries.push_back(entry);
        self.changed.notify_all();
        Ok(())
    }
}

/// Releases the lock of the queue, and then wakes the graph.
fn wake<E>(state: MutexGuard<'_, State<E>>) {
    let waker = state.waker.clone();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}
