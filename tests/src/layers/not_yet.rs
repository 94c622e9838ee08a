//! A driver that never says that an event is complete.

use std::sync::Arc;

use streamflow::driver::{Driver, DriverResult, Layer, RawEvent};

/// Answers every query of an event with "not yet", so that whoever asks goes on to sleep.
#[derive(Debug)]
pub struct NotYet(Arc<dyn Driver>);

impl NotYet {
    /// Passes everything else on.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }
}

// SAFETY: "not yet" promises nothing; all else is the answer of the driver below.
unsafe impl Layer for NotYet {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    unsafe fn query_event(&self, _: RawEvent) -> DriverResult<bool> {
        Ok(false)
    }
}
