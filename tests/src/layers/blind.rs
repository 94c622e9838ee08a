//! A driver that, on request, says that everything is complete without having looked.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::driver::{Driver, DriverResult, Layer, RawEvent, RawStream};

/// While it is blind, whoever asks or waits for the device goes on at once. So a test sees what memory
/// holds at that moment, without making anything complete by looking.
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
    /// Not blind yet.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, blind: Arc::default() }
    }

    /// What `look` finds, without looking at the device.
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

// SAFETY: it does not keep a driver's promises, on purpose: it says that copies are complete that may
// not be. It stands below programs that then read numbers which the device may be writing, to see
// whether it was done, and whose streams are synchronised at their end.
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
