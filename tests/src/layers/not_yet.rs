//! A layer that reports events as not complete, for ever or for some queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow_driver::driver::{DriverResult, HostFunction, Layer, RawEvent};

/// A layer in which queries of events return "not complete", so that the waiting thread goes to sleep.
#[derive(Debug)]
pub struct NotYet {
    below: Arc<dyn Driver>,
    fails: bool,
    /// How many more queries return "not complete".
    left: AtomicU64,
    host_functions: AtomicU64,
}

impl NotYet {
    /// Creates the layer above `below`, to which all other calls are passed.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        let (left, host_functions) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        Self { below, fails: false, left, host_functions }
    }

    /// Lets only the next `queries` queries return "not complete". Later queries are passed on.
    pub fn for_next(&self, queries: u64) {
        self.left.store(queries, Ordering::Release);
    }

    /// Returns how many host functions were queued.
    pub fn host_functions(&self) -> u64 {
        self.host_functions.load(Ordering::Acquire)
    }

    /// Like [`new`](Self::new), but a query fails once a host function that would wake the thread has been queued.
    pub fn failing_in_sleep(below: Arc<dyn Driver>) -> Self {
        Self { fails: true, ..Self::new(below) }
    }
}

// SAFETY: "not complete" and a failure promise nothing, and all other calls are passed to the driver below.
unsafe impl Layer for NotYet {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let order = Ordering::AcqRel;
        if self.left.fetch_update(order, Ordering::Acquire, |left| left.checked_sub(1)).is_err() {
            // SAFETY: the caller keeps the same contract of the same method.
            return unsafe { self.below.query_event(event) };
        }
        if !self.fails || self.host_functions.load(Ordering::Acquire) == 0 {
            return Ok(false);
        }
        Err(DriverError::Call {
            call: "query_event",
            device: event.device(),
            code: 999,
            name: "INJECTED".into(),
            message: "injected by a test".into(),
        })
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { self.below.launch_host_function(stream, function) }?;
        self.host_functions.fetch_add(1, Ordering::Release);
        Ok(())
    }
}
