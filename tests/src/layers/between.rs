//! A layer that lets test code run directly before or after a driver call.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{CopyOp, DriverResult, Layer, RawEvent};

/// Runs a closure once, during the next wait, record, query or copy: before or after the driver below executes the call,
/// and before the caller gets its result. The layer changes no call.
pub struct Between {
    below: Arc<dyn Driver>,
    next: Mutex<Option<(Moment, Code)>>,
}

type Code = Box<dyn FnOnce() + Send>;

/// When the closure runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the driver below gets the call.
    Before,
    /// After the driver below has executed the call.
    After,
}

impl Between {
    /// Creates the layer above `below`, to which all calls are passed.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, next: Mutex::default() }
    }

    /// Runs `code` during the next wait, record, query or copy.
    pub fn during_next(&self, moment: Moment, code: impl FnOnce() + Send + 'static) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some((moment, Box::new(code)));
    }

    fn with<R>(&self, call: impl FnOnce() -> R) -> R {
        // The lock is released before the closure runs, since the closure may make driver calls itself.
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (before, after) = match next {
            Some((Moment::Before, code)) => (Some(code), None),
            Some((Moment::After, code)) => (None, Some(code)),
            None => (None, None),
        };
        before.into_iter().for_each(|code| code());
        let result = call();
        after.into_iter().for_each(|code| code());
        result
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Between").finish_non_exhaustive()
    }
}

// SAFETY: all calls are passed to the driver below.
unsafe impl Layer for Between {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this method.
        self.with(|| unsafe { self.below.record_event(event, stream) })
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this method.
        self.with(|| unsafe { self.below.wait_event(stream, event) })
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this method.
        self.with(|| unsafe { self.below.synchronize_event(event) })
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this method.
        self.with(|| unsafe { self.below.copy(stream, copy) })
    }
}
