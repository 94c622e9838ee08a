//! A driver that never reports an event as complete.

use std::sync::Arc;

use streamflow::driver::{Driver, DriverResult, Layer, RawEvent};

/// Every query of an event returns "not complete", so that the waiting thread goes to sleep.
#[derive(Debug)]
pub struct NotYet(Arc<dyn Driver>);

impl NotYet {
    /// Passes all other calls to `below`.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }
}

// SAFETY: "not complete" promises nothing, and all other calls are passed to the driver below.
unsafe impl Layer for NotYet {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    unsafe fn query_event(&self, _: RawEvent) -> DriverResult<bool> {
        Ok(false)
    }
}
