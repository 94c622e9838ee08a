//! Functions of vectors, and the product of a matrix and a vector.

use std::ffi::c_int;

use super::table::NAME;
use super::{Handle, ON_HOST, at, on};
use crate::error::Result;
use crate::ffi::scalar::Scalar;
use streamflow::CudaStream;
use streamflow::Element;
use streamflow::driver::RawStream;
use streamflow::library::{Call, HostBody};
use streamflow::memory::DeviceSlice;

/// Returns a call of a routine that may be captured in a CUDA graph. cuBLAS's documentation, "CUDA Graphs Support":
/// routines can be captured, except those that write results to the host; scalars on the host are captured as values;
/// and with the caller's work area no memory is allocated: a graph in a graph may not allocate.
pub(super) fn capturable<'a>(stream: &CudaStream, name: &'static str) -> Call<'a> {
    Call::on(stream, NAME, name).may_be_captured()
}

/// The pointer mode of cuBLAS for results in the device's memory.
const ON_DEVICE: c_int = 1;

/// A type that cuBLAS computes with.
pub trait Number: Element {
    /// Whether the type is `f64`; else it is `f32`.
    #[doc(hidden)]
    const IS_DOUBLE: bool;
}

impl Number for f32 {
    const IS_DOUBLE: bool = false;
}

impl Number for f64 {
    const IS_DOUBLE: bool = true;
}

impl Handle {
    /// Queues `y = alpha x + y`.
    #[track_caller]
    pub(crate) fn axpy<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, x): (T, &DeviceSlice<T>),
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasaxpy";
        let (mut call, n) = (capturable(stream, CALL), y.len() as c_int);
        let (x, y) = (call.read("x", x), call.write("y", y));
        call.write("work area", &mut self.work);
        call.value(alpha);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            on(library, CALL, ON_HOST, stream, |raw| {
                let axpy = if T::IS_DOUBLE { raw.table.daxpy } else { raw.table.saxpy };
                // SAFETY: `x` and `y` have `n` elements, and are claimed; `alpha` is read before the call returns.
                unsafe { axpy(raw.handle, n, Scalar::new(alpha).as_ptr(), at(x), 1, at(y), 1) }
            })
        };
        // SAFETY: the function reads `x` and writes `y`, as claimed, on the handle's stream, and that stream is this one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }

    /// Queues `result = x y`.
    #[track_caller]
    pub(crate) fn dot<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (x, y): (&DeviceSlice<T>, &DeviceSlice<T>),
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasdot";
        let (mut call, n) = (capturable(stream, CALL), x.len() as c_int);
        let (x, y, result) = (call.read("x", x), call.read("y", y), call.write("result", result));
        call.write("work area", &mut self.work);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            on(library, CALL, ON_DEVICE, stream, |raw| {
                let dot = if T::IS_DOUBLE { raw.table.ddot } else { raw.table.sdot };
                // SAFETY: `x` and `y` have `n` elements, and the result has one; all are claimed.
                unsafe { dot(raw.handle, n, at(x), 1, at(y), 1, at(result)) }
            })
        };
        // SAFETY: the function reads `x` and `y` and writes the result, as claimed, on the handle's stream, and that
        // stream is this one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }

    /// Queues `result = |x|`.
    #[track_caller]
    pub(crate) fn nrm2<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        x: &DeviceSlice<T>,
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasnrm2";
        let (mut call, n) = (capturable(stream, CALL), x.len() as c_int);
        let (x, result) = (call.read("x", x), call.write("result", result));
        call.write("work area", &mut self.work);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            on(library, CALL, ON_DEVICE, stream, |raw| {
                let nrm2 = if T::IS_DOUBLE { raw.table.dnrm2 } else { raw.table.snrm2 };
                // SAFETY: the vector has `n` elements, and the result has one; both are claimed.
                unsafe { nrm2(raw.handle, n, at(x), 1, at(result)) }
            })
        };
        // SAFETY: the function reads the vector and writes the result, as claimed, on the handle's stream, and that stream is
        // this one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }

    /// Queues `y = alpha a x + beta y`, with `a` in dense rows.
    #[track_caller]
    pub(crate) fn gemv<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, a, x): (T, &DeviceSlice<T>, &DeviceSlice<T>),
        (beta, y): (T, &mut DeviceSlice<T>),
    ) -> Result<()> {
        const CALL: &str = "cublasgemv";
        let (rows, cols) = (y.len() as c_int, x.len() as c_int);
        let mut call = capturable(stream, CALL);
        let (a, x, y) = (call.read("a", a), call.read("x", x), call.write("y", y));
        call.write("work area", &mut self.work);
        call.value(alpha);
        call.value(beta);
        let library = self.library.as_deref();
        let queue = |stream: RawStream| {
            const TRANSPOSED: c_int = 1;
            on(library, CALL, ON_HOST, stream, |raw| {
                let gemv = if T::IS_DOUBLE { raw.table.dgemv } else { raw.table.sgemv };
                // cuBLAS reads the matrix in columns, and so sees its transpose.
                // SAFETY: the matrix has `rows` x `cols` elements, `x` has `cols`, and `y` `rows`; all are claimed. The factors
                // are read before the call returns.
                unsafe {
                    gemv(
                        raw.handle,
                        TRANSPOSED,
                        cols,
                        rows,
                        Scalar::new(alpha).as_ptr(),
                        at(a),
                        cols,
                        at(x),
                        1,
                        Scalar::new(beta).as_ptr(),
                        at(y),
                        1,
                    )
                }
            })
        };
        // SAFETY: the function reads `a` and `x`, and writes `y`, as claimed, on the handle's stream, and that stream is this
        // one.
        unsafe { call.queue_in_place(stream, host, &queue) }
    }
}
