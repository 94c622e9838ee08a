//! QR, eigenvalues and singular values.

use std::ffi::c_int;

use super::batch::is_single;
use super::calls::{at, fits, not_captured, size, with_handle};
use super::element::sealed::Number;
use super::{Dense, ECONOMY, UPPER, VECTORS};
use crate::error::Result;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::stream::CudaStream;

impl Dense {
    /// QR of a matrix of `rows` by `columns`, in its place: `R` in the upper triangle, and below it, with `tau`, what
    /// [`orgqr`](Self::orgqr) makes `Q` of.
    #[track_caller]
    pub(crate) fn geqrf<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (rows, columns): (usize, usize),
        a: &mut DeviceSlice<T>,
        tau: &mut DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXgeqrf";
        fits(CALL, "a", a, size(rows, columns, 1))?;
        fits(CALL, "tau", tau, Some(rows.min(columns)))?;
        fits(CALL, "status", status, Some(1))?;
        let (m, n, t, bytes) = (rows as i64, columns as i64, T::DATA_TYPE, self.work.len());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let tau = at(call.write("tau", tau));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, (host, host_bytes)| unsafe {
            (it.table.geqrf)(
                it.handle, it.params, m, n, t, a, m, t, tau, t, work, bytes, host, host_bytes,
                status,
            )
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// `Q`, `rows` by `columns`, in the place of what [`geqrf`](Self::geqrf) has written.
    #[track_caller]
    pub(crate) fn orgqr<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (rows, columns): (usize, usize),
        a: &mut DeviceSlice<T>,
        tau: &DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnorgqr";
        fits(CALL, "a", a, size(rows, columns, 1))?;
        fits(CALL, "tau", tau, Some(columns))?;
        fits(CALL, "status", status, Some(1))?;
        let (m, n) = (rows as c_int, columns as c_int);
        let elements = self.work_elements::<T>();
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let tau = at(call.read("tau", tau));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            let orgqr = if is_single::<T>() { it.table.sorgqr } else { it.table.dorgqr };
            orgqr(it.handle, m, n, n, a, m, tau, work, elements, status)
        });
        // SAFETY: as in `getrf`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// The eigenvalues of a symmetric matrix, given by its upper triangle, and its eigenvectors in the columns of
    /// `a`.
    #[track_caller]
    pub(crate) fn syevd<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        a: &mut DeviceSlice<T>,
        values: &mut DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXsyevd";
        fits(CALL, "a", a, size(n, n, 1))?;
        fits(CALL, "values", values, Some(n))?;
        fits(CALL, "status", status, Some(1))?;
        let (n, t, bytes) = (n as i64, T::DATA_TYPE, self.work.len());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let values = at(call.write("values", values));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, (host, host_bytes)| unsafe {
            (it.table.syevd)(
                it.handle, it.params, VECTORS, UPPER, n, t, a, n, t, values, t, work, bytes, host,
                host_bytes, status,
            )
        });
        // SAFETY: as in `getrf`. The iteration looks at results on the host.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// The economy SVD of a matrix with `rows >= columns`, which is overwritten: `u` is `rows` by `columns`, and `vt`
    /// `columns` by `columns`.
    #[allow(clippy::too_many_arguments, reason = "those of LAPACK")]
    #[track_caller]
    pub(crate) fn gesvd<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (rows, columns): (usize, usize),
        a: &mut DeviceSlice<T>,
        s: &mut DeviceSlice<T>,
        u: &mut DeviceSlice<T>,
        vt: &mut DeviceSlice<T>,
        status: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnXgesvd";
        fits(CALL, "a", a, size(rows, columns, 1))?;
        fits(CALL, "s", s, Some(columns))?;
        fits(CALL, "u", u, size(rows, columns, 1))?;
        fits(CALL, "vt", vt, size(columns, columns, 1))?;
        fits(CALL, "status", status, Some(1))?;
        let (m, n, t, bytes) = (rows as i64, columns as i64, T::DATA_TYPE, self.work.len());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let s = at(call.write("s", s));
        let u = at(call.write("u", u));
        let vt = at(call.write("vt", vt));
        let status = call.write("status", status) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, (host, host_bytes)| unsafe {
            (it.table.gesvd)(
                it.handle, it.params, ECONOMY, ECONOMY, m, n, t, a, m, t, s, t, u, m, t, vt, n, t,
                work, bytes, host, host_bytes, status,
            )
        });
        // SAFETY: as in `syevd`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }
}
