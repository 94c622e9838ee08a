//! A layer that makes large allocations small, for tests with huge operands.

use std::sync::Arc;

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, MemoryRange, MemorySource, Observer};

/// A layer that allocates at most [`LIMIT`](Self::LIMIT) bytes but reports the whole size. So a test can have operands
/// for which no memory has room, if nothing touches them.
#[derive(Debug)]
pub struct Hollow(Arc<dyn Driver>);

impl Hollow {
    /// How many bytes an allocation really has at most.
    pub const LIMIT: u64 = 1 << 20;

    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }

    /// Returns the part of a range that is really allocated.
    fn real(range: MemoryRange) -> MemoryRange {
        MemoryRange { bytes: range.bytes.min(Self::LIMIT), ..range }
    }
}

// SAFETY: the driver below has allocated the real part of each range. The tests make only calls that are refused before
// any work touches the rest.
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
