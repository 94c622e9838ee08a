//! A layer that, on request, reports all work as complete without asking the device.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, RawEvent};

/// A layer that can be blind: then queries return "complete" and waits return at once. So a test can read memory without
/// completing the work that writes it.
#[derive(Clone)]
pub struct Blind {
    below: Arc<dyn Driver>,
    blind: Arc<AtomicBool>,
}

impl fmt::Debug for Blind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blind").field("below", &self.below).finish_non_exhaustive()
    }
}

impl Blind {
    /// Creates the layer above a driver. It is not blind yet.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, blind: Arc::default() }
    }

    /// Calls `look` while the layer is blind.
    pub fn during<R>(&self, look: impl FnOnce() -> R) -> R {
        self.blind.store(true, Ordering::Release);
        let found = look();
        self.blind.store(false, Ordering::Release);
        found
    }

    fn is_blind(&self) -> bool {
        self.blind.load(Ordering::Acquire)
    }
}

// SAFETY: this layer breaks a driver's promises on purpose: it reports copies as complete that may not be complete. The
// tests then read plain numbers that the device may be writing, to find out whether the copy was done. They synchronise
// their streams at the end.
unsafe impl Layer for Blind {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        if self.is_blind() { Ok(true) } else { unsafe { self.below.query_event(event) } }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        if self.is_blind() { Ok(()) } else { unsafe { self.below.synchronize_event(event) } }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        if self.is_blind() { Ok(true) } else { unsafe { self.below.query_stream(stream) } }
    }
}
