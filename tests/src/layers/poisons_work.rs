//! A layer that overwrites the work areas of library calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, Libraries, LibraryCall};

/// A layer that fills the work area of each library call with bytes of 255, just before the call, on the call's stream.
/// So no call can use data that an earlier call left there.
pub struct PoisonsWork {
    below: Arc<dyn Driver>,
    poisoned: AtomicU64,
}

impl fmt::Debug for PoisonsWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoisonsWork").field("below", &self.below).finish_non_exhaustive()
    }
}

impl PoisonsWork {
    /// Creates the layer above `below`, to which all calls are passed.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, poisoned: AtomicU64::new(0) }
    }

    /// Returns how many work areas were filled.
    pub fn poisoned(&self) -> u64 {
        self.poisoned.load(Ordering::Relaxed)
    }
}

// SAFETY: the fills write memory that the call may write, in the order of the call's stream.
unsafe impl Layer for PoisonsWork {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: the fills write memory that the call may write, in the order of the call's stream.
unsafe impl Libraries for PoisonsWork {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        for access in call.accesses.iter().filter(|access| access.argument == "work area") {
            // SAFETY: by the caller's contract the memory is alive, and this stream is ordered to write it.
            unsafe { self.below.fill(stream, access.range, 255)? };
            self.poisoned.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.libraries().call_library(stream, call) }
    }
}
