//! The kernels whose bodies the calling thread executes. They run under the simulator's lock, and may not call
//! the simulator.

use std::cell::RefCell;
use std::sync::Arc;

use crate::turns;

thread_local! {
    /// The kernels that this thread executes, each with its simulator's number, the innermost last.
    static BODIES: RefCell<Vec<(u64, Arc<str>)>> = const { RefCell::new(Vec::new()) };
}

/// Calls a kernel's body.
pub(super) fn call<R>(simulator: u64, kernel: &Arc<str>, body: impl FnOnce() -> R) -> R {
    struct Within;
    impl Drop for Within {
        fn drop(&mut self) {
            let _ = BODIES.try_with(|bodies| bodies.borrow_mut().pop());
        }
    }
    // While a thread ends, the list may be gone; then the body is not listed.
    let entered = BODIES.try_with(|bodies| bodies.borrow_mut().push((simulator, kernel.clone())));
    let _within = entered.is_ok().then_some(Within);
    turns::hold_turn(body)
}

/// The kernel of this simulator that the calling thread executes.
pub(super) fn running(simulator: u64) -> Option<Arc<str>> {
    let find = |bodies: &RefCell<Vec<(u64, Arc<str>)>>| {
        let bodies = bodies.borrow();
        bodies.iter().find(|(number, _)| *number == simulator).map(|(_, kernel)| kernel.clone())
    };
    BODIES.try_with(find).ok().flatten()
}
