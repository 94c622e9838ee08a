//! A layer that makes the device appear late.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, RawEvent};

/// A layer in which several queries in a row return "not complete" before the driver below answers one. `times` says how
/// many. Then this begins again.
#[derive(Debug)]
pub struct Late {
    below: Arc<dyn Driver>,
    times: u64,
    asked: AtomicU64,
}

impl Late {
    /// Creates the layer above `below`, to which all other calls are passed.
    pub fn new(below: Arc<dyn Driver>, times: u64) -> Self {
        Self { below, times, asked: AtomicU64::new(0) }
    }

    fn is_late(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        asked % (self.times + 1) < self.times
    }
}

// SAFETY: "not complete" promises nothing, and all other calls are passed to the driver below.
unsafe impl Layer for Late {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        if self.is_late() {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_event(event))
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        if self.is_late() {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_stream(stream))
    }
}
