//! Eigenvalues and singular values of batches, by Jacobi's method.
//!
//! Of cuSOLVER's routines for batches these are in every CUDA 12 and 13, and their results are as good as those for one
//! matrix. `XsyevBatched` came with CUDA 12.6.2, needs hundreds of KB of work area for each small matrix, and refuses 65,536
//! of them. `gesvdaStridedBatched` approximates.

use std::ffi::c_int;

use super::batch::is_single;
use super::calls::{at, fits, not_captured, size, with_handle};
use super::element::sealed::Number;
use super::{Dense, UPPER, VECTORS};
use crate::error::Result;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::stream::CudaStream;

impl Dense {
    /// As [`syevd`](Self::syevd), for each matrix of a batch, each with a status.
    #[allow(clippy::too_many_arguments, reason = "those of LAPACK")]
    #[track_caller]
    pub(crate) fn syevj_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (n, count): (usize, usize),
        a: &mut DeviceSlice<T>,
        values: &mut DeviceSlice<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDnsyevjBatched";
        fits(CALL, "a", a, size(n, n, count))?;
        fits(CALL, "values", values, size(n, count, 1))?;
        fits(CALL, "statuses", statuses, Some(count))?;
        let (n, batch, elements) = (n as c_int, count as c_int, self.work_elements::<T>());
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let values = at(call.write("values", values));
        let statuses = call.write("statuses", statuses) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            let syevj =
                if is_single::<T>() { it.table.ssyevj_batched } else { it.table.dsyevj_batched };
            let info = it.jacobi.eigen;
            syevj(it.handle, VECTORS, UPPER, n, a, n, values, work, elements, statuses, info, batch)
        });
        // SAFETY: as in `syevd`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// The SVD of each matrix of a batch, `rows` by `columns`, none longer than 32. They are overwritten. `u` gets matrices
    /// of `rows` by `rows`, and `v`, which is not transposed, `columns` by `columns`.
    #[allow(clippy::too_many_arguments, reason = "those of LAPACK")]
    #[track_caller]
    pub(crate) fn gesvdj_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (rows, columns, count): (usize, usize, usize),
        a: &mut DeviceSlice<T>,
        s: &mut DeviceSlice<T>,
        u: &mut DeviceSlice<T>,
        v: &mut DeviceSlice<T>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cusolverDngesvdjBatched";
        fits(CALL, "a", a, size(rows, columns, count))?;
        fits(CALL, "s", s, size(rows.min(columns), count, 1))?;
        fits(CALL, "u", u, size(rows, rows, count))?;
        fits(CALL, "v", v, size(columns, columns, count))?;
        fits(CALL, "statuses", statuses, Some(count))?;
        let (m, n, batch) = (rows as c_int, columns as c_int, count as c_int);
        let elements = self.work_elements::<T>();
        let mut call = not_captured(stream, CALL);
        let work = at(call.write("work", &mut self.work));
        let a = at(call.write("a", a));
        let s = at(call.write("s", s));
        let u = at(call.write("u", u));
        let v = at(call.write("v", v));
        let statuses = call.write("statuses", statuses) as *mut c_int;
        // SAFETY: as in `getrf`.
        let run = with_handle(self.library.as_deref(), CALL, |it, _| unsafe {
            let gesvdj =
                if is_single::<T>() { it.table.sgesvdj_batched } else { it.table.dgesvdj_batched };
            let info = it.jacobi.svd;
            gesvdj(
                it.handle, VECTORS, m, n, a, m, s, u, m, v, n, work, elements, statuses, info,
                batch,
            )
        });
        // SAFETY: as in `syevd`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }
}
