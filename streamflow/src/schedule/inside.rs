//! The runs on threads of their own that wait for the calling thread: a hook of theirs called it, or a hook that runs
//! another graph, whose workers these are. Waiting for such a run would not end.

use std::cell::RefCell;
use std::ptr;

use crate::context::RunControl;

thread_local! {
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
    RUNS.with_borrow(Clone::clone)
}

/// Runs wait for the calling thread, since they wait for the one that has created it.
pub(super) fn inherit(runs: &[usize]) -> Inside {
    RUNS.with_borrow_mut(|all| {
        let before = all.len();
        all.extend(runs);
        Inside { before }
    })
}

/// Whether the run waits for the calling thread.
pub(super) fn is_inside(run: &RunControl) -> bool {
    let run = ptr::from_ref(run).addr();
    // A thread that ends is inside of no run.
    RUNS.try_with(|all| all.borrow().contains(&run)).unwrap_or(false)
}

impl Drop for Inside {
    fn drop(&mut self) {
        RUNS.with_borrow_mut(|all| all.truncate(self.before));
    }
}
