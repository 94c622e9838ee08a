//! The queue between an asynchronous task and a node.
//!
//! All state is under one lock. A side that finds nothing to do stores its waker under the lock under which it has read the
//! state. The other side removes the waker under the lock under which it changes the state, and then calls it. So no wake-up is
//! lost. Wakers and the destructors of messages are the user's code: wakers are cloned, called and dropped without the lock, and
//! messages are dropped without it.
//!
//! A queue is dropped with the later of its two ends. If messages are dropped with it, a warning in the log has their number.

use std::collections::VecDeque;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker as TaskWaker};
use std::{fmt, mem};

use crate::context::Waker;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::log;
use crate::stream::task_wakers::{forget, wake};
use crate::turns;

pub(super) struct Queue<T> {
    /// The type of the task's end of the queue, for errors and the log.
    end: &'static str,
    /// The place of the call that made the queue, for the log.
    made: &'static Location<'static>,
    /// The text for the log that says why messages are dropped with the queue, and how a program avoids that.
    lost: &'static str,
    /// Called when a run ends, or when the graph is dropped before its run has ended. The function may add marks: entries that
    /// tell the task of the end.
    mark: fn(&mut State<T>),
    state: Mutex<State<T>>,
}

pub(super) struct State<T> {
    pub(super) entries: VecDeque<T>,
    /// The number of marks among the entries. A mark is not a message: it tells the task of the end of a run.
    pub(super) marks: usize,
    capacity: usize,
    pub(super) run: Run,
    /// Whether the task's end of the queue was closed or dropped.
    pub(super) is_closed: bool,
    /// The waker of the task, while the task waits.
    task: Option<TaskWaker>,
    /// The waker of the scheduler, while a run is in progress.
    scheduler: Option<Waker>,
}

/// The state of the graph's runs, as the queue knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// No run is in progress: the first one has not begun, or a call such as `spawn` has made a later run that has not begun yet.
    NotYet,
    GoesOn,
    /// The run is in progress, and its node has sent its last message.
    Flushed,
    /// The latest run has ended, and no call has made another one.
    Over,
    /// The graph was dropped, so no run will follow.
    Gone,
}

/// The most marks that the end of a run adds to the queue. The queue has reserved memory for them.
const MARKS: usize = 2;

impl<T> State<T> {
    pub(super) fn mark(&mut self, mark: T) {
        self.entries.push_back(mark);
        self.marks += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() - self.marks >= self.capacity
    }

    /// Returns whether the node neither receives nor sends a message until the next run is made.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.run, Run::Over | Run::Gone)
    }
}

impl<T> Queue<T> {
    /// Creates a queue with memory for `capacity` messages and for the marks of one run's end.
    ///
    /// # Errors
    /// [`Error::Handle`] if the capacity is 0, or too large for the memory.
    #[track_caller]
    pub(super) fn new(
        end: &'static str,
        lost: &'static str,
        capacity: usize,
        mark: fn(&mut State<T>),
    ) -> Result<Arc<Self>> {
        let wrong = |problem| Error::Handle { handle: end, problem };
        if capacity == 0 {
            return Err(wrong("its capacity is 0, so no message has room; give it at least 1"));
        }
        let mut entries = VecDeque::new();
        let reserved = entries.try_reserve_exact(capacity.saturating_add(MARKS));
        reserved
            .map_err(|_| wrong("there is no memory for its capacity; give it a smaller one"))?;
        let (run, is_closed) = (Run::NotYet, false);
        let (marks, task, scheduler) = (0, None, None);
        let state = State { entries, marks, capacity, run, is_closed, task, scheduler };
        Ok(Arc::new(Self { end, made: Location::caller(), lost, mark, state: Mutex::new(state) }))
    }

    /// Returns what `ask` returns for the state, for a poll by the task. If that is `None`, stores the task's waker, which is
    /// called after the node's next change of the state.
    pub(super) fn poll<R>(
        &self,
        cx: &mut Context<'_>,
        mut ask: impl FnMut(&mut State<T>) -> Option<R>,
    ) -> Poll<R> {
        let mut waker = None;
        loop {
            let mut state = locked(&self.state);
            let answer = ask(&mut state);
            let is_there = state.task.as_ref().is_some_and(|task| task.will_wake(cx.waker()));
            let before = if answer.is_some() {
                // The task has its answer and waits no more, so its stored waker is removed.
                state.task.take()
            } else if is_there {
                None
            } else if waker.is_some() {
                mem::replace(&mut state.task, waker.take())
            } else {
                drop(state);
                turns::point("a task has found nothing, and its waker is not there yet");
                waker = Some(cx.waker().clone());
                continue;
            };
            drop(state);
            forget(before);
            forget(waker);
            return answer.map_or(Poll::Pending, Poll::Ready);
        }
    }

    /// Changes the state, for the task. If the second value that `change` returns is `true`, wakes the scheduler afterwards.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> (R, bool)) -> R {
        let (result, wakes) = self.look(change);
        if wakes {
            self.wake_scheduler();
        }
        result
    }

    /// Wakes the scheduler, after the task has changed the state for which the node waits.
    pub(super) fn wake_scheduler(&self) {
        turns::point("a queue has changed, and no scheduler is woken yet");
        if let Some(scheduler) = self.look(|state| state.scheduler.clone()) {
            scheduler.wake();
        }
    }

    /// Closes the task's end of the queue, and wakes the scheduler if it was open.
    pub(super) fn close(&self) {
        self.change(|state| ((), !std::mem::replace(&mut state.is_closed, true)));
    }

    /// Records that a call such as `spawn` has made a run, which its thread begins later. The task may use the queue from now on.
    pub(super) fn announce_run(&self) {
        self.look(|state| state.run = Run::NotYet);
    }

    /// Records that a run begins. `waker` wakes the run's scheduler.
    pub(super) fn begin_run(&self, waker: &Waker) {
        self.look(|state| {
            state.run = Run::GoesOn;
            state.scheduler = Some(waker.clone());
        });
    }

    /// Returns whether the condition of the node has begun a run of the queue. If it has not, ends the run, and wakes the waiting
    /// task.
    pub(super) fn has_begun(&self) -> bool {
        let has_begun = self.look(|state| matches!(state.run, Run::GoesOn | Run::Flushed));
        if !has_begun {
            self.end_run();
        }
        has_begun
    }

    /// Records that a run has ended, perhaps before the node's condition was started, and wakes the waiting task.
    pub(super) fn end_run(&self) {
        self.advance(|state| {
            (self.mark)(state);
            (state.scheduler, state.run) = (None, Run::Over);
        });
    }

    /// Records that the graph was dropped, and wakes the waiting task.
    fn end_graph(&self) {
        self.advance(|state| {
            if !state.is_over() {
                (self.mark)(state);
            }
            (state.scheduler, state.run) = (None, Run::Gone);
        });
    }

    /// Calls `look` with the state under the lock. `look` must not change anything for which the task waits, since no task is
    /// woken.
    pub(super) fn look<R>(&self, look: impl FnOnce(&mut State<T>) -> R) -> R {
        look(&mut locked(&self.state))
    }

    /// Changes the state, for the node, and then wakes the waiting task.
    pub(super) fn advance<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let mut state = locked(&self.state);
        let result = change(&mut state);
        let task = state.task.take();
        drop(state);
        if task.is_some() {
            turns::point("a queue has changed, and its task is not woken yet");
            wake(task);
        }
        result
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let messages = state.entries.len() - state.marks;
        if messages > 0 {
            let (end, made, lost) = (self.end, self.made, self.lost);
            log::write(
                move || tracing::warn!(messages, %made, "messages of a `{end}` are dropped: {lost}"),
            );
        }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, run) = self.look(|state| (state.entries.len(), state.run));
        f.debug_struct(self.end).field("waiting", &waiting).field("run", &run).finish()
    }
}

/// The operator's end of a queue. When it is dropped with the graph, it tells the task that no run will follow.
pub(super) struct GraphEnd<T>(pub(super) Arc<Queue<T>>);

impl<T> Drop for GraphEnd<T> {
    fn drop(&mut self) {
        self.0.end_graph();
    }
}

impl<T> fmt::Debug for GraphEnd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
