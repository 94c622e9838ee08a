//! Bodies of kernels and of library functions: the user's code that the simulator executes.
//!
//! A body runs without the simulator's lock, as a host function does, and while its thread holds no other lock of this
//! library either: see [`Bodies`]. A body may not call the simulator that executes it.

use std::cell::RefCell;
use std::sync::Arc;

use smallvec::SmallVec;

use super::failure::Failure;
use super::watcher;
use crate::caught::caught;
use crate::driver::asker::Asker;
use crate::driver::{HostArgs, HostKernel, LibraryBody, MAX_PARAMS, Param};
use crate::turns;

thread_local! {
    /// The bodies that this thread is executing, each with the number of its simulator. The innermost one is the last.
    static BODIES: RefCell<Vec<(u64, Arc<str>)>> = const { RefCell::new(Vec::new()) };
    /// The address of this variable is the thread's number.
    static THREAD: u8 = const { 0 };
}

/// The user code that a call may execute: bodies and host functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    /// No user code: the caller may hold a lock of this library that a body could wait for.
    None,
    /// The bodies that the thread with this number has queued, and all host functions. Bodies of other threads are excluded:
    /// one may wait for a lock that the program holds on the calling thread.
    Of(usize),
    /// All bodies and host functions: the caller waits for the device, or queries its progress.
    All,
}

/// The number of the calling thread.
pub(super) fn thread() -> usize {
    THREAD.try_with(|mark| std::ptr::from_ref(mark).addr()).unwrap_or_default()
}

/// A body that is about to run, with its parameters and the call that queued it.
pub(super) struct Body {
    pub(super) name: Arc<str>,
    /// The driver call that queued the body.
    pub(super) call: &'static str,
    /// The node in whose hook the body was queued.
    pub(super) node: Asker,
    pub(super) run: Run,
    pub(super) params: SmallVec<[Param; MAX_PARAMS]>,
}

/// The code of a body, of a kernel or of a library's function.
pub(super) enum Run {
    Kernel(HostKernel),
    Library(LibraryBody),
}

impl Body {
    /// Runs the body, and then drops it. A panic is caught in either step, since the drop may be the user's code, too.
    pub(super) fn run(self, simulator: u64, takes_turns: bool) -> Result<(), Failure> {
        let Self { name, call, node, run, params } = self;
        crate::lock::assert_none(&name);
        let args = HostArgs { params: &params };
        let _watched = watcher::begin(&name, call, node);
        let _turn = takes_turns.then(|| turns::within_body(&name));
        let _within = Within::enter(simulator, &name);
        match run {
            // SAFETY: the parameters are the body's, and their memory is allocated, by the contract of `Driver::launch`. No
            // other code touches the memory during the body: `Sim::obstacle` holds back operations that would.
            Run::Kernel(body) => caught(|| unsafe { body(args) })
                .map_err(|panic| Failure::of_kernel(&name, node, &panic)),
            Run::Library(body) => {
                let ran = caught(|| {
                    // SAFETY: as for a kernel, by the contract of `Libraries::call_library`.
                    let ran = unsafe { body.run(args) };
                    // The error's conversion to text and its drop are the user's code, so both are inside of `caught`.
                    ran.map_err(|error| Failure::of_library(&name, node, error))
                });
                let panicked = |panic: String| Failure::of_panic(&name, node, &panic);
                let ran = ran.unwrap_or_else(|panic| Err(panicked(panic)));
                // This may be the last owner of the body, so the drop may execute the user's code.
                ran.and(caught(|| drop(body)).map_err(panicked))
            }
        }
    }
}

/// A guard for a body that runs on this thread until the guard is dropped. Contains whether the body is in `BODIES`.
struct Within(bool);

impl Within {
    fn enter(simulator: u64, name: &Arc<str>) -> Self {
        // At the end of a thread, its thread-local list may be dropped already. The body then runs without an entry.
        let enter = |bodies: &RefCell<Vec<_>>| bodies.borrow_mut().push((simulator, name.clone()));
        Self(BODIES.try_with(enter).is_ok())
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        if self.0 {
            let _gone = BODIES.try_with(|bodies| bodies.borrow_mut().pop());
        }
    }
}

/// Returns the name of the body of simulator `simulator` that the calling thread is executing, if there is one.
pub(super) fn running(simulator: u64) -> Option<Arc<str>> {
    let find = |bodies: &RefCell<Vec<(u64, Arc<str>)>>| {
        let bodies = bodies.borrow();
        bodies.iter().find(|(number, _)| *number == simulator).map(|(_, kernel)| kernel.clone())
    };
    BODIES.try_with(find).ok().flatten()
}

/// Whether the calling thread is executing a body of any simulator.
#[doc(hidden)]
pub fn is_inside() -> bool {
    BODIES.try_with(|bodies| !bodies.borrow().is_empty()).unwrap_or(false)
}
