//! A layer that overwrites the work areas of library calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, Libraries, LibraryCall};

/// A layer that fills the work areas of each library call (the claims with the name `work`) just before the call. A call
/// that relies on earlier content of its work area then has wrong data.
#[derive(Debug)]
pub struct DirtyWork {
    below: Arc<dyn Driver>,
    filled: AtomicU64,
}

impl DirtyWork {
    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, filled: AtomicU64::new(0) }
    }

    /// Returns how many work areas were filled.
    pub fn filled(&self) -> u64 {
        self.filled.load(Ordering::Relaxed)
    }
}

// SAFETY: all calls are passed to the driver below. The fills touch memory that the call claims to write, on the call's
// stream, just before the call.
unsafe impl Layer for DirtyWork {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: as for the driver's calls.
unsafe impl Libraries for DirtyWork {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        for access in call.accesses.iter().filter(|access| access.argument == "work") {
            self.filled.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the call may write this memory at this point of the stream, so a fill may as well.
            unsafe { self.below.fill(stream, access.range, 0xff) }?;
        }
        // SAFETY: the caller keeps the contract of this method.
        unsafe { self.below.libraries().call_library(stream, call) }
    }
}
