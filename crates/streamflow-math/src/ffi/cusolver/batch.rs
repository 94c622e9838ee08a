//! Batches as arrays of pointers, one for each matrix.

use std::ffi::c_void;

use super::element::sealed::Number;
use crate::error::Result;
use streamflow::library::Call;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Tensor};
use streamflow::{ExecutionContext, Stream};

/// Memory for a batch, and a list of the addresses of its items, also in device memory. The addresses stay valid:
/// the memory belongs to the batch.
#[derive(Debug)]
pub(crate) struct Batch<T: Number> {
    items: Buffer<T>,
    pointers: Tensor<u64>,
}

impl<T: Number> Batch<T> {
    /// Allocates memory for `count` items of `each` elements.
    ///
    /// # Errors
    /// The driver's error, when memory is exhausted.
    pub(crate) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        count: usize,
        each: usize,
    ) -> Result<Self> {
        let mut items = cx.buffer::<T>(count * each, stream)?;
        let first = stream.write_raw(&mut items, |address| address)?;
        let item = |index: usize| first + (index * each * size_of::<T>()) as u64;
        // The list of addresses in device memory is allocated before the list on the host, which has as many bytes: so
        // a device without room for the list returns an error.
        let mut pointers = cx.tensor([count], stream)?;
        let list: Vec<u64> = (0..count).map(item).collect();
        stream.upload_blocking(&list, &mut pointers)?;
        Ok(Self { items, pointers })
    }

    /// All items, one after the other.
    pub(crate) fn items(&self) -> &DeviceSlice<T> {
        &self.items
    }

    /// All items, to be written.
    pub(crate) fn items_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.items
    }

    /// The addresses of the items, as a list in device memory.
    pub(super) fn pointers(&self) -> &DeviceSlice<u64> {
        &self.pointers
    }

    pub(in crate::ffi) fn count(&self) -> usize {
        self.pointers.len()
    }

    /// Claims the list of addresses and the items as read. Returns the address of the list.
    pub(in crate::ffi) fn read<'a>(
        &'a self,
        call: &mut Call<'a>,
        [pointers, items]: [&'static str; 2],
    ) -> u64 {
        let place = call.read(pointers, &self.pointers);
        call.read(items, &self.items);
        place
    }

    /// Claims the list of addresses as read, and the items as written. Returns the address of the list.
    pub(in crate::ffi) fn write<'a>(
        &'a mut self,
        call: &mut Call<'a>,
        [pointers, items]: [&'static str; 2],
    ) -> u64 {
        let place = call.read(pointers, &self.pointers);
        call.write(items, &mut self.items);
        place
    }
}

const _: () = assert!(size_of::<*mut c_void>() == size_of::<u64>(), "addresses have 64 bits");
