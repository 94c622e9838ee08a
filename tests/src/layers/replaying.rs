//! Replay that omits one of its rules.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::driver::replay::Replaying;
use streamflow_driver::driver::replay::{Omission, SharedDriver};

/// Creates a driver that replays without one of the rules. On a GPU, all passes use the same memory.
pub fn replaying_without(below: Arc<dyn Driver>, rule: Omission) -> Replaying<SharedDriver> {
    // SAFETY: the caller's passes use the same memory in an order that does not depend on the omitted rule, or they run
    // on the simulator.
    unsafe { Replaying::over_without(below, rule) }
}
