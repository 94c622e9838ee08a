//! The turns of two threads, in place of the library's turns for threads of the operating system. A thread that
//! takes no turns is interleaved by loom alone.

use std::cell::RefCell;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

loom::thread_local! {
    static PART: RefCell<Option<(Arc<Turn>, usize)>> = RefCell::default();
}

/// The thread of two that has the turn; the thread 0 at first.
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

/// The calling thread's part in the turns, until the value is dropped.
pub(crate) struct Part(Arc<Turn>, usize);

impl Turn {
    /// Returns when the calling thread has the turn.
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
            // The model has failed, and its threads have ended.
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
