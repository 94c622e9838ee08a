//! The queue between a task and a node.
//!
//! All state is under one lock. A side that finds nothing to do leaves its waker in the same critical section as its
//! look, and the other side takes the waker in the same section as its change of the state: no wake-up is lost. Wakers
//! are the user's code, and so are the messages' destructors. Both are called and dropped without the lock, and wakers
//! are cloned without it.
//!
//! A queue is dropped with the last of its two ends. The log then has the number of messages that are dropped with it.

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
    /// The type of the task's end, for errors and the log.
    end: &'static str,
    /// The call that made the queue.
    made: &'static Location<'static>,
    /// For the log: why messages are dropped with the queue, and how a program avoids that.
    lost: &'static str,
    /// The function that is called when a run ends, or when the graph is dropped before its run has ended. It may add marks.
    mark: fn(&mut State<T>),
    state: Mutex<State<T>>,
}

pub(super) struct State<T> {
    pub(super) entries: VecDeque<T>,
    /// The number of marks among the entries: entries that are no messages, and tell the task of the end of a run.
    pub(super) marks: usize,
    capacity: usize,
    pub(super) run: Run,
    /// Whether the task's end was closed or dropped.
    pub(super) is_closed: bool,
    /// The waker of the task that waits.
    task: Option<TaskWaker>,
    /// The waker of the scheduler, while a run goes on.
    scheduler: Option<Waker>,
}

/// The runs of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    /// No run goes on: before the first run, or between the call that makes a later run, as `spawn`, and its begin.
    NotYet,
    GoesOn,
    /// The run goes on, and its node has sent its last message.
    Flushed,
    /// The latest run has ended.
    Over,
    /// The graph was dropped.
    Gone,
}

/// The most marks that the end of a run adds to the queue: entries that are no messages, and tell the task of the end.
const MARKS: usize = 2;

impl<T> State<T> {
    pub(super) fn mark(&mut self, mark: T) {
        self.entries.push_back(mark);
        self.marks += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries.len() - self.marks >= self.capacity
    }

    /// Whether no node takes or sends a message before the next run.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.run, Run::Over | Run::Gone)
    }
}

impl<T> Queue<T> {
    /// Creates a queue with room for `capacity` messages, and for the marks at the end of a run.
    ///
    /// # Errors
    /// [`Error::Handle`] for a capacity of 0, or one that no memory has room for.
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

    /// Answers the task's poll. If there is no answer yet, the task's waker is called after the node's next change.
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
                // The task does not wait any more.
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

    /// Changes the state, for the task. Wakes the scheduler if the second value that `change` returns is `true`.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> (R, bool)) -> R {
        let (result, wakes) = self.look(change);
        if wakes {
            self.wake_scheduler();
        }
        result
    }

    /// Wakes the scheduler, after the task has changed the state that the node waits for.
    pub(super) fn wake_scheduler(&self) {
        turns::point("a queue has changed, and no scheduler is woken yet");
        if let Some(scheduler) = self.look(|state| state.scheduler.clone()) {
            scheduler.wake();
        }
    }

    /// Closes the task's end.
    pub(super) fn close(&self) {
        self.change(|state| ((), !std::mem::replace(&mut state.is_closed, true)));
    }

    /// Records that a run was made, as by `spawn`, and that its thread begins it later: the task may use the queue already.
    pub(super) fn announce_run(&self) {
        self.look(|state| state.run = Run::NotYet);
    }

    /// Records that a run begins.
    pub(super) fn begin_run(&self, waker: &Waker) {
        self.look(|state| {
            state.run = Run::GoesOn;
            state.scheduler = Some(waker.clone());
        });
    }

    /// Whether the condition of the node has begun a run of the queue. If not, ends the run, and wakes the task that waits.
    pub(super) fn has_begun(&self) -> bool {
        let has_begun = self.look(|state| matches!(state.run, Run::GoesOn | Run::Flushed));
        if !has_begun {
            self.end_run();
        }
        has_begun
    }

    /// Records that a run has ended, perhaps before its condition was started, and wakes the task that waits.
    pub(super) fn end_run(&self) {
        self.advance(|state| {
            (self.mark)(state);
            (state.scheduler, state.run) = (None, Run::Over);
        });
    }

    /// Records that the graph was dropped, and wakes the task that waits.
    fn end_graph(&self) {
        self.advance(|state| {
            if !state.is_over() {
                (self.mark)(state);
            }
            (state.scheduler, state.run) = (None, Run::Gone);
        });
    }

    /// Calls `look` with the state, for the node. `look` changes nothing that a task waits for.
    pub(super) fn look<R>(&self, look: impl FnOnce(&mut State<T>) -> R) -> R {
        look(&mut locked(&self.state))
    }

    /// Changes the state, for the node, and wakes the task that waits.
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

/// The operator's share of a queue: it is dropped with the graph.
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
