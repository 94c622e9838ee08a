//! The runs that wait for the calling thread: the thread is in a hook of such a run, or is a worker of another graph that
//! such a hook runs. If the thread waited for the end of such a run, both would wait for ever.

use std::cell::RefCell;
use std::ptr;

use crate::context::RunControl;

thread_local! {
    // While the destructors of a thread run, the variable may be destroyed already. A graph that runs then counts as inside of
    // no run.
    /// The addresses of the runs' controls, the innermost last.
    static RUNS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A guard: until it is dropped, further runs wait for the calling thread. Guards are dropped in the reverse order of their
/// creation.
#[must_use]
pub(super) struct Inside {
    /// The length of the list of runs before this guard was created.
    before: usize,
}

/// Records that the run on its own thread waits for the calling thread from now on.
pub(super) fn enter(run: &RunControl) -> Inside {
    inherit(&[ptr::from_ref(run).addr()])
}

/// The runs that wait for the calling thread, for [`inherit`].
pub(super) fn runs() -> Vec<usize> {
    RUNS.try_with(|all| all.borrow().clone()).unwrap_or_default()
}

/// Records that these runs wait for the calling thread, since they wait for the thread that has created it.
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
