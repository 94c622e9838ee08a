//! A layer that drops a wait when the calls of two threads interleave.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, RawEvent};

/// A layer that drops a wait if another thread has recorded or waited since this thread's last record. So the fault needs
/// two threads, and calls of the second thread between two calls of the first.
pub struct Interrupted {
    below: Arc<dyn Driver>,
    last: Mutex<Option<ThreadId>>,
}

impl Interrupted {
    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, last: Mutex::default() }
    }

    fn last(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupted").finish_non_exhaustive()
    }
}

// SAFETY: this layer breaks a driver's promises on purpose, for the same kind of programs as `DropWaits`.
unsafe impl Layer for Interrupted {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        *self.last() = Some(thread::current().id());
        // SAFETY: the caller's contract.
        unsafe { self.below.record_event(event, stream) }
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.below.bind(stream.device())?;
        let this = thread::current().id();
        if self.last().replace(this) != Some(this) {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_event(stream, event) }
    }
}
