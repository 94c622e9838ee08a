//! A driver that leaves out the last row in copies of rows.

use std::sync::Arc;

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{CopyOp, CopyRows, DriverResult, Layer, MemoryRange};

/// A layer that leaves out the last row of each copy of rows, for control tests of such copies.
#[derive(Debug)]
pub struct ShortRows(Arc<dyn Driver>);

impl ShortRows {
    /// Creates the layer above `below`, to which all other calls are passed.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }
}

// SAFETY: copies read and write less memory than they should, and all other calls are passed to the driver below. So only
// plain numbers are wrong.
unsafe impl Layer for ShortRows {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        let mut copy = *copy;
        if let Some(CopyRows { count, source_pitch, target_pitch, .. }) = &mut copy.rows {
            *count -= 1;
            let less = |range: MemoryRange, by| MemoryRange { bytes: range.bytes - by, ..range };
            copy.source = less(copy.source, *source_pitch);
            copy.target = less(copy.target, *target_pitch);
        }
        // SAFETY: the caller's contract, for fewer rows.
        unsafe { self.0.copy(stream, &copy) }
    }
}
