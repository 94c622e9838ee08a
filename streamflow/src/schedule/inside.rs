//! The runs on threads of their own that wait for the calling thread: a hook of theirs called it, or a hook that runs
//! another graph, whose workers these are. Waiting for such a run would not end.

use std::cell::RefCell;
use std::ptr;

use crate::context::RunControl;

thread_local! {
    // The variable is gone where the destructors of a thread run, and a graph may run there: such a thread is inside of no run.
    /// The addresses of the runs' controls, the innermost last.
    static RUNS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's part in some runs, until it is dropped. Parts end in the reverse order of their beginnings.
#[must_use]
pub(super) struct Inside {
    /// How many runs it was part of before.
    before: usize,
}

/// The run on its own thread waits for the calling thread from now on.
pub(super) fn enter(run: &RunControl) -> Inside {
    inherit(&[ptr::from_ref(run).addr()])
}

/// The runs that wait for the calling thread, for [`inherit`].
pub(super) fn runs() -> Vec<usize> {
    RUNS.try_with(|all| all.borrow().clone()).unwrap_or_default()
}

/// Runs wait for the calling thread, since they wait for the one that has created it.
pub(super) fn inherit(runs: &[usize]) -> Inside {
    let noted = RUNS.try_with(|all| {
        let mut all = all.borrow_mut();
        let before = all.len();
        all.extend(runs);
        before
    });
    Inside { before: noted.unwrap_or_default() }
}

/// Whether the run waits for the calling thread.
pub(super) fn is_inside(run: &RunControl) -> bool {
    let run = ptr::from_ref(run).addr();
    RUNS.try_with(|all| all.borrow().contains(&run)).unwrap_or(false)
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _gone = RUNS.try_with(|all| all.borrow_mut().truncate(self.before));
    }
}
