//! Replay without one of its rules, and a driver that lets a test see whether runs replay.

use std::sync::Arc;

use streamflow::driver::replay::{Omission, Replaying, SharedDriver};
use streamflow::driver::{Driver, Layer, LibraryCalls};

/// A driver that replays without one of the rules. On a GPU, all passes use the same memory.
pub fn replaying_without(below: Arc<dyn Driver>, rule: Omission) -> Replaying<SharedDriver> {
    // SAFETY: the caller's passes use the same memory in an order that does not depend on the rule, or run on the simulator.
    unsafe { Replaying::over_without(below, rule) }
}

/// A driver that needs nothing of a library's call, as CUDA's. So a driver that replays above it needs such calls exactly
/// while other calls go through its state.
#[derive(Debug)]
pub struct PassedOver(pub Arc<dyn Driver>);

// SAFETY: every call is forwarded unchanged. The programs on it call no library.
unsafe impl Layer for PassedOver {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Unseen
    }
}
