//! The way down to bare addresses, with the use registered.

use std::panic::Location;

use super::{DeviceSlice, Element};
use crate::driver::{AccessMode, Note};
use crate::error::Result;
use crate::stream::{CudaStream, Point};

impl CudaStream {
    /// Gives the device address of memory to `queue`, which may queue work on
    /// [`raw`](CudaStream::raw) that reads it: through cudarc, a library, or another binding.
    ///
    /// That work comes after the last write, and whoever writes or frees the memory later comes
    /// after that work. It must not use the address after `queue` returned, nor on another stream.
    ///
    /// # Errors
    /// Memory of another device or platform; the driver's. `queue` is not called then.
    #[track_caller]
    pub fn read_raw<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        self.with_raw(memory, AccessMode::Read, queue)
    }

    /// As [`read_raw`](Self::read_raw), for work that writes the memory.
    ///
    /// # Errors
    /// As for [`read_raw`](Self::read_raw).
    #[track_caller]
    pub fn write_raw<T: Element, R>(
        &self,
        memory: &mut DeviceSlice<T>,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        self.with_raw(memory, AccessMode::Write, queue)
    }

    #[track_caller]
    fn with_raw<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        mode: AccessMode,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        /// Ends the claim also when `queue` unwinds, since it may have queued something before.
        struct Noted<'a, T: Element>(&'a CudaStream, &'a DeviceSlice<T>, AccessMode, Point);
        impl<T: Element> Drop for Noted<'_, T> {
            fn drop(&mut self) {
                self.1.block().queued(self.0, self.2, self.3);
            }
        }
        self.timeline().bind()?;
        self.issue_noted()?;
        let point = self.timeline().open_point();
        memory.block().claim(self, mode, point, "memory")?;
        let _note = Noted(self, memory, mode, point);
        crate::turns::point("raw memory after its claim");
        let (stream, range, location) = (self.timeline().raw(), memory.range(), Location::caller());
        self.table().tell(&Note::ForeignAccess { stream, range, mode, location });
        Ok(queue(memory.range().address))
    }
}
