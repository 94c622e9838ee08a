//! The work areas that routines need.

use std::ffi::c_int;
use std::ptr;

use super::element::sealed::Number;
use super::routine::is_single;
use super::table::check;
use super::{ECONOMY, Handle, UPPER, VECTORS};
use streamflow::library::LibraryError;

/// A routine that needs a work area in a plan, with its sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Need {
    Lu { n: usize },
    Cholesky { n: usize },
    Qr { rows: usize, columns: usize },
    Eigen { n: usize },
    Svd { rows: usize, columns: usize },
    EigenBatched { n: usize, count: usize },
    SvdBatched { rows: usize, columns: usize, count: usize },
}

impl Handle {
    /// Returns the bytes that a routine needs on the device and on the host.
    pub(super) fn sizes<T: Number>(&mut self, need: Need) -> Result<(usize, usize), LibraryError> {
        let Self { table, handle, params, .. } = *self;
        let (mut device, mut host) = (0, 0);
        let (d, h): (*mut usize, *mut usize) = (&mut device, &mut host);
        let (t, none) = (T::DATA_TYPE, ptr::null_mut());
        // SAFETY: the handle and its parameters are alive, and the library writes the sizes to `device` and `host`.
        // These functions read no operand. A plan needs at most one Jacobi routine. The parameters of that routine are
        // made once, and destroyed with the handle.
        unsafe {
            match need {
                Need::Lu { n } => {
                    let (n, ld) = (n as i64, n.max(1) as i64);
                    let status = (table.getrf_size)(handle, params, n, n, t, none, ld, t, d, h);
                    check("cusolverDnXgetrf_bufferSize", status)?;
                }
                Need::Cholesky { n } => {
                    let (n, ld) = (n as i64, n.max(1) as i64);
                    let status = (table.potrf_size)(handle, params, UPPER, n, t, none, ld, t, d, h);
                    check("cusolverDnXpotrf_bufferSize", status)?;
                }
                Need::Qr { rows, columns } => {
                    let (m, n) = (rows as i64, columns as i64);
                    let status =
                        (table.geqrf_size)(handle, params, m, n, t, none, m, t, none, t, d, h);
                    check("cusolverDnXgeqrf_bufferSize", status)?;
                    let mut elements = 0;
                    let (m, n) = (rows as c_int, columns as c_int);
                    let size = if is_single::<T>() { table.sorgqr_size } else { table.dorgqr_size };
                    let status = size(handle, m, n, n, none, m, none, &mut elements);
                    check("cusolverDnorgqr_bufferSize", status)?;
                    *d = (*d).max(bytes::<T>(elements));
                }
                Need::Eigen { n } => {
                    let n = n as i64;
                    let status = (table.syevd_size)(
                        handle, params, VECTORS, UPPER, n, t, none, n, t, none, t, d, h,
                    );
                    check("cusolverDnXsyevd_bufferSize", status)?;
                }
                Need::Svd { rows, columns } => {
                    let (m, n) = (rows as i64, columns as i64);
                    let status = (table.gesvd_size)(
                        handle, params, ECONOMY, ECONOMY, m, n, t, none, m, t, none, t, none, m, t,
                        none, n, t, d, h,
                    );
                    check("cusolverDnXgesvd_bufferSize", status)?;
                }
                Need::EigenBatched { n, count } => {
                    let info = &mut self.jacobi.eigen;
                    check("cusolverDnCreateSyevjInfo", (table.create_syevj)(info))?;
                    let status = (table.syevj_tolerance)(*info, tolerance::<T>());
                    check("cusolverDnXsyevjSetTolerance", status)?;
                    let size = if is_single::<T>() {
                        table.ssyevj_batched_size
                    } else {
                        table.dsyevj_batched_size
                    };
                    let (n, count, info) = (n as c_int, count as c_int, self.jacobi.eigen);
                    let mut elements = 0;
                    let status =
                        size(handle, VECTORS, UPPER, n, none, n, none, &mut elements, info, count);
                    check("cusolverDnsyevjBatched_bufferSize", status)?;
                    *d = bytes::<T>(elements);
                }
                Need::SvdBatched { rows, columns, count } => {
                    let info = &mut self.jacobi.svd;
                    check("cusolverDnCreateGesvdjInfo", (table.create_gesvdj)(info))?;
                    let status = (table.gesvdj_tolerance)(*info, tolerance::<T>());
                    check("cusolverDnXgesvdjSetTolerance", status)?;
                    let size = if is_single::<T>() {
                        table.sgesvdj_batched_size
                    } else {
                        table.dgesvdj_batched_size
                    };
                    let (m, n, count) = (rows as c_int, columns as c_int, count as c_int);
                    let (mut elements, info) = (0, self.jacobi.svd);
                    let status = size(
                        handle,
                        VECTORS,
                        m,
                        n,
                        none,
                        m,
                        none,
                        none,
                        m,
                        none,
                        n,
                        &mut elements,
                        info,
                        count,
                    );
                    check("cusolverDngesvdjBatched_bufferSize", status)?;
                    *d = bytes::<T>(elements);
                }
            }
        }
        Ok((device, host))
    }
}

/// Returns the bytes of a work area from its size in elements, which the library returned.
fn bytes<T>(elements: c_int) -> usize {
    usize::try_from(elements).unwrap_or(0) * size_of::<T>()
}

/// The tolerance at which Jacobi's method has converged: the precision of the elements. The library sorts the values by default.
fn tolerance<T: Number>() -> f64 {
    if is_single::<T>() { f32::EPSILON.into() } else { f64::EPSILON }
}
