//! cuBLAS: functions of vectors and matrices, with a handle that works on one stream.
//!
//! Each function claims its operands and the work area, in the order of the host bodies of `matmul` and `solve`. The
//! callers have checked the operands' lengths.

#[cfg(feature = "solve")]
mod lu;
#[cfg(feature = "matmul")]
mod matrices;
mod table;
#[cfg(feature = "matmul")]
mod vectors;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

#[cfg(feature = "matmul")]
pub(super) use self::table::status_name;
use self::table::{Cublas, NAME, Pointer, check};
#[cfg(feature = "matmul")]
pub(crate) use self::vectors::Number;
use super::handle_stream::HandleStream;
use crate::error::Result;
use crate::ffi::no_handle;
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::Claim;
use streamflow::library::LibraryError;
use streamflow::memory::AfterWork;
use streamflow::{ExecutionContext, Stream};

/// cuBLAS's pointer mode for scalars in host memory.
const ON_HOST: c_int = 0;

/// A handle of cuBLAS for one stream, with its work area. The simulator has no handle.
#[derive(Debug)]
pub(crate) struct Handle {
    library: Option<AfterWork<Raw>>,
    /// The work area. Each call claims it as written, so that the calls execute one after the other.
    work: Buffer<u8>,
}

impl Handle {
    /// Creates a handle that works on this stream, with a work area.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; the driver's error, when memory is exhausted.
    pub(crate) fn with_work_area(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let info = stream.device_info()?;
        let bytes =
            if info.is_simulated { SIMULATED_WORK } else { work_bytes(info.compute_capability) };
        Self::new(stream, cx.buffer(bytes, stream)?)
    }

    /// Creates a handle that works on this stream, with this memory as its work area.
    fn new(stream: &CudaStream, mut work: Buffer<u8>) -> Result<Self> {
        if stream.device_info()?.is_simulated {
            return Ok(Self { library: None, work });
        }
        let (start, bytes) = (Claim::write("work area", &mut work).address(), work.len());
        let raw = stream.make_object(|stream| Raw::new(stream, (start, bytes)))?;
        Ok(Self { library: Some(AfterWork::new(stream, raw)?), work })
    }
}

/// The bytes of a work area on the simulator, whose bodies overwrite the beginning of the area.
const SIMULATED_WORK: usize = 64;

/// The bytes of a work area for cuBLAS on a device of this compute capability, as cuBLAS's documentation advises.
fn work_bytes(capability: (u32, u32)) -> usize {
    if capability.0 >= 9 { 32 << 20 } else { 4 << 20 }
}

fn at(address: u64) -> *mut c_void {
    address as *mut c_void
}

/// Makes a call with the handle on a stream, with its scalars in host or device memory, as `scalars` says. The stream
/// is the handle's own, or a stream that is being captured. After the call the handle works on its own stream again.
fn on(
    library: Option<&Raw>,
    call: &'static str,
    scalars: c_int,
    stream: RawStream,
    function: impl FnOnce(&Raw) -> c_int,
) -> Result<(), LibraryError> {
    let Some(raw) = library else { return Err(no_handle(NAME, call)) };
    if raw.scalars.load(Ordering::Relaxed) != scalars {
        // SAFETY: the handle is alive, and no other thread uses it at the same time.
        let status = unsafe { (raw.table.set_pointer_mode)(raw.handle, scalars) };
        check("cublasSetPointerMode_v2", status)?;
        raw.scalars.store(scalars, Ordering::Relaxed);
    }
    raw.stream.on(stream, |stream| raw.set_stream(stream), || check(call, function(raw)))
}

/// cuBLAS's own handle.
#[derive(Debug)]
struct Raw {
    table: &'static Cublas,
    handle: Pointer,
    stream: HandleStream,
    /// The address and the length of the work area.
    work: (u64, usize),
    /// The handle's pointer mode: whether its scalars are in host memory or in device memory.
    scalars: AtomicI32,
}

// SAFETY: a handle may be used by any thread (cuBLAS's documentation, "Thread Safety").
unsafe impl Send for Raw {}
// SAFETY: a call takes the plan by `&mut`, so no other call uses the handle at the same time.
unsafe impl Sync for Raw {}

impl Raw {
    /// Creates a handle on a stream. `work` is the address and the length in bytes of the work area.
    fn new(stream: RawStream, work: (u64, usize)) -> Result<Self> {
        let table = Cublas::get()?;
        // A new handle expects its scalars in host memory.
        let scalars = AtomicI32::new(ON_HOST);
        let stream = HandleStream::new(stream);
        let mut raw = Self { table, handle: ptr::null_mut(), stream, work, scalars };
        let make = |raw: &mut Self| {
            // SAFETY: the function writes the handle to `raw.handle` before any other code reads it.
            check("cublasCreate_v2", unsafe { (table.create)(&mut raw.handle) })?;
            raw.stream.set_own(|stream| raw.set_stream(stream))
        };
        make(&mut raw).map_err(DriverError::from)?;
        Ok(raw)
    }

    /// Makes the handle work on a stream, and in its work area.
    fn set_stream(&self, stream: RawStream) -> Result<(), LibraryError> {
        let stream = stream.handle() as *mut c_void;
        let (start, bytes) = (at(self.work.0), self.work.1);
        // SAFETY: the handle and the stream are alive: the platform keeps the handle's own stream, and a stream that is
        // being captured is alive until the handle gets its own stream again. The work area is memory of this device
        // and of this length; the plan keeps it, and each call claims it. The area is set after the stream, since
        // setting the stream resets the area.
        unsafe {
            check("cublasSetStream_v2", (self.table.set_stream)(self.handle, stream))?;
            check("cublasSetWorkspace_v2", (self.table.set_workspace)(self.handle, start, bytes))
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: this value owns the handle, whose work is complete (`AfterWork`). A drop can't handle the error code.
            unsafe { (self.table.destroy)(self.handle) };
        }
    }
}
