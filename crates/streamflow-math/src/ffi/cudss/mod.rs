//! cuDSS: the factorisation of a sparse matrix, and one safe function for each phase of a solution.
//!
//! Each function claims its operands, and the memory that the plan keeps for the matrix, in the order of the host bodies of
//! `solve::direct`.
//!
//! No phase is declared capturable: a factorisation may allocate memory, and cuDSS reads its result on the host.

mod table;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use self::table::{CuDss, NAME, Opaque, WHEEL, check};
use super::cusparse::Matrix;
use super::cusparse::element::SparseElement;
use super::no_handle;
use crate::error::{Result, wrong_operand};
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::LibraryError;
use streamflow::library::{Call, HostBody};
use streamflow::memory::{AfterWork, DeviceSlice};
use streamflow::{ExecutionContext, Stream};

/// `CUDA_R_32I`.
const INDEX_32: c_int = 10;
/// `CUDSS_MTYPE_GENERAL`, `CUDSS_MVIEW_FULL`, `CUDSS_BASE_ZERO`.
const GENERAL: c_int = 0;
const WHOLE: c_int = 0;
const FROM_ZERO: c_int = 0;
/// `CUDSS_LAYOUT_COL_MAJOR`.
const IN_COLUMNS: c_int = 0;
/// `CUDSS_DATA_INFO` and `CUDSS_DATA_NPIVOTS`.
const INFO: c_int = 0;
const REPLACED: c_int = 2;
/// `CUDSS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: c_int = 3;
/// `MAJOR_VERSION`.
const MAJOR: c_int = 0;

/// A phase of the solution.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
enum Phase {
    Analysis = 3,
    Factorization = 4,
    Refactorization = 8,
    Solve = 0x3f0,
}

/// The sizes of a system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct System {
    pub(crate) n: usize,
    /// The number of right-hand sides.
    pub(crate) sides: usize,
}

/// The result of a factorisation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found {
    Factors,
    /// The matrix is singular. The number is that of the row, counted from 1; 0 if the library has not said in which row.
    Singular(usize),
}

/// A sparse matrix with its factors. On the simulator cuDSS has no object for them.
#[derive(Debug)]
pub(crate) struct Direct<T: SparseElement> {
    library: Option<AfterWork<Handle>>,
    system: System,
    /// The number of the matrix whose addresses are in the library's object.
    matrix: u64,
    is_factored: bool,
    /// The factors on the simulator. Each call claims them, so that the calls execute one after the other.
    factors: Buffer<T>,
    pivots: Buffer<i64>,
    status: Buffer<i32>,
}

impl<T: SparseElement> Direct<T> {
    /// Analyses a matrix, which must have stored elements. On a GPU the call blocks.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; the driver's error, when memory is exhausted.
    pub(crate) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        a: &Matrix<'_, T>,
        system: System,
    ) -> Result<Self> {
        let is_simulated = stream.device_info()?.is_simulated;
        let (elements, pivots) =
            if is_simulated { (system.n * system.n, system.n) } else { (1, 1) };
        let mut made = Self {
            library: None,
            system,
            matrix: a.number,
            is_factored: false,
            factors: cx.buffer(elements, stream)?,
            pivots: cx.buffer(pivots, stream)?,
            status: cx.buffer(1, stream)?,
        };
        if is_simulated {
            return Ok(made);
        }
        let at = Addresses {
            offsets: stream.read_raw(a.offsets, |address| address)?,
            columns: stream.read_raw(a.columns, |address| address)?,
            values: stream.read_raw(a.values, |address| address)?,
        };
        let stored = a.values.len();
        // cuDSS makes a handle for the CUDA context that is current.
        let handle =
            stream.make_object(|stream| Handle::new(stream, system, stored, at, T::DATA_TYPE))?;
        made.library = Some(AfterWork::new(stream, handle)?);
        // Only a GPU reaches this line, so no driver runs the host body.
        let host = HostBody::new("cudssExecute", |_| Ok(()));
        made.factor_phase(stream, &host, a, Phase::Analysis)?;
        Ok(made)
    }

    /// Factors the present values of the matrix, and returns what cuDSS has found. Blocks until the stream's work is complete.
    ///
    /// # Errors
    /// The library's error; the driver's error.
    #[track_caller]
    pub(crate) fn factor_blocking(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        a: &Matrix<'_, T>,
    ) -> Result<Found> {
        let mut phase =
            if self.is_factored { Phase::Refactorization } else { Phase::Factorization };
        loop {
            self.factor_phase(stream, host, a, phase)?;
            self.is_factored = true;
            let Some(handle) = self.library.as_deref() else {
                let status = stream.download_blocking(&self.status)?;
                let row = status.first().copied().unwrap_or_default();
                return Ok(if row == 0 { Found::Factors } else { Found::Singular(row as usize) });
            };
            let found = stream.make_object(|_| Ok(handle.found().map_err(DriverError::from)?))?;
            match (phase, &found) {
                // A refactorisation keeps the order of the pivots, and with the new values a pivot of that order may be 0.
                (Phase::Refactorization, Found::Singular(_)) => phase = Phase::Factorization,
                _ => return Ok(found),
            }
        }
    }

    /// Queues a phase whose only operand is the matrix.
    #[track_caller]
    fn factor_phase(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        a: &Matrix<'_, T>,
        phase: Phase,
    ) -> Result<()> {
        // Memory safety depends on this check: the library's object has the addresses of one matrix.
        self.check("A", self.matrix == a.number)?;
        // cuDSS allocates memory in this call. A phase that found no memory can begin again, so the call may be repeated.
        let mut call = Call::on(stream, NAME, "cudssExecute").may_be_repeated();
        call.read("offsets", a.offsets);
        call.read("columns", a.columns);
        call.read("values", a.values);
        call.write("factors", &mut self.factors);
        call.write("pivots", &mut self.pivots);
        call.write("status", &mut self.status);
        let library = self.library.as_deref();
        let run = |_: RawStream| {
            let handle = library.ok_or_else(|| no_handle(NAME, "cudssExecute"))?;
            // SAFETY: the objects were made for this matrix, and its memory is claimed.
            unsafe { handle.execute(phase) }
        };
        // SAFETY: all memory of streamflow that cuDSS touches is claimed, and the handle's stream is `stream`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    /// Queues the solution for the right-hand sides, with the factors.
    ///
    /// # Errors
    /// The library's error; the driver's error.
    #[track_caller]
    pub(crate) fn solve(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        a: &Matrix<'_, T>,
        b: &DeviceSlice<T>,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        // Memory safety depends on the checks of `A`, `b` and `x`: the library's objects are for one matrix and these lengths.
        self.check("A", self.matrix == a.number)?;
        let elements = self.system.n * self.system.sides;
        self.check("b", b.len() == elements)?;
        self.check("x", x.len() == elements)?;
        let mut call = Call::on(stream, NAME, "cudssExecute");
        call.read("offsets", a.offsets);
        call.read("columns", a.columns);
        call.read("values", a.values);
        call.write("factors", &mut self.factors);
        call.read("pivots", &self.pivots);
        let (b, x) = (call.read("b", b), call.write("x", x));
        let library = self.library.as_deref();
        let run = |_: RawStream| {
            let handle = library.ok_or_else(|| no_handle(NAME, "cudssExecute"))?;
            handle.set(&handle.right, b)?;
            handle.set(&handle.solution, x)?;
            // SAFETY: the objects were made for this matrix, whose memory is claimed; `b` and `x` have the elements of
            // the system.
            unsafe { handle.execute(Phase::Solve) }
        };
        // SAFETY: all memory of streamflow that cuDSS touches is claimed, and the handle's stream is `stream`.
        unsafe { call.queue_in_place(stream, host, &run) }
    }

    fn check(&self, argument: &'static str, fits: bool) -> Result<()> {
        if fits {
            return Ok(());
        }
        Err(wrong_operand("solve::DirectSolver", argument, "does not fit its plan".to_owned()))
    }
}

/// The device addresses of a matrix's three arrays.
#[derive(Debug, Clone, Copy)]
struct Addresses {
    offsets: u64,
    columns: u64,
    values: u64,
}

/// cuDSS's handle on one stream, with the objects of one system.
#[derive(Debug)]
struct Handle {
    table: &'static CuDss,
    handle: Opaque,
    config: Opaque,
    data: Opaque,
    matrix: Opaque,
    right: Side,
    solution: Side,
}

/// A library's object for the right-hand sides or for the solutions.
#[derive(Debug)]
struct Side {
    matrix: Opaque,
    /// The address that the library's object has at present.
    address: AtomicU64,
}

// SAFETY: any thread may use a handle and its objects, but only one thread at a time.
unsafe impl Send for Handle {}
// SAFETY: a call takes the plan by `&mut`, so no other call uses the objects at the same time.
unsafe impl Sync for Handle {}

impl Handle {
    fn new(
        stream: RawStream,
        system: System,
        stored: usize,
        at: Addresses,
        data_type: c_int,
    ) -> Result<Self> {
        let (table, none) = (CuDss::get()?, ptr::null_mut());
        // The addresses of right-hand sides and solutions are not known yet, but their objects must have some address.
        let side = || Side { matrix: none, address: AtomicU64::new(at.values) };
        let (right, solution) = (side(), side());
        // If a later call fails, dropping `made` destroys the objects that were made so far.
        let mut made =
            Self { table, handle: none, config: none, data: none, matrix: none, right, solution };
        let mut major = 0;
        // SAFETY: the function writes the number to `major`.
        let status = unsafe { (table.property)(MAJOR, &mut major) };
        check("cudssGetProperty", status).map_err(DriverError::from)?;
        if major < 1 {
            let what = format!("cuDSS {major} was found, but 1 or later is needed");
            let remedy = format!("install it, as by `pip install -U {WHEEL}`");
            return Err(DriverError::Unavailable { what, remedy }.into());
        }
        made.create(stream, system, stored, at, data_type).map_err(DriverError::from)?;
        Ok(made)
    }

    fn create(
        &mut self,
        stream: RawStream,
        System { n, sides }: System,
        stored: usize,
        at: Addresses,
        data_type: c_int,
    ) -> Result<(), LibraryError> {
        let table = self.table;
        let (n, sides, stored) = (n as i64, sides as i64, stored as i64);
        let [offsets, columns, values] =
            [at.offsets, at.columns, at.values].map(|address| address as *mut c_void);
        // SAFETY: the functions write each handle before it is read. The stream is alive, and outlives the handle: the
        // platform keeps its streams. The objects only store the addresses; those of right-hand sides and solutions are
        // set before each solution.
        unsafe {
            check("cudssCreate", (table.create)(&mut self.handle))?;
            let status = (table.set_stream)(self.handle, stream.handle() as *mut c_void);
            check("cudssSetStream", status)?;
            check("cudssConfigCreate", (table.create_config)(&mut self.config))?;
            check("cudssDataCreate", (table.create_data)(self.handle, &mut self.data))?;
            let status = (table.create_csr)(
                &mut self.matrix,
                n,
                n,
                stored,
                offsets,
                ptr::null_mut(),
                columns,
                values,
                INDEX_32,
                INDEX_32,
                data_type,
                GENERAL,
                WHOLE,
                FROM_ZERO,
            );
            check("cudssMatrixCreateCsr", status)?;
            for side in [&mut self.right, &mut self.solution] {
                let place = &mut side.matrix;
                let status =
                    (table.create_dense)(place, n, sides, n, values, data_type, IN_COLUMNS);
                check("cudssMatrixCreateDn", status)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// Work of the handle's stream may use the memory at the addresses that the objects have.
    unsafe fn execute(&self, phase: Phase) -> Result<(), LibraryError> {
        let Self { table, handle, config, data, matrix, .. } = *self;
        let (solution, right) = (self.solution.matrix, self.right.matrix);
        // SAFETY: all objects are alive. The caller guarantees that the work may use the memory.
        let status = unsafe {
            (table.execute)(handle, phase as c_int, config, data, matrix, solution, right)
        };
        check("cudssExecute", status)
    }

    /// Writes an address into the object of right-hand sides or solutions, unless the object already has this address.
    fn set(&self, side: &Side, address: u64) -> Result<(), LibraryError> {
        if side.address.load(Ordering::Relaxed) == address {
            return Ok(());
        }
        // SAFETY: the object is alive, and only keeps the address.
        let status = unsafe { (self.table.set_values)(side.matrix, address as *mut c_void) };
        check("cudssMatrixSetValues", status)?;
        side.address.store(address, Ordering::Relaxed);
        Ok(())
    }

    /// Reads the result of the factorisation. Blocks until the stream's work is complete.
    fn found(&self) -> Result<Found, LibraryError> {
        let info = self.number(INFO)?;
        // cuDSS replaces a pivot that is too small by another number, counts that in `REPLACED`, and goes on.
        let replaced = if info == 0 { self.number(REPLACED)? } else { 0 };
        Ok(match (info, replaced) {
            (0, 0) => Found::Factors,
            (row, _) => Found::Singular(usize::try_from(row).unwrap_or(0)),
        })
    }

    /// Queries a number that the library has for the matrix. The library accepts only the exact size of the number: 4
    /// or 8 bytes.
    fn number(&self, which: c_int) -> Result<i64, LibraryError> {
        let (mut short, mut long) = (0_i32, 0_i64);
        let status = self.get(which, &mut short);
        if status != INVALID_VALUE {
            return check("cudssDataGet", status).map(|()| short.into());
        }
        let status = self.get(which, &mut long);
        check("cudssDataGet", status).map(|()| long)
    }

    fn get<T>(&self, which: c_int, number: &mut T) -> c_int {
        let mut written = 0;
        let place = ptr::from_mut(number).cast();
        // SAFETY: the objects are alive, and the library writes a number of the length that is passed to `place`.
        unsafe {
            (self.table.get_data)(
                self.handle,
                self.data,
                which,
                place,
                size_of::<T>(),
                &mut written,
            )
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let table = self.table;
        // SAFETY: each object is this handle's own, or null, and its work is complete (`AfterWork`). A drop can't handle
        // the error codes.
        unsafe {
            for matrix in [self.solution.matrix, self.right.matrix, self.matrix] {
                if !matrix.is_null() {
                    (table.destroy_matrix)(matrix);
                }
            }
            if !self.data.is_null() {
                (table.destroy_data)(self.handle, self.data);
            }
            if !self.config.is_null() {
                (table.destroy_config)(self.config);
            }
            if !self.handle.is_null() {
                (table.destroy)(self.handle);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn the_library_has_all_functions_or_its_error_says_what_to_install() {
        if let Err(missing) = super::CuDss::get() {
            let text = missing.to_string();
            assert!(text.contains("cuDSS"), "{text}");
            let is_13 = !cfg!(all(
                any(feature = "cuda-12080", feature = "cuda-12090"),
                not(feature = "cuda-13000")
            ));
            let wheel = if is_13 { "nvidia-cudss-cu13" } else { "nvidia-cudss-cu12" };
            assert!(text.contains(&format!("`pip install {wheel}`")), "{text}");
        }
    }
}
