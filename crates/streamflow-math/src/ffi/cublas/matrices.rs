//! Functions of triangles of matrices.

use std::ffi::c_int;

use super::vectors::{Number, capturable};
use super::{Handle, ON_HOST, at, on};
use crate::error::Result;
use crate::ffi::scalar::Scalar;
use streamflow::CudaStream;
use streamflow::driver::RawStream;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;

/// The `cublasFillMode_t` of a triangle of a matrix in rows: cuBLAS reads the matrix in columns, and so sees its transpose.
const fn in_columns(is_lower: bool) -> c_int {
    const LOWER: c_int = 0;
    const UPPER: c_int = 1;
    if is_lower { UPPER } else { LOWER }
}

impl Handle {
    /// Queues `b = alpha a⁻¹ b`, with a triangle of `n` x `n` elements and `n` x `columns` of `b`, both in dense rows.
    #[track_caller]
    pub(crate) fn trsm<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, a, is_lower): (T, &DeviceSlice<T>, bool),
        (n, columns): (usize, usize),
        b: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublastrsm";
        let mut call = capturable(stream, CALL);
        let (a, b) = (call.read("a", a), call.write("b", b));
        call.write("work area", &mut self.work);
        call.value(alpha);
        call.value(u64::from(is_lower));
        call.value(n as u64);
        let library = self.library.as_deref();
        let (n, columns) = (n as c_int, columns as c_int);
        let queue = |stream: RawStream| {
            const RIGHT: c_int = 1;
            const AS_IT_IS: c_int = 0;
            const NO_UNIT: c_int = 0;
            on(library, CALL, ON_HOST, stream, |raw| {
                let trsm = if T::IS_DOUBLE { raw.table.dtrsm } else { raw.table.strsm };
                let triangle = in_columns(is_lower);
                // cuBLAS reads the matrices in columns, and so solves the transposed equation: `bᵀ = alpha bᵀ a⁻ᵀ`.
                // SAFETY: `a` has `n` x `n` elements, `b` has `n` x `columns`, and both are claimed. The factor is read before
                // the call returns.
                unsafe {
                    trsm(
                        raw.handle,
                        RIGHT,
                        triangle,
                        AS_IT_IS,
                        NO_UNIT,
                        columns,
                        n,
                        Scalar::new(alpha).as_ptr(),
                        at(a),
                        n,
                        at(b),
                        columns,
                    )
                }
            })
        };
        // SAFETY: the function reads `a`, and reads and writes `b`, as claimed, on the handle's stream, and that stream is
        // this one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }

    /// Queues `c = alpha a aᵀ + beta c` for a triangle of `c`, with `n` x `k` elements of `a` and `n` x `n` of `c`, both in
    /// dense rows.
    #[track_caller]
    pub(crate) fn syrk<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, a): (T, &DeviceSlice<T>),
        (n, k): (usize, usize),
        (beta, c, is_lower): (T, &mut DeviceSlice<T>, bool),
    ) -> Result<()> {
        const CALL: &str = "cublassyrk";
        let mut call = capturable(stream, CALL);
        let (a, c) = (call.read("a", a), call.write("c", c));
        call.write("work area", &mut self.work);
        call.value(alpha);
        call.value(beta);
        call.value(u64::from(is_lower));
        call.value(n as u64);
        let library = self.library.as_deref();
        let (n, k) = (n as c_int, k as c_int);
        let queue = |stream: RawStream| {
            const TRANSPOSED: c_int = 1;
            on(library, CALL, ON_HOST, stream, |raw| {
                let syrk = if T::IS_DOUBLE { raw.table.dsyrk } else { raw.table.ssyrk };
                let triangle = in_columns(is_lower);
                // cuBLAS reads the matrix in columns, and so sees its transpose.
                // SAFETY: `a` has `n` x `k` elements, `c` has `n` x `n`, and both are claimed. The factors are read before the
                // call returns.
                unsafe {
                    syrk(
                        raw.handle,
                        triangle,
                        TRANSPOSED,
                        n,
                        k,
                        Scalar::new(alpha).as_ptr(),
                        at(a),
                        k,
                        Scalar::new(beta).as_ptr(),
                        at(c),
                        n,
                    )
                }
            })
        };
        // SAFETY: the function reads `a`, and reads and writes `c`, as claimed, on the handle's stream, and that stream is
        // this one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }
}
