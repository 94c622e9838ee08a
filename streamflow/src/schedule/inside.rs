//! The runs whose end the calling thread must not wait for. The thread is in a hook of such a run, or is a worker of another
//! graph that such a hook runs. So the run waits for the thread, and if the thread waited for the run, both would wait for ever.

use std::cell::RefCell;
use std::ptr;

use crate::context::RunControl;

thread_local! {
    // While the destructors of a thread run, this variable may be destroyed already. A graph that runs then counts as being
    // inside of no run.
    /// The addresses of the `RunControl`s of these runs; the innermost run is the last.
    static RUNS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A guard. Until it is dropped, more runs count as waiting for the calling thread. Guards are dropped in the reverse order of
/// their creation.
#[must_use]
pub(super) struct Inside {
    /// The length of the list `RUNS` before this guard was created.
    before: usize,
}

/// Records that this run waits for the calling thread, until the returned guard is dropped.
pub(super) fn enter(run: &RunControl) -> Inside {
    inherit(&[ptr::from_ref(run).addr()])
}

/// Returns the runs that wait for the calling thread, as the argument of [`inherit`] on another thread.
pub(super) fn runs() -> Vec<usize> {
    RUNS.try_with(|all| all.borrow().clone()).unwrap_or_default()
}

/// Records that these runs wait for the calling thread, since they wait for the thread that has created the calling thread.
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
