//! Batches as arrays of pointers, one for each matrix, and Cholesky for them.

use std::ffi::{c_int, c_void};

use super::calls::{at, fits, not_captured, size, with_handle};
use super::element::sealed::Number;
use super::{Dense, UPPER};
use crate::error::Result;
use streamflow::context::{ExecutionContext, Stream};
use streamflow::library::{Call, HostBody};
use streamflow::memory::{Buffer, DeviceSlice, Tensor};
use streamflow::stream::CudaStream;

/// Memory for a batch, and the addresses of its items, in device memory, too. The addresses stay good: the memory
/// belongs to the batch.
#[derive(Debug)]
pub(crate) struct Batch<T: Number> {
    items: Buffer<T>,
    pointers: Tensor<u64>,
}

impl<T: Number> Batch<T> {
    /// Memory for `count` items of `each` elements.
    ///
    /// # Errors
    /// The driver's, when memory is exhausted.
    pub(crate) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        count: usize,
        each: usize,
    ) -> Result<Self> {
        let mut items = cx.buffer::<T>(count * each, stream)?;
        let first = stream.write_raw(&mut items, |address| address)?;
        let item = |index: usize| first + (index * each * size_of::<T>()) as u64;
        // Before the list on the host, which has as many bytes: a device without room for it is an error.
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

    pub(in crate::ffi) fn count(&self) -> usize {
        self.pointers.len()
    }

    /// Claims the addresses and the items, which are read. Returns the place of the addresses.
    pub(in crate::ffi) fn read<'a>(
        &'a self,
        call: &mut Call<'a>,
        [pointers, items]: [&'static str; 2],
    ) -> u64 {
        let place = call.read(pointers, &self.pointers);
        call.read(items, &self.items);
        place
    }

    /// Claims the addresses, which are read, and the items, which are written. Returns the place of the addresses.
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

impl Dense {
    /// As [`potrf`](Self::potrf), for each matrix of a batch, each with a status.
    #[track_caller]
    pub(crate) fn potrf_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        a: &mut Batch<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnpotrfBatched";
        let count = a.count();
        fits(CALL, "a", a.items(), size(n, n, count))?;
        fits(CALL, "statuses", statuses, Some(count))?;
        let (order, batch) = (n as c_int, count as c_int);
        let mut call = not_captured(stream, CALL);
        let pointers = at(a.write(&mut call, ["pointers", "a"]));
        let statuses = call.write("statuses", statuses) as *mut c_int;
        // SAFETY: as in `getrf`; the pointers are those of the items (`Batch`).
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            let potrf =
                if is_single::<T>() { it.table.spotrf_batched } else { it.table.dpotrf_batched };
            potrf(it.handle, UPPER, order, pointers, order, statuses, batch)
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// Solves `A x = b` for each matrix of a batch, with one right-hand side each, in its place.
    #[track_caller]
    pub(crate) fn potrs_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        u: &Batch<T>,
        b: &mut Batch<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnpotrsBatched";
        let count = u.count();
        fits(CALL, "u", u.items(), size(n, n, count))?;
        fits(CALL, "b", b.items(), size(n, count, 1))?;
        fits(CALL, "b", &b.pointers, Some(count))?;
        fits(CALL, "status", status, Some(1))?;
        let (order, batch) = (n as c_int, count as c_int);
        let mut call = not_captured(stream, CALL);
        let matrices = at(u.read(&mut call, ["pointers of u", "u"]));
        let sides = at(b.write(&mut call, ["pointers of b", "b"]));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `potrf_batched`. There is one right-hand side for each matrix.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            let potrs =
                if is_single::<T>() { it.table.spotrs_batched } else { it.table.dpotrs_batched };
            potrs(it.handle, UPPER, order, 1, matrices, order, sides, order, status, batch)
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }
}

/// Whether the elements are `f32`; the older routines have a name for each type.
pub(super) fn is_single<T: Number>() -> bool {
    T::DATA_TYPE == f32::DATA_TYPE
}

const _: () = assert!(size_of::<*mut c_void>() == size_of::<u64>(), "addresses have 64 bits");
