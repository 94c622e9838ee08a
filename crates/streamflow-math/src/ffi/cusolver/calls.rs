//! The routines, each as one call at the seam.

use std::ffi::{c_int, c_void};

use super::element::sealed::Number;
use super::table::{NAME, check};
use super::{Dense, Handle, TRANSPOSED, UPPER};
use crate::error::{Result, wrong_operand};
use crate::ffi::no_handle;
use streamflow::driver::{LibraryError, RawStream};
use streamflow::library::{Call, HostBody};
use streamflow::memory::{DeviceSlice, Element};
use streamflow::stream::CudaStream;

/// A device's address as the library's pointer.
pub(super) fn at(address: u64) -> *mut c_void {
    address as *mut c_void
}

/// Checks that an operand is as long as a routine needs it: memory safety depends on it.
pub(in crate::ffi) fn fits<T: Element>(
    call: &'static str,
    argument: &'static str,
    operand: &DeviceSlice<T>,
    needed: Option<usize>,
) -> Result<()> {
    if needed.is_some_and(|needed| operand.len() >= needed) {
        return Ok(());
    }
    let needed = needed.map_or("more than memory has".to_owned(), |needed| needed.to_string());
    let problem = format!("has {} elements, but {needed} are needed", operand.len());
    Err(wrong_operand(call, argument, problem))
}

/// The number of elements of `rows` by `columns` by `count`.
pub(super) fn size(rows: usize, columns: usize, count: usize) -> Option<usize> {
    rows.checked_mul(columns)?.checked_mul(count)
}

/// The device's body of a call, which gets the handle, its work area on the host, and the bytes of both.
pub(super) fn with_handle<'a>(
    library: Option<&'a Handle>,
    call: &'static str,
    run: impl Fn(&'a Handle, (*mut c_void, usize)) -> c_int + 'a,
) -> impl Fn(RawStream) -> Result<(), LibraryError> + 'a {
    move |_| {
        let handle = library.ok_or_else(|| no_handle(NAME, call))?;
        check(call, run(handle, (handle.host_work.start.cast(), handle.host_work.bytes)))
    }
}

/// A call of a routine. cuSOLVER's documentation does not say of any that it may be captured in a graph, and those that
/// iterate look at results on the host.
pub(super) fn not_captured<'a>(stream: &CudaStream, function: &'static str) -> Call<'a> {
    Call::on(stream, NAME, function).not_captured()
}

impl Dense {
    /// `P A = L U`, in the place of `A`; `pivots` gets one row for each row, and the first of `statuses` is written.
    #[track_caller]
    pub(crate) fn getrf<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        a: &mut DeviceSlice<T>,
        pivots: &mut DeviceSlice<i64>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXgetrf";
        fits(CALL, "a", a, size(n, n, 1))?;
        fits(CALL, "pivots", pivots, Some(n))?;
        fits(CALL, "statuses", statuses, Some(1))?;
        let (order, t, bytes) = (n as i64, T::DATA_TYPE, self.work.len());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let pivots = call.write("pivots", pivots) as *mut i64;
        let status = call.write("statuses", statuses) as *mut c_int;
        // SAFETY: the operands are as long as the routine needs them, and the work areas as it has asked for. It works on
        // the handle's stream, which is the plan's.
        let run = with_handle(self.library.as_deref(), CALL, |it, (host, host_bytes)| unsafe {
            (it.table.getrf)(
                it.handle, it.params, order, order, t, a, order, pivots, t, work, bytes, host,
                host_bytes, status,
            )
        });
        // SAFETY: all memory that the routine touches is claimed.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// Solves `transpose(A) x = b` for the `count` columns of `b`, in their place.
    #[allow(clippy::too_many_arguments, reason = "those of LAPACK")]
    #[track_caller]
    pub(crate) fn getrs<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (n, count): (usize, usize),
        lu: &DeviceSlice<T>,
        pivots: &DeviceSlice<i64>,
        b: &mut DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXgetrs";
        fits(CALL, "lu", lu, size(n, n, 1))?;
        fits(CALL, "pivots", pivots, Some(n))?;
        fits(CALL, "b", b, size(n, count, 1))?;
        fits(CALL, "status", status, Some(1))?;
        let (order, columns, t) = (n as i64, count as i64, T::DATA_TYPE);
        let mut call = not_captured(stream, CALL);
        let lu = at(call.read("lu", lu));
        let pivots = call.read("pivots", pivots) as *const i64;
        let b = at(call.write("b", b));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            (it.table.getrs)(
                it.handle, it.params, TRANSPOSED, order, columns, t, lu, order, pivots, t, b,
                order, status,
            )
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// `A = transpose(U) U`, in the place of the upper triangle of `A`; the first of `statuses` is written.
    #[track_caller]
    pub(crate) fn potrf<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        a: &mut DeviceSlice<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXpotrf";
        fits(CALL, "a", a, size(n, n, 1))?;
        fits(CALL, "statuses", statuses, Some(1))?;
        let (order, t, bytes) = (n as i64, T::DATA_TYPE, self.work.len());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let status = call.write("statuses", statuses) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, (host, host_bytes)| unsafe {
            (it.table.potrf)(
                it.handle, it.params, UPPER, order, t, a, order, t, work, bytes, host, host_bytes,
                status,
            )
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// Solves `A x = b` for the `count` columns of `b`, in their place.
    #[track_caller]
    pub(crate) fn potrs<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (n, count): (usize, usize),
        u: &DeviceSlice<T>,
        b: &mut DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXpotrs";
        fits(CALL, "u", u, size(n, n, 1))?;
        fits(CALL, "b", b, size(n, count, 1))?;
        fits(CALL, "status", status, Some(1))?;
        let (order, columns, t) = (n as i64, count as i64, T::DATA_TYPE);
        let mut call = not_captured(stream, CALL);
        let u = at(call.read("u", u));
        let b = at(call.write("b", b));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            (it.table.potrs)(
                it.handle, it.params, UPPER, order, columns, t, u, order, t, b, order, status,
            )
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }
}
