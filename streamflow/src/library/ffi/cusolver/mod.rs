//! cuSOLVER's dense solvers: a handle with its work areas, and one safe function for each routine.
//!
//! The functions take matrices in columns, as LAPACK. Each claims its operands and the work area, in the order in which
//! [`solve::host`](crate::library::solve) takes them, and checks that they are as long as the routine needs.

mod batch;
mod calls;
mod decompositions;
mod table;

pub(in crate::library) use batch::Batch;

use std::ffi::{c_int, c_void};
use std::ptr;

use self::table::{CuSolver, NAME, Opaque, check};
use crate::context::{ExecutionContext, Stream};
use crate::driver::{DriverError, LibraryError, RawStream};
use crate::error::Result;
use crate::library::is_simulated;
use crate::library::solve::element::sealed::Number;
use crate::memory::{AfterWork, Buffer};

/// The upper triangle, in columns: the lower one in rows.
const UPPER: c_int = 1;
const TRANSPOSED: c_int = 1;
const VECTORS: c_int = 1;
/// The economy form of `gesvd`.
const ECONOMY: std::ffi::c_schar = b'S' as std::ffi::c_schar;

/// A routine whose work area a plan needs, with its sizes.
#[derive(Debug, Clone, Copy)]
pub(in crate::library) enum Need {
    Lu { n: usize },
    Cholesky { n: usize },
    Qr { rows: usize, columns: usize },
    Eigen { n: usize },
    Svd { rows: usize, columns: usize },
}

/// The library's side of a plan: a handle on the plan's stream, and its work areas. On the simulator there is no handle.
#[derive(Debug)]
pub(in crate::library) struct Dense {
    library: Option<AfterWork<Handle>>,
    /// Each call claims it as written.
    work: Buffer<u8>,
}

impl Dense {
    /// For the routines of a plan, for matrices of `T`.
    ///
    /// # Errors
    /// The library is not there; its own; the driver's, when memory is exhausted.
    pub(in crate::library) fn new<T: Number>(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        needs: &[Need],
    ) -> Result<Self> {
        if is_simulated(stream)? {
            return Ok(Self { library: None, work: cx.buffer(1, stream)? });
        }
        // A handle belongs to the context that is current.
        stream.timeline().bind()?;
        let mut handle = Handle::new(stream.timeline().raw())?;
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
    host_work: HostWork,
}

// SAFETY: a handle may be used by any thread, by one at a time (cuSOLVER's documentation, "Thread Safety").
unsafe impl Send for Handle {}
// SAFETY: a call takes the plan by `&mut`, so it has the handle for itself.
unsafe impl Sync for Handle {}

impl Handle {
    fn new(stream: RawStream) -> Result<Self> {
        let table = CuSolver::get()?;
        let host_work = HostWork { start: ptr::null_mut(), bytes: 0 };
        // Dropped with what it has if a later call fails.
        let mut handle =
            Self { table, handle: ptr::null_mut(), params: ptr::null_mut(), host_work };
        let make = |handle: &mut Self| {
            // SAFETY: both places are written before they are read. The stream is alive, and outlives the handle: the
            // platform keeps its streams.
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

    /// How many bytes a routine needs on the device and on the host.
    fn sizes<T: Number>(&self, need: Need) -> Result<(usize, usize), LibraryError> {
        let Self { table, handle, params, .. } = *self;
        let (mut device, mut host) = (0, 0);
        let (d, h): (*mut usize, *mut usize) = (&mut device, &mut host);
        let (t, none) = (T::DATA_TYPE, ptr::null_mut());
        // SAFETY: the handle and its parameters are alive, and the sizes have a place. These functions read no operand.
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
                    let size =
                        if t == f32::DATA_TYPE { table.sorgqr_size } else { table.dorgqr_size };
                    let status = size(handle, m, n, n, none, m, none, &mut elements);
                    check("cusolverDnorgqr_bufferSize", status)?;
                    *d = (*d).max(elements as usize * size_of::<T>());
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
            }
        }
        Ok((device, host))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: both are this handle's own, or null; its work is complete (`AfterWork`). What these calls return can't be
        // acted on.
        unsafe {
            if !self.params.is_null() {
                (self.table.destroy_params)(self.params);
            }
            if !self.handle.is_null() {
                (self.table.destroy)(self.handle);
            }
        }
    }
}

/// Memory of the host in which cuSOLVER works during a call.
#[derive(Debug)]
struct HostWork {
    start: *mut u8,
    bytes: usize,
}

impl HostWork {
    /// Makes it at least this long.
    fn grow(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.free();
            *self =
                Self { start: Box::into_raw(vec![0_u8; bytes].into_boxed_slice()).cast(), bytes };
        }
    }

    fn free(&mut self) {
        if self.bytes > 0 {
            // SAFETY: it came from a boxed slice of this length.
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

/// The error of a device without a handle, which no plan has.
#[cold]
fn no_handle(call: &'static str) -> LibraryError {
    let remedy = "make the plan on this platform".to_owned();
    LibraryError { library: NAME, call, status: -1, name: "NO_HANDLE", remedy }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn the_library_has_all_functions_or_its_error_says_what_to_install() {
        if let Err(missing) = super::CuSolver::get() {
            let text = missing.to_string();
            assert!(text.contains("cuSOLVER"), "{text}");
            assert!(text.contains("pip install"), "{text}");
            assert!(text.contains("nvidia-cusolver"), "{text}");
        }
    }
}
