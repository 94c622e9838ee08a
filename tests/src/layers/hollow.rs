//! A driver that makes large allocations small.

use std::sync::Arc;

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, MemoryRange, MemorySource, Observer};

/// An allocation of more than [`LIMIT`](Self::LIMIT) bytes has as many, and says that it has all. So a test can have operands
/// that no memory has room for, if nothing touches them.
#[derive(Debug)]
pub struct Hollow(Arc<dyn Driver>);

impl Hollow {
    /// The most bytes of an allocation.
    pub const LIMIT: u64 = 1 << 20;

    /// Wraps a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }

    /// The memory that is really there.
    fn real(range: MemoryRange) -> MemoryRange {
        MemoryRange { bytes: range.bytes.min(Self::LIMIT), ..range }
    }
}

// SAFETY: the driver below has the memory that is there. Memory beyond it is only for tests with calls that are refused
// before any work is queued.
unsafe impl Layer for Hollow {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        let real = pass!([unsafe] self.0.allocate(stream, bytes.min(Self::LIMIT), source))?;
        Ok(MemoryRange { bytes: bytes.max(real.bytes), ..real })
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        pass!([unsafe] self.0.free(stream, Self::real(range)))
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

impl Observer for Hollow {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.0.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        pass!([unsafe] self.0.observer().recycle(stream, Self::real(range)))
    }
}
