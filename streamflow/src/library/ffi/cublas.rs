//! cuBLAS: functions of vectors and matrices, with a handle that works on one stream.
//!
//! Each function claims its operands and the work area, in the order in which the host bodies of
//! [`matmul`](crate::library::matmul) take them. The caller has checked their lengths.

mod table;

use std::ffi::{c_int, c_void};
use std::ptr;

pub(super) use self::table::status_name;
use self::table::{Cublas, NAME, Pointer, check};
use super::scalar::Scalar;
use crate::driver::{DriverError, LibraryError, RawStream};
use crate::error::Result;
use crate::library::{Call, HostBody, is_simulated};
use crate::memory::{AfterWork, Buffer, DeviceSlice, Element};
use crate::stream::CudaStream;

/// Scalars are in the host's memory.
const ON_HOST: c_int = 0;
/// Results are in the device's memory.
const ON_DEVICE: c_int = 1;

/// A type that cuBLAS computes with.
pub trait Number: Element {
    /// Whether it is `f64`, else `f32`.
    #[doc(hidden)]
    const IS_DOUBLE: bool;
}

impl Number for f32 {
    const IS_DOUBLE: bool = false;
}

impl Number for f64 {
    const IS_DOUBLE: bool = true;
}

/// A handle on one stream, with its work area. On the simulator there is no handle.
#[derive(Debug)]
pub(in crate::library) struct Handle {
    library: Option<AfterWork<Raw>>,
    /// Each call claims it as written.
    work: Buffer<u8>,
}

impl Handle {
    /// How many bytes of work area cuBLAS takes on a device of this compute capability: what its documentation advises.
    pub(in crate::library) fn work_bytes(capability: (u32, u32)) -> usize {
        if capability.0 >= 9 { 32 << 20 } else { 4 << 20 }
    }

    /// A handle that works on this stream, and in this memory.
    ///
    /// # Errors
    /// The library is not there; its own.
    pub(in crate::library) fn new(stream: &CudaStream, work: Buffer<u8>) -> Result<Self> {
        if is_simulated(stream)? {
            return Ok(Self { library: None, work });
        }
        stream.timeline().bind()?;
        let raw = Raw::new(stream.timeline().raw(), &work)?;
        Ok(Self { library: Some(AfterWork::new(stream, raw)?), work })
    }

    /// `y = alpha x + y`.
    #[track_caller]
    pub(in crate::library) fn axpy<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, x): (T, &DeviceSlice<T>),
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasaxpy";
        let (mut call, n) = (Call::new(NAME, CALL), y.len() as c_int);
        let (x, y) = (call.read("x", x), call.write("y", y));
        call.write("work area", &mut self.work);
        call.value(alpha);
        let library = self.library.as_deref();
        let queue = |_: RawStream| {
            let raw = on(library, CALL, ON_HOST)?;
            let axpy = if T::IS_DOUBLE { raw.table.daxpy } else { raw.table.saxpy };
            // SAFETY: both vectors have `n` elements, and are claimed; `alpha` is read before the call returns.
            check(CALL, unsafe {
                axpy(raw.handle, n, Scalar::new(alpha).as_ptr(), at(x), 1, at(y), 1)
            })
        };
        // SAFETY: the function reads `x` and writes `y`, as claimed, on the handle's stream, which is this one.
        unsafe { call.queue_in_place(stream, host, queue) }
    }

    /// `result = x y`.
    #[track_caller]
    pub(in crate::library) fn dot<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (x, y): (&DeviceSlice<T>, &DeviceSlice<T>),
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasdot";
        let (mut call, n) = (Call::new(NAME, CALL), x.len() as c_int);
        let (x, y, result) = (call.read("x", x), call.read("y", y), call.write("result", result));
        call.write("work area", &mut self.work);
        let library = self.library.as_deref();
        let queue = |_: RawStream| {
            let raw = on(library, CALL, ON_DEVICE)?;
            let dot = if T::IS_DOUBLE { raw.table.ddot } else { raw.table.sdot };
            // SAFETY: both vectors have `n` elements, and the result one; all are claimed.
            check(CALL, unsafe { dot(raw.handle, n, at(x), 1, at(y), 1, at(result)) })
        };
        // SAFETY: the function reads both vectors and writes the result, as claimed, on the handle's stream, which is this one.
        unsafe { call.queue_in_place(stream, host, queue) }
    }

    /// `result = |x|`.
    #[track_caller]
    pub(in crate::library) fn nrm2<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        x: &DeviceSlice<T>,
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        const CALL: &str = "cublasnrm2";
        let (mut call, n) = (Call::new(NAME, CALL), x.len() as c_int);
        let (x, result) = (call.read("x", x), call.write("result", result));
        call.write("work area", &mut self.work);
        let library = self.library.as_deref();
        let queue = |_: RawStream| {
            let raw = on(library, CALL, ON_DEVICE)?;
            let nrm2 = if T::IS_DOUBLE { raw.table.dnrm2 } else { raw.table.snrm2 };
            // SAFETY: the vector has `n` elements, and the result one; both are claimed.
            check(CALL, unsafe { nrm2(raw.handle, n, at(x), 1, at(result)) })
        };
        // SAFETY: the function reads the vector and writes the result, as claimed, on the handle's stream, which is this one.
        unsafe { call.queue_in_place(stream, host, queue) }
    }

    /// `y = alpha a x + beta y`, with `a` in dense rows.
    #[track_caller]
    pub(in crate::library) fn gemv<T: Number>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        (alpha, a, x): (T, &DeviceSlice<T>, &DeviceSlice<T>),
        (beta, y): (T, &mut DeviceSlice<T>),
    ) -> Result<()> {
        const CALL: &str = "cublasgemv";
        let (rows, cols) = (y.len() as c_int, x.len() as c_int);
        let mut call = Call::new(NAME, CALL);
        let (a, x, y) = (call.read("a", a), call.read("x", x), call.write("y", y));
        call.write("work area", &mut self.work);
        call.value(alpha);
        call.value(beta);
        let library = self.library.as_deref();
        let queue = |_: RawStream| {
            const TRANSPOSED: c_int = 1;
            let raw = on(library, CALL, ON_HOST)?;
            let gemv = if T::IS_DOUBLE { raw.table.dgemv } else { raw.table.sgemv };
            // In columns, the matrix is its transpose.
            // SAFETY: the matrix has `rows` x `cols` elements, `x` has `cols`, and `y` `rows`; all are claimed. The factors
            // are read before the call returns.
            check(CALL, unsafe {
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
            })
        };
        // SAFETY: the function reads `a` and `x`, and writes `y`, as claimed, on the handle's stream, which is this one.
        unsafe { call.queue_in_place(stream, host, queue) }
    }
}

fn at(address: u64) -> *mut c_void {
    address as *mut c_void
}

/// The handle, with its scalars in this memory.
fn on<'a>(
    library: Option<&'a Raw>,
    call: &'static str,
    scalars: c_int,
) -> Result<&'a Raw, LibraryError> {
    let Some(raw) = library else { return Err(no_handle(call)) };
    // SAFETY: the handle is alive, and this thread has it for itself.
    check("cublasSetPointerMode_v2", unsafe { (raw.table.set_pointer_mode)(raw.handle, scalars) })?;
    Ok(raw)
}

/// cuBLAS's own handle.
#[derive(Debug)]
struct Raw {
    table: &'static Cublas,
    handle: Pointer,
}

// SAFETY: a handle may be used by any thread (cuBLAS's documentation, "Thread Safety").
unsafe impl Send for Raw {}
// SAFETY: a call takes the plan by `&mut`, so it has the handle for itself.
unsafe impl Sync for Raw {}

impl Raw {
    fn new(stream: RawStream, work: &Buffer<u8>) -> Result<Self> {
        let table = Cublas::get()?;
        let mut raw = Self { table, handle: ptr::null_mut() };
        let make = |raw: &mut Self| {
            // SAFETY: the place is written before it is read. The stream is alive, and outlives the handle: the platform
            // keeps its streams. The work area is memory of this device, of this length, which the plan keeps, and each call
            // claims it. It is set after the stream, which would set it back.
            unsafe {
                check("cublasCreate_v2", (table.create)(&mut raw.handle))?;
                let stream = stream.handle() as *mut c_void;
                check("cublasSetStream_v2", (table.set_stream)(raw.handle, stream))?;
                let (start, bytes) = (work.range().address as *mut c_void, work.len());
                check("cublasSetWorkspace_v2", (table.set_workspace)(raw.handle, start, bytes))
            }
        };
        make(&mut raw).map_err(DriverError::from)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is this value's own, and its work is complete (`AfterWork`). What the call returns can't be
            // acted on.
            unsafe { (self.table.destroy)(self.handle) };
        }
    }
}

/// The error of a device without a handle, which no plan has.
#[cold]
fn no_handle(call: &'static str) -> LibraryError {
    let remedy = "make the plan on this platform".to_owned();
    LibraryError { library: NAME, call, status: -1, name: "NO_HANDLE", remedy }
}
