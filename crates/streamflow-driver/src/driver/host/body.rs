//! Bodies of kernels and of library functions: the user's code that the simulator executes.
//!
//! A body runs without the simulator's lock, as a host function does, and without any other lock of this library: see
//! [`Bodies`]. It may not call the simulator that executes it.
//!
//! A body may wait for a lock that the thread holds which executes it, and nobody can end that. So a call executes few bodies.
//! A call that submits work executes those of its own thread alone. A record or a wait of a stream executes none, since it is
//! made under locks of this library. Calls that replay makes under its lock put bodies off, until
//! [`catch_up`](crate::driver::Observer::catch_up). A call that blocks, and a query, execute the bodies of all threads.
//!
//! A program that holds a lock of its own across a launch or a blocking call, and takes it in a body of the same thread,
//! hangs. So does a body that waits for a thread that waits for the device. After 5 s standard error names the kernel, the
//! call and the operator ([`watcher`]).

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
    /// The bodies that this thread executes, each with its simulator's number, the innermost last.
    static BODIES: RefCell<Vec<(u64, Arc<str>)>> = const { RefCell::new(Vec::new()) };
    /// Its address is the thread's number.
    static THREAD: u8 = const { 0 };
}

/// Which bodies and host functions a call may execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    /// No body: the caller may hold a lock of this library, for which a body could wait.
    None,
    /// Those that a thread has queued itself: the caller may hold a lock of its own, for which another thread's body waits.
    Of(usize),
    /// All: the caller waits for the device, or asks how far it is.
    All,
}

/// The number of the calling thread.
pub(super) fn thread() -> usize {
    THREAD.try_with(|mark| std::ptr::from_ref(mark).addr()).unwrap_or_default()
}

/// A body that is about to run, with all that it needs.
pub(super) struct Body {
    pub(super) name: Arc<str>,
    /// The call that queued it.
    pub(super) call: &'static str,
    /// The node whose hook queued it.
    pub(super) node: Asker,
    pub(super) run: Run,
    pub(super) params: SmallVec<[Param; MAX_PARAMS]>,
}

/// The code of a body.
pub(super) enum Run {
    Kernel(HostKernel),
    Library(LibraryBody),
}

impl Body {
    /// Runs the body, and drops its values: both are the user's code.
    pub(super) fn run(self, simulator: u64, takes_turns: bool) -> Result<(), Failure> {
        let Self { name, call, node, run, params } = self;
        crate::lock::assert_none(&name);
        let args = HostArgs { params: &params };
        let _watched = watcher::begin(&name, call, node);
        let _turn = takes_turns.then(|| turns::within_body(&name));
        let _within = Within::enter(simulator, &name);
        match run {
            // SAFETY: the parameters are the body's, and their memory is allocated, by the contract of `Driver::launch`.
            // No other code touches it meanwhile: `Sim::obstacle` holds back what would.
            Run::Kernel(body) => caught(|| unsafe { body(args) })
                .map_err(|panic| Failure::of_kernel(&name, node, &panic)),
            Run::Library(body) => {
                let ran = caught(|| {
                    // SAFETY: as above, by the contract of `Libraries::call_library`.
                    let ran = unsafe { body.run(args) };
                    // An error's text and drop are the user's code, too.
                    ran.map_err(|error| Failure::of_library(&name, node, error))
                });
                let panicked = |panic: String| Failure::of_panic(&name, node, &panic);
                let ran = ran.unwrap_or_else(|panic| Err(panicked(panic)));
                // This may be the body's last owner.
                ran.and(caught(|| drop(body)).map_err(panicked))
            }
        }
    }
}

/// A body runs on this thread, until this is dropped.
struct Within(bool);

impl Within {
    fn enter(simulator: u64, name: &Arc<str>) -> Self {
        // While a thread ends, the list may be gone; then the body is not listed.
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

/// The body of this simulator that the calling thread executes.
pub(super) fn running(simulator: u64) -> Option<Arc<str>> {
    let find = |bodies: &RefCell<Vec<(u64, Arc<str>)>>| {
        let bodies = bodies.borrow();
        bodies.iter().find(|(number, _)| *number == simulator).map(|(_, kernel)| kernel.clone())
    };
    BODIES.try_with(find).ok().flatten()
}

/// Whether the calling thread executes a body of any simulator.
#[doc(hidden)]
pub fn is_inside() -> bool {
    BODIES.try_with(|bodies| !bodies.borrow().is_empty()).unwrap_or(false)
}
