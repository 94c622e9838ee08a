//! cuSOLVER's dense solvers: a handle with its work areas, and one safe function for each routine.
//!
//! The functions take matrices in columns, as LAPACK does. Each function claims its operands and the work area, in the
//! order of [`solve::host`](crate::solve), and checks that the operands are as long as the routine needs.

mod batch;
mod calls;
mod decompositions;
pub(crate) mod element;
mod jacobi;
mod needs;
mod routine;
mod table;

pub(crate) use batch::Batch;
pub(crate) use needs::Need;
pub(in crate::ffi) use routine::fits;

use std::ffi::{c_int, c_void};
use std::ptr;

use self::element::sealed::Number;
use self::table::{CuSolver, Opaque, check};
use crate::error::Result;
use streamflow::Buffer;
use streamflow::driver::{DriverError, RawStream};
use streamflow::memory::AfterWork;
use streamflow::{ExecutionContext, Stream};

/// cuBLAS's name of the upper triangle of a matrix in columns, which is the lower triangle of the matrix in rows.
const UPPER: c_int = 1;
const TRANSPOSED: c_int = 1;
const VECTORS: c_int = 1;
/// The economy form of `gesvd`.
const ECONOMY: std::ffi::c_schar = b'S' as std::ffi::c_schar;

/// cuSOLVER's objects for a plan: a handle on the plan's stream, and its work areas. The simulator has no handle.
#[derive(Debug)]
pub(crate) struct Dense {
    library: Option<AfterWork<Handle>>,
    /// The work area. Each call claims it as written, so that the calls execute one after the other.
    work: Buffer<u8>,
}

impl Dense {
    /// Creates the handle and the work areas of a plan that calls the routines in `needs`, for matrices of `T`.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; the driver's error, when memory is exhausted.
    pub(crate) fn new<T: Number>(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        needs: &[Need],
    ) -> Result<Self> {
        if stream.device_info()?.is_simulated {
            return Ok(Self { library: None, work: cx.buffer(1, stream)? });
        }
        // cuSOLVER makes a handle for the CUDA context that is current.
        let mut handle = stream.make_object(Handle::new)?;
        let mut device = 1;
        for need in needs {
            let (on_device, on_host) = handle.sizes::<T>(*need).map_err(DriverError::from)?;
            device = device.max(on_device);
            handle.host_work.grow(on_host);
        }
        let library = AfterWork::new(stream, handle)?;
        Ok(Self { library: Some(library), work: cx.buffer(device, stream)? })
    }
}

/// A handle of cuSOLVER that works on one stream.
#[derive(Debug)]
struct Handle {
    table: &'static CuSolver,
    handle: Opaque,
    params: Opaque,
    jacobi: Jacobi,
    host_work: HostWork,
}

/// The parameters of the routines that use Jacobi's method. A pointer is null until a routine needs its parameters.
#[derive(Debug)]
struct Jacobi {
    eigen: Opaque,
    svd: Opaque,
}

// SAFETY: any thread may use a handle, but only one thread at a time (cuSOLVER's documentation, "Thread Safety").
unsafe impl Send for Handle {}
// SAFETY: a call takes the plan by `&mut`, so no other call uses the handle at the same time.
unsafe impl Sync for Handle {}

impl Handle {
    fn new(stream: RawStream) -> Result<Self> {
        let table = CuSolver::get()?;
        let none = ptr::null_mut();
        let jacobi = Jacobi { eigen: none, svd: none };
        let host_work = HostWork { start: ptr::null_mut(), bytes: 0 };
        // If a later call fails, dropping `handle` destroys the objects that were made so far.
        let mut handle = Self { table, handle: none, params: none, jacobi, host_work };
        let make = |handle: &mut Self| {
            // SAFETY: the functions write the handle and the parameters before these are read. The stream is alive, and
            // outlives the handle: the platform keeps its streams.
            unsafe {
                check("cusolverDnCreate", (table.create)(&mut handle.handle))?;
                let stream = stream.handle() as *mut c_void;
                check("cusolverDnSetStream", (table.set_stream)(handle.handle, stream))?;
                check("cusolverDnCreateParams", (table.create_params)(&mut handle.params))
            }
        };
        make(&mut handle).map_err(DriverError::from)?;
        Ok(handle)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: each object is this handle's own, or null, and its work is complete (`AfterWork`). A drop can't handle
        // the error codes.
        unsafe {
            if !self.jacobi.eigen.is_null() {
                (self.table.destroy_syevj)(self.jacobi.eigen);
            }
            if !self.jacobi.svd.is_null() {
                (self.table.destroy_gesvdj)(self.jacobi.svd);
            }
            if !self.params.is_null() {
                (self.table.destroy_params)(self.params);
            }
            if !self.handle.is_null() {
                (self.table.destroy)(self.handle);
            }
        }
    }
}

/// The host memory that cuSOLVER works in during a call.
#[derive(Debug)]
struct HostWork {
    start: *mut u8,
    bytes: usize,
}

impl HostWork {
    /// Makes the memory at least this long.
    fn grow(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.free();
            *self =
                Self { start: Box::into_raw(vec![0_u8; bytes].into_boxed_slice()).cast(), bytes };
        }
    }

    fn free(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the memory came from a boxed slice of this length.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(self.start, self.bytes)) });
            self.bytes = 0;
        }
    }
}

impl Drop for HostWork {
    fn drop(&mut self) {
        self.free();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn the_library_has_all_functions_or_its_error_says_what_to_install() {
        if let Err(missing) = super::CuSolver::get() {
            let text = missing.to_string();
            assert!(text.contains("cuSOLVER"), "{text}");
            let is_13 = !cfg!(all(
                any(feature = "cuda-12080", feature = "cuda-12090"),
                not(feature = "cuda-13000")
            ));
            let wheel = if is_13 { "nvidia-cusolver" } else { "nvidia-cusolver-cu12" };
            assert!(text.contains(&format!("`pip install {wheel}`")), "{text}");
        }
    }
}
