//! A layer that panics in the thread of the library that watches downloads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, RawEvent};

/// A layer in which the first query by the thread that watches awaited downloads panics. Until then, queries of other
/// threads return "not complete", so that the thread has something to watch.
#[derive(Debug)]
pub struct DiesWatching {
    below: Arc<dyn Driver>,
    has_panicked: AtomicBool,
}

impl DiesWatching {
    /// Creates the layer above `below`, to which all other calls are passed.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, has_panicked: AtomicBool::new(false) }
    }

    /// Whether a query has panicked.
    pub fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Acquire)
    }

    /// Whether a query is passed to the driver below.
    #[allow(clippy::panic, reason = "this is what the layer is for")]
    fn asks(&self) -> bool {
        let watches = thread::current().name() == Some("streamflow downloads");
        if watches && !self.has_panicked.swap(true, Ordering::AcqRel) {
            panic!("a query of the thread that watches");
        }
        self.has_panicked()
    }
}

// SAFETY: "not complete" and a panic promise nothing, and all other calls are passed to the driver below.
unsafe impl Layer for DiesWatching {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        if !self.asks() {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_event(event))
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        if !self.asks() {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_stream(stream))
    }
}
