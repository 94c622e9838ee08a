//! A handle of cuSPARSE with the descriptors of one product.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::handle_stream::HandleStream;
use super::table::{CuSparse, Opaque, check};
use crate::error::Result;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::LibraryError;

/// `CUSPARSE_INDEX_32I`
const INDEX_32: c_int = 2;
/// `CUSPARSE_INDEX_BASE_ZERO`
const FROM_ZERO: c_int = 0;
/// `CUSPARSE_ORDER_ROW`
const IN_ROWS: c_int = 2;
/// `CUSPARSE_OPERATION_NON_TRANSPOSE`
const AS_IT_IS: c_int = 0;
/// `CUSPARSE_SPMV_ALG_DEFAULT`, `CUSPARSE_SPMM_ALG_DEFAULT`
const DEFAULT: c_int = 0;

/// A product of a sparse matrix with a vector, or with a dense matrix in rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) stored: usize,
    /// The columns of the dense matrix; `None` for a vector.
    pub(super) right: Option<usize>,
    pub(super) data_type: c_int,
}

/// Pointers to the factors of the two terms in `alpha A x + beta y`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    pub(super) alpha: *const c_void,
    pub(super) beta: *const c_void,
}

/// The device addresses of the matrix's indices and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses {
    pub(super) offsets: u64,
    pub(super) indices: u64,
    pub(super) values: u64,
}

/// A handle on one stream, and the descriptors of one product. cuSPARSE notes its analysis of a matrix in the matrix's
/// descriptor.
#[derive(Debug)]
pub(super) struct Descriptors {
    table: &'static CuSparse,
    product: Product,
    handle: Opaque,
    stream: HandleStream,
    matrix: Opaque,
    right: Dense,
    result: Dense,
}

/// A descriptor of a vector or of a dense matrix.
#[derive(Debug)]
struct Dense {
    descriptor: Opaque,
    /// The address that the descriptor has at present.
    address: AtomicU64,
}

// SAFETY: a handle and its descriptors may be used by any thread, but only by one thread at a time (cuSPARSE's documentation,
// "Thread Safety").
unsafe impl Send for Descriptors {}
// SAFETY: a call takes the plan by `&mut`, so no other call uses the descriptors at the same time.
unsafe impl Sync for Descriptors {}

impl Descriptors {
    pub(super) fn new(stream: RawStream, product: Product, at: Addresses) -> Result<Self> {
        let (table, none) = (CuSparse::get()?, ptr::null_mut());
        // The addresses of the dense operands are not known yet, but their descriptors must have some address.
        let dense = || Dense { descriptor: none, address: AtomicU64::new(at.values) };
        // If a later call fails, dropping `made` destroys the objects that were made so far.
        let (right, result) = (dense(), dense());
        let stream = HandleStream::new(stream);
        let mut made = Self { table, product, handle: none, stream, matrix: none, right, result };
        made.create(at).map_err(DriverError::from)?;
        Ok(made)
    }

    fn create(&mut self, at: Addresses) -> Result<(), LibraryError> {
        let Self { table, product, .. } = *self;
        let (rows, columns, stored) =
            (product.rows as i64, product.columns as i64, product.stored as i64);
        let (t, values) = (product.data_type, at.values as *mut c_void);
        let (offsets, indices) = (at.offsets as *mut c_void, at.indices as *mut c_void);
        // SAFETY: the function writes the handle before it is read.
        check("cusparseCreate", unsafe { (table.create)(&mut self.handle) })?;
        self.stream.set_own(|stream| self.set_stream(stream))?;
        // SAFETY: the functions write each descriptor before it is read. The descriptors only store the addresses; the
        // addresses of the dense operands are set before each call.
        unsafe {
            let status = (table.create_csr)(
                &mut self.matrix,
                rows,
                columns,
                stored,
                offsets,
                indices,
                values,
                INDEX_32,
                INDEX_32,
                FROM_ZERO,
                t,
            );
            check("cusparseCreateCsr", status)?;
            let dense = |place: &mut Opaque, rows: i64| match product.right {
                None => check("cusparseCreateDnVec", (table.create_vector)(place, rows, values, t)),
                Some(right) => {
                    let right = right as i64;
                    let status =
                        (table.create_dense)(place, rows, right, right, values, t, IN_ROWS);
                    check("cusparseCreateDnMat", status)
                }
            };
            dense(&mut self.right.descriptor, columns)?;
            dense(&mut self.result.descriptor, rows)
        }
    }

    /// Makes a call with the handle on its own stream, or on a stream that is being captured. After the call the handle
    /// works on its own stream again.
    #[inline(always)]
    pub(super) fn on(
        &self,
        stream: RawStream,
        call: impl FnOnce() -> Result<(), LibraryError>,
    ) -> Result<(), LibraryError> {
        self.stream.on(stream, |stream| self.set_stream(stream), call)
    }

    fn set_stream(&self, stream: RawStream) -> Result<(), LibraryError> {
        let stream = stream.handle() as *mut c_void;
        // SAFETY: the handle was created. The stream is alive: a stream that is being captured is alive until the call ends,
        // and then the handle gets its own stream again. That stream outlives the handle: the platform keeps its streams.
        check("cusparseSetStream", unsafe { (self.table.set_stream)(self.handle, stream) })
    }

    /// Returns the number of bytes that the work area needs.
    pub(super) fn size(&self, factors: Factors) -> Result<usize, LibraryError> {
        let Self { table: it, handle, matrix, product, .. } = *self;
        let (right, result) = (self.right.descriptor, self.result.descriptor);
        let Factors { alpha, beta } = factors;
        let (alpha, beta, t) = (alpha.cast_mut(), beta.cast_mut(), product.data_type);
        let mut bytes = 0;
        // SAFETY: the handle and the descriptors are alive, and the library writes the size to `bytes`.
        let (call, status) = unsafe {
            match product.right {
                None => (
                    "cusparseSpMV_bufferSize",
                    (it.spmv_size)(
                        handle, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT,
                        &mut bytes,
                    ),
                ),
                Some(_) => (
                    "cusparseSpMM_bufferSize",
                    (it.spmm_size)(
                        handle, AS_IT_IS, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT,
                        &mut bytes,
                    ),
                ),
            }
        };
        check(call, status)?;
        Ok(bytes)
    }

    /// Prepares the products with the matrix: queues work that writes the work area.
    ///
    /// # Safety
    /// The work area has [`size`](Self::size) bytes, and it and the matrix's memory may be used by this stream's work.
    pub(super) unsafe fn prepare(&self, factors: Factors, work: u64) -> Result<(), LibraryError> {
        let Self { table: it, handle, matrix, product, .. } = *self;
        let (right, result) = (self.right.descriptor, self.result.descriptor);
        let Factors { alpha, beta } = factors;
        let (alpha, beta, t) = (alpha.cast_mut(), beta.cast_mut(), product.data_type);
        let work = work as *mut c_void;
        // SAFETY: the caller guarantees that the work may use the memory. The handle and the descriptors are alive.
        let (call, status) = unsafe {
            match product.right {
                None => (
                    "cusparseSpMV_preprocess",
                    (it.spmv_prepare)(
                        handle, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT, work,
                    ),
                ),
                Some(_) => (
                    "cusparseSpMM_preprocess",
                    (it.spmm_prepare)(
                        handle, AS_IT_IS, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT,
                        work,
                    ),
                ),
            }
        };
        check(call, status)
    }

    /// Queues the product.
    ///
    /// # Safety
    /// The contract of [`prepare`](Self::prepare), which was called before with the same work area. The dense operands
    /// have the lengths of the product, and this stream's work may use them.
    #[inline(always)]
    pub(super) unsafe fn multiply(
        &self,
        factors: Factors,
        [operand, target, work]: [u64; 3],
    ) -> Result<(), LibraryError> {
        let Self { table: it, handle, matrix, product, .. } = *self;
        let (right, result) = (self.right.descriptor, self.result.descriptor);
        let Factors { alpha, beta } = factors;
        let (alpha, beta, t) = (alpha.cast_mut(), beta.cast_mut(), product.data_type);
        self.set(&self.right, operand)?;
        self.set(&self.result, target)?;
        let work = work as *mut c_void;
        // SAFETY: the caller guarantees that the work may use the memory. The handle and the descriptors are alive.
        unsafe {
            match product.right {
                None => {
                    let status = (it.spmv)(
                        handle, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT, work,
                    );
                    check("cusparseSpMV", status)
                }
                Some(_) => {
                    let status = (it.spmm)(
                        handle, AS_IT_IS, AS_IT_IS, alpha, matrix, right, beta, result, t, DEFAULT,
                        work,
                    );
                    check("cusparseSpMM", status)
                }
            }
        }
    }

    /// Writes the address of a dense operand into its descriptor, unless the descriptor already has this address.
    fn set(&self, dense: &Dense, address: u64) -> Result<(), LibraryError> {
        if dense.address.load(Ordering::Relaxed) == address {
            return Ok(());
        }
        let (call, set) = match self.product.right {
            None => ("cusparseDnVecSetValues", self.table.set_vector),
            Some(_) => ("cusparseDnMatSetValues", self.table.set_dense),
        };
        // SAFETY: the descriptor is alive, and only keeps the address.
        check(call, unsafe { set(dense.descriptor, address as *mut c_void) })?;
        dense.address.store(address, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        let dense = match self.product.right {
            None => self.table.destroy_vector,
            Some(_) => self.table.destroy_dense,
        };
        let all = [
            (self.result.descriptor, dense),
            (self.right.descriptor, dense),
            (self.matrix, self.table.destroy_matrix),
            (self.handle, self.table.destroy),
        ];
        for (object, destroy) in all.into_iter().filter(|(object, _)| !object.is_null()) {
            // SAFETY: this value owns the object, whose work is complete (`AfterWork`). A drop can't handle the error code.
            unsafe { destroy(object) };
        }
    }
}
