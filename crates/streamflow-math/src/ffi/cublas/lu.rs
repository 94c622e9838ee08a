//! LU for a batch: the routines take arrays of pointers, one pointer for each matrix. The routines are not declared
//! capturable: cuBLAS's documentation does not say whether they need memory besides the work area.

use std::ffi::c_int;

use super::table::{Cublas, NAME};
use super::{Handle, ON_HOST, at, on};
use crate::error::Result;
use crate::ffi::cusolver::element::sealed::Number;
use crate::ffi::cusolver::{Batch, fits};
use streamflow::CudaStream;
use streamflow::driver::RawStream;
use streamflow::library::{Call, HostBody};
use streamflow::memory::DeviceSlice;

/// cuBLAS's operation with the transposed matrix: it reads a matrix that is stored in rows as the transpose.
const TRANSPOSED: c_int = 1;

impl Handle {
    /// Queues `P A = L U` for each matrix of a batch, which is overwritten. For each matrix, `pivots` gets one row number
    /// per row, and `statuses` one status.
    #[track_caller]
    pub(crate) fn getrf_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        a: &mut Batch<T>,
        pivots: &mut DeviceSlice<i32>,
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        const CALL: &str = "cublasgetrfBatched";
        let count = a.count();
        fits(CALL, "a", a.items(), n.checked_mul(n).and_then(|each| each.checked_mul(count)))?;
        fits(CALL, "pivots", pivots, n.checked_mul(count))?;
        fits(CALL, "statuses", statuses, Some(count))?;
        let (order, batch) = (n as c_int, count as c_int);
        let mut call = Call::on(stream, NAME, CALL);
        let matrices = at(a.write(&mut call, ["pointers", "a"]));
        let pivots = call.write("pivots", pivots) as *mut c_int;
        let statuses = call.write("statuses", statuses) as *mut c_int;
        call.write("work", &mut self.work);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            on(library, CALL, ON_HOST, stream, |raw| {
                let getrf = of::<T, _>(raw.table, |it| {
                    [it.sgetrf_batched, it.dgetrf_batched, it.cgetrf_batched, it.zgetrf_batched]
                });
                // SAFETY: the operands have the lengths that the routine needs, and are claimed. The pointers are those
                // of the batch's items (`Batch`). The routine works on the handle's stream, which is the plan's.
                unsafe { getrf(raw.handle, order, matrices, order, pivots, statuses, batch) }
            })
        };
        // SAFETY: all memory that the routine touches is claimed, and the handle works on this stream.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }

    /// Queues the solution of `transpose(A) x = b` for each matrix of a batch, with one right-hand side each. The
    /// solutions overwrite the right-hand sides.
    #[track_caller]
    pub(crate) fn getrs_batched<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        n: usize,
        lu: &Batch<T>,
        pivots: &DeviceSlice<i32>,
        b: &mut Batch<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasgetrsBatched";
        let count = lu.count();
        fits(CALL, "lu", lu.items(), n.checked_mul(n).and_then(|each| each.checked_mul(count)))?;
        fits(CALL, "pivots", pivots, n.checked_mul(count))?;
        fits(CALL, "b", b.items(), n.checked_mul(b.count().max(count)))?;
        let (order, batch) = (n as c_int, count as c_int);
        let mut call = Call::on(stream, NAME, CALL);
        let matrices = at(lu.read(&mut call, ["pointers of lu", "lu"]));
        let pivots = call.read("pivots", pivots) as *const c_int;
        let sides = at(b.write(&mut call, ["pointers of b", "b"]));
        call.write("work", &mut self.work);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            on(library, CALL, ON_HOST, stream, |raw| {
                let getrs = of::<T, _>(raw.table, |it| {
                    [it.sgetrs_batched, it.dgetrs_batched, it.cgetrs_batched, it.zgetrs_batched]
                });
                // The routine writes the status of its arguments to `status` on the host. The value is not read,
                // because the call's own status says the same.
                let mut status = 0;
                // SAFETY: the operands have the lengths that the routine needs, and are claimed; the pointers are those
                // of the batches' items. There is one right-hand side for each matrix.
                unsafe {
                    getrs(
                        raw.handle,
                        TRANSPOSED,
                        order,
                        1,
                        matrices,
                        order,
                        pivots,
                        sides,
                        order,
                        &mut status,
                        batch,
                    )
                }
            })
        };
        // SAFETY: all memory that the routine touches is claimed, and the handle works on this stream.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }
}

/// Returns the function for `T` from those for `f32`, `f64`, `Complex<f32>` and `Complex<f64>`.
fn of<T: Number, F: Copy>(table: &Cublas, functions: impl FnOnce(&Cublas) -> [F; 4]) -> F {
    let [single, double, complex, complex_double] = functions(table);
    match T::DATA_TYPE {
        0 => single,
        1 => double,
        4 => complex,
        _ => complex_double,
    }
}
