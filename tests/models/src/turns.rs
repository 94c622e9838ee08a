//! Replaces the library's turns (the permission to run, which one thread has at a time) for two threads of a model. loom
//! alone interleaves a thread that takes no turns.

use std::cell::RefCell;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

loom::thread_local! {
    static PART: RefCell<Option<(Arc<Turn>, usize)>> = RefCell::default();
}

/// Which of two threads has the turn. The thread 0 has the first turn.
#[derive(Default)]
pub(crate) struct Turn {
    state: Mutex<State>,
    passed: Condvar,
}

#[derive(Default)]
struct State {
    current: usize,
    ended: bool,
}

/// The calling thread's membership in the turns, which ends when this value is dropped.
pub(crate) struct Part(Arc<Turn>, usize);

impl Turn {
    /// Makes the calling thread take turns as `thread`. Returns when the thread has the turn.
    pub(crate) fn enter(turn: &Arc<Self>, thread: usize) -> Part {
        PART.with(|part| *part.borrow_mut() = Some((turn.clone(), thread)));
        turn.wait(thread);
        Part(turn.clone(), thread)
    }

    fn pass(&self, thread: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.ended {
            state.current = 1 - thread;
        }
        drop(state);
        self.passed.notify_all();
    }

    fn wait(&self, thread: usize) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_another = |state: &mut State| state.current != thread;
        drop(self.passed.wait_timeout_while(state, Duration::MAX, is_of_another));
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The thread panics: the model has failed, and its other threads have ended.
            return;
        }
        let Self(turn, thread) = self;
        turn.pass(*thread);
        turn.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        PART.with(|part| *part.borrow_mut() = None);
    }
}

fn part() -> Option<(Arc<Turn>, usize)> {
    PART.with(|part| part.borrow().clone())
}

pub(crate) fn point(_name: &'static str) {}

pub(crate) fn yield_turn() -> bool {
    let Some((turn, thread)) = part() else { return false };
    turn.pass(thread);
    turn.wait(thread);
    true
}

pub(crate) fn takes_turns() -> bool {
    part().is_some()
}

pub(crate) fn may_sleep() -> bool {
    takes_turns()
}

pub(crate) fn sleep(_is_awake: impl Fn() -> bool, _wait: impl FnOnce(Duration)) -> bool {
    true
}
