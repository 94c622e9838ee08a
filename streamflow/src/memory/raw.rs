//! Access of other code to raw device addresses. Each access is noted as a use of the memory.

use std::iter;
use std::panic::Location;

use super::access::{self, Order, Use};
use super::{DeviceSlice, Element};
use crate::driver::current;
use crate::driver::{AccessMode, Note, Rows};
use crate::error::Result;
use crate::stream::CudaStream;

impl CudaStream {
    /// Calls `queue` with the device address of `memory`. `queue` may queue work that reads the memory on the stream
    /// [`raw`](CudaStream::raw), through cudarc, a library, or another binding.
    ///
    /// This work comes after the last write, and later writes and the free of the memory come after this work. The
    /// address must not be used after `queue` has returned, nor on another stream.
    ///
    /// # Errors
    /// For memory of another device or platform; the driver's. After an error `queue` was not called.
    #[track_caller]
    pub fn read_raw<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        self.with_raw(memory, AccessMode::Read, |address| Ok(queue(address)))
    }

    /// [`read_raw`](Self::read_raw) for work that writes the memory.
    ///
    /// # Errors
    /// As for [`read_raw`](Self::read_raw).
    #[track_caller]
    pub fn write_raw<T: Element, R>(
        &self,
        memory: &mut DeviceSlice<T>,
        queue: impl FnOnce(u64) -> R,
    ) -> Result<R> {
        self.with_raw(memory, AccessMode::Write, |address| Ok(queue(address)))
    }

    #[track_caller]
    pub(in crate::memory) fn with_raw<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        mode: AccessMode,
        queue: impl FnOnce(u64) -> Result<R>,
    ) -> Result<R> {
        self.with_raw_rows(memory, None, mode, queue)
    }

    /// [`with_raw`](Self::with_raw) for work that touches only these rows of the memory.
    #[track_caller]
    pub(in crate::memory) fn with_raw_rows<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        rows: Option<Rows>,
        mode: AccessMode,
        queue: impl FnOnce(u64) -> Result<R>,
    ) -> Result<R> {
        let (stream, range, location) = (self.timeline().raw(), memory.range(), Location::caller());
        let using = Use::new((memory.block(), range), mode, "memory");
        access::prepared(self.timeline().bind(), iter::once(using))?;
        access::queue(self, Order::ByData, iter::once(using), || {
            self.table().observe(&Note::ForeignAccess { stream, range, rows, mode, location });
            let _other = current::other_code();
            queue(range.address)
        })
    }
}
