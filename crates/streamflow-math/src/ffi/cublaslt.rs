//! cuBLASLt: a product of matrices with its algorithm, on any stream of a device.

pub(crate) mod algorithm;
mod algorithms;
pub(crate) mod element;
pub(crate) mod epilogue;
mod parts;
pub(crate) mod problem;
mod table;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use self::algorithm::Chosen;
use self::algorithms::no_algorithm;
use self::element::MatmulElement;
use self::parts::{Owned, handle, layout};
use self::problem::Problem;
use self::table::{CublasLt, NAME, Pointer, check};
use super::no_handle;
use super::scalar::Scalar;
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::{Call, Claim, HostBody};
use streamflow::memory::{DeviceSlice, TensorView, TensorViewMut};

const MATMUL: &str = "cublasLtMatmul";
const SET: &str = "cublasLtMatmulDescSetAttribute";

/// Values of cuBLASLt's enum `cublasLtMatmulDescAttributes_t`.
const TRANSPOSE_A: c_int = 3;
const TRANSPOSE_B: c_int = 4;
const EPILOGUE: c_int = 7;
const BIAS_POINTER: c_int = 8;
/// `CUBLAS_COMPUTE_32F_FAST_TF32`.
const COMPUTE_TF32: c_int = 77;

/// The operands of a call.
#[derive(Debug)]
pub(crate) struct Product<'a, T: MatmulElement> {
    pub(crate) a: TensorView<'a, T>,
    pub(crate) b: TensorView<'a, T>,
    pub(crate) c: TensorViewMut<'a, T>,
    pub(crate) rest: Rest<'a, T>,
}

/// The arguments of a call that are not matrices.
#[derive(Debug)]
pub(crate) struct Rest<'a, T: MatmulElement> {
    pub(crate) bias: Option<&'a DeviceSlice<T>>,
    /// The work area.
    pub(crate) work: &'a mut DeviceSlice<u8>,
    pub(crate) alpha: T::Scale,
    pub(crate) beta: T::Scale,
}

/// A product of matrices, with the objects of cuBLASLt that describe it.
///
/// cuBLASLt's matrices are in columns. A matrix in rows is its own transpose in columns, so the product is computed as
/// `transpose(c) = transpose(b) transpose(a)`: the library's first operand is `b`, and the bias that the library adds to
/// each column is added to each row of `c`.
#[derive(Debug)]
pub(crate) struct Lt {
    table: &'static CublasLt,
    handle: Pointer,
    desc: Owned,
    /// The address of the bias that cuBLASLt's description has; 0 until an address is set.
    bias: AtomicU64,
    a: Owned,
    b: Owned,
    c: Owned,
    algorithm: Chosen,
}

// SAFETY: several threads may use a handle at once (cuBLAS's documentation, "Thread Safety"). The plan owns the descriptions.
unsafe impl Send for Lt {}
// SAFETY: only `new` and calls change a description. Only `queue` makes calls, and it holds the plan by `&mut` meanwhile.
unsafe impl Sync for Lt {}

impl Lt {
    /// Creates the product, with a stored algorithm or the first that the library proposes. The device must be current
    /// on this thread.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; `LibraryError` without a status where no algorithm
    /// is possible.
    pub(crate) fn new<T: MatmulElement>(
        problem: &Problem,
        ordinal: u32,
        limit: u64,
        stored: Option<Chosen>,
    ) -> Result<Self, DriverError> {
        let table = CublasLt::get()?;
        let handle = handle(table, ordinal)?;
        let compute = if problem.is_tf32 { COMPUTE_TF32 } else { T::COMPUTE };
        let desc = Owned::new("cublasLtMatmulDescCreate", table.desc_destroy, |place| {
            // SAFETY: the function writes the description to `place`.
            unsafe { (table.desc_create)(place, compute, T::SCALE_TYPE) }
        })?;
        let set = |attribute: c_int, value: &c_int| {
            // SAFETY: the description is alive, and these attributes have four bytes.
            let status = unsafe {
                (table.desc_set)(desc.0, attribute, ptr::from_ref(value).cast(), size_of::<c_int>())
            };
            check(SET, status)
        };
        set(TRANSPOSE_A, &problem.b.is_transposed.into())?;
        set(TRANSPOSE_B, &problem.a.is_transposed.into())?;
        set(EPILOGUE, &problem.activation.epilogue(problem.has_bias))?;
        let layout = |stored| layout::<T>(table, stored, problem.products());
        let (a, b, c) = (layout(&problem.a)?, layout(&problem.b)?, layout(&problem.c)?);
        let version = {
            // SAFETY: the function has no preconditions.
            unsafe { (table.version)() as u64 }
        };
        let nothing = Chosen { version, ..Chosen::NOTHING };
        let bias = AtomicU64::new(0);
        let mut made = Self { table, handle, desc, bias, a, b, c, algorithm: nothing };
        if problem.has_bias {
            // The description needs an address before an algorithm is chosen. The search uses only its alignment.
            check(SET, made.set_bias(problem.bias_alignment()))?;
        }
        let found = match stored {
            Some(chosen) => Some(made.restore(chosen, problem.alignment)?),
            None => made.proposals(limit, problem.alignment, 1)?.into_iter().next(),
        };
        if let Some(found) = found {
            if found.workspace as u64 > limit {
                return Err(no_algorithm(format!(
                    "the algorithm needs a work area of {} bytes, and the plan's limit is {limit}: raise \
                     `workspace_limit`, or search again",
                    found.workspace
                )));
            }
            made.algorithm = made.described(&found, problem.alignment);
        }
        Ok(made)
    }

    /// Returns at least one and at most `most` algorithms for the product with a work area within the limit.
    ///
    /// # Errors
    /// The library's error.
    pub(crate) fn candidates(
        &self,
        problem: &Problem,
        limit: u64,
        most: usize,
    ) -> Result<Vec<Chosen>, DriverError> {
        let found = self.proposals(limit, problem.alignment, most)?;
        Ok(found.iter().map(|found| self.described(found, problem.alignment)).collect())
    }

    /// Uses another algorithm of the [`candidates`](Self::candidates) for later calls.
    pub(crate) fn set_algorithm(&mut self, chosen: Chosen) {
        self.algorithm = chosen;
    }

    /// The algorithm, for printing and storing.
    pub(crate) fn algorithm(&self) -> Chosen {
        self.algorithm
    }

    /// Writes the bias's address into the description, unless the description already has this address. Returns the
    /// status of [`SET`].
    fn set_bias(&self, address: u64) -> c_int {
        if self.bias.load(Ordering::Relaxed) == address {
            return 0;
        }
        // SAFETY: the description is alive, and the attribute has the size of a pointer.
        let status = unsafe {
            (self.table.desc_set)(self.desc.0, BIAS_POINTER, ptr::from_ref(&address).cast(), 8)
        };
        if status == 0 {
            self.bias.store(address, Ordering::Relaxed);
        }
        status
    }
}

/// Queues a product. `lt` is `None` on the simulator. The caller has checked that the operands have the layouts of the
/// plan's problem.
///
/// # Errors
/// The library's error; the driver's error.
#[track_caller]
pub(crate) fn multiply<T: MatmulElement>(
    lt: Option<&mut Lt>,
    host: &HostBody,
    stream: &CudaStream,
    product: Product<'_, T>,
) -> Result<()> {
    let Product { a, b, c, rest } = product;
    let (a, b) = (Claim::read_view("a", &a), Claim::read_view("b", &b));
    queue(lt, host, stream, [a, b, Claim::write_view("c", c)], rest)
}

/// Queues a product as [`multiply`] does, of operands without gaps. The claims are of the operands' whole memory.
///
/// # Errors
/// The library's error; the driver's error.
#[inline(always)]
#[track_caller]
pub(crate) fn multiply_whole<T: MatmulElement>(
    lt: Option<&mut Lt>,
    host: &HostBody,
    stream: &CudaStream,
    [a, b]: [&DeviceSlice<T>; 2],
    c: &mut DeviceSlice<T>,
    rest: Rest<'_, T>,
) -> Result<()> {
    let (a, b) = (Claim::read("a", a), Claim::read("b", b));
    queue(lt, host, stream, [a, b, Claim::write("c", c)], rest)
}

/// Queues a product of matrices whose claims are passed.
#[inline(always)]
#[track_caller]
fn queue<'a, T: MatmulElement>(
    lt: Option<&'a mut Lt>,
    host: &HostBody,
    stream: &CudaStream,
    matrices: [Claim<'a>; 3],
    rest: Rest<'a, T>,
) -> Result<()> {
    let Rest { bias, work, alpha, beta } = rest;
    let (bias, bytes) = (bias.map(|bias| Claim::read("bias", bias)), work.len());
    let work = Claim::write("work area", work);
    // cuBLAS's documentation, "CUDA Graphs Support": its routines can be captured, the scales on the host are captured as
    // values, and with the caller's work area no memory is allocated: a graph in a graph may not allocate.
    let mut call = Call::on(stream, NAME, MATMUL).may_be_captured();
    call.value(alpha);
    call.value(beta);
    matrices.iter().chain(&bias).chain([&work]).for_each(|claim| call.claim(claim));
    let multiply = |stream: RawStream| {
        let lt = lt.as_deref().ok_or_else(|| no_handle(NAME, MATMUL))?;
        if let Some(bias) = &bias {
            check(SET, lt.set_bias(bias.address()))?;
        }
        let [a, b, c] = matrices.map(|matrix| matrix.address() as *mut c_void);
        let (alpha, beta) = (Scalar::new(alpha), Scalar::new(beta));
        // SAFETY: handle, descriptions and algorithm are alive and fit each other. The operands have the layouts of the
        // descriptions, and the work area is as large as the algorithm needs; all are claimed. The scales are of the
        // description's scale type, aligned for it, and are read before the call returns.
        let status = unsafe {
            (lt.table.matmul)(
                lt.handle,
                lt.desc.0,
                alpha.as_ptr(),
                b,
                lt.b.0,
                a,
                lt.a.0,
                beta.as_ptr(),
                c,
                lt.c.0,
                c,
                lt.c.0,
                &lt.algorithm.data,
                work.address() as *mut c_void,
                bytes,
                stream.handle() as *mut c_void,
            )
        };
        check(MATMUL, status)
    };
    // SAFETY: the library reads `a`, `b` and the bias, reads `c` if `beta` is not 0, and writes `c` and the work area: all
    // as claimed, on the stream that it gets.
    unsafe { call.queue_in_place(stream, host, &multiply) }
}
