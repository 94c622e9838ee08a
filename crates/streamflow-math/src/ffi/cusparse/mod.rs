//! cuSPARSE's products of a sparse matrix: a safe function to prepare a product, and one to queue it.

mod descriptors;
pub(crate) mod element;
mod table;

use self::descriptors::{Addresses, Descriptors, Factors, Product};
use self::element::SparseElement;
use self::table::NAME;
use super::no_handle;
use super::scalar::Scalar;
use crate::error::{Result, wrong_operand};
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::{Call, Claim, HostBody};
use streamflow::memory::{AfterWork, DeviceSlice};
use streamflow::{ExecutionContext, Stream};

/// The value of each byte that the simulator writes where cuSPARSE keeps its analysis of a matrix.
pub(crate) const PREPARED: u8 = 0x5a;

/// A sparse matrix in compressed rows, with checked indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, T: SparseElement> {
    pub(crate) shape: [usize; 2],
    pub(crate) offsets: &'a DeviceSlice<i32>,
    pub(crate) columns: &'a DeviceSlice<i32>,
    pub(crate) values: &'a DeviceSlice<T>,
    /// A number that no other matrix of the process has: what cuSPARSE prepares is for one matrix.
    pub(crate) number: u64,
}

/// A product with one sparse matrix. The work area holds the data that cuSPARSE has prepared for the matrix. On the
/// simulator there are no descriptors.
#[derive(Debug)]
pub(crate) struct Prepared {
    library: Option<AfterWork<Descriptors>>,
    /// The work area. Each call claims it as written, so that the calls execute one after the other.
    work: Buffer<u8>,
    /// The number of the matrix whose addresses are in the descriptor.
    matrix: u64,
    /// The numbers of elements of the dense operand and of the result.
    lengths: (usize, usize),
    accumulates: bool,
    function: &'static str,
}

impl Prepared {
    /// Prepares products with `a`, which must have elements. `right` is the number of columns of a dense matrix, or `None`
    /// for a vector.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; the driver's error, when memory is exhausted.
    pub(crate) fn new<T: SparseElement>(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        a: &Matrix<'_, T>,
        right: Option<usize>,
        accumulates: bool,
    ) -> Result<Self> {
        let [rows, columns] = a.shape;
        let product =
            Product { rows, columns, stored: a.values.len(), right, data_type: T::DATA_TYPE };
        let (mut library, mut bytes) = (None, 1);
        if !stream.device_info()?.is_simulated {
            let at = Addresses {
                offsets: stream.read_raw(a.offsets, |address| address)?,
                indices: stream.read_raw(a.columns, |address| address)?,
                values: stream.read_raw(a.values, |address| address)?,
            };
            // cuSPARSE makes a handle for the CUDA context that is current.
            let descriptors = stream.make_object(|stream| Descriptors::new(stream, product, at))?;
            bytes = with_factors::<T, _>(accumulates, |factors| descriptors.size(factors))
                .map_err(DriverError::from)?
                .max(1);
            library = Some(AfterWork::new(stream, descriptors)?);
        }
        let right = right.unwrap_or(1);
        let mut made = Self {
            library,
            work: cx.buffer(bytes, stream)?,
            matrix: a.number,
            lengths: (columns * right, rows * right),
            accumulates,
            function: if product.right.is_none() { "cusparseSpMV" } else { "cusparseSpMM" },
        };
        made.prepare(stream, a)?;
        Ok(made)
    }

    /// Queues cuSPARSE's preparation for the matrix, which reads the matrix's indices.
    fn prepare<T: SparseElement>(&mut self, stream: &CudaStream, a: &Matrix<'_, T>) -> Result<()> {
        let host = HostBody::new("cusparse preprocess", |operands| {
            let (_offsets, _columns) = (operands.read::<i32>(), operands.read::<i32>());
            let (_values, work) = (operands.read::<T>(), operands.write::<u8>());
            work.fill(PREPARED);
            Ok(())
        });
        let mut call = Call::on(stream, NAME, "cusparse preprocess");
        matrix(a).iter().for_each(|claim| call.claim(claim));
        let work = call.write("prepared", &mut self.work);
        let (library, accumulates) = (self.library.as_deref(), self.accumulates);
        let run = |_: RawStream| {
            let descriptors = library.ok_or_else(|| no_handle(NAME, "cusparse"))?;
            // SAFETY: the work area and the matrix are claimed; the work area is as long as the library requires.
            with_factors::<T, _>(accumulates, |factors| unsafe {
                descriptors.prepare(factors, work)
            })
        };
        // SAFETY: all memory that the function touches is claimed. The call is made once, and is not captured.
        unsafe { call.queue(stream, &host, run) }
    }

    /// Whether the products are prepared for this matrix.
    pub(crate) fn is_for<T: SparseElement>(&self, a: &Matrix<'_, T>) -> bool {
        self.matrix == a.number
    }

    /// Queues the product.
    #[track_caller]
    pub(crate) fn multiply<T: SparseElement>(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        a: &Matrix<'_, T>,
        operand: &DeviceSlice<T>,
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        // Memory safety depends on this check: the descriptor has the addresses of one matrix, and the lengths of its product.
        let fits = self.is_for(a) && (operand.len(), target.len()) == self.lengths;
        if !fits {
            let problem = "does not fit its plan".to_owned();
            return Err(wrong_operand(self.function, "operand", problem));
        }
        let name = self.function;
        let (descriptors, accumulates) = (self.library.as_deref(), self.accumulates);
        let operands = [
            Claim::read("operand", operand),
            Claim::write("target", target),
            Claim::write("prepared", &mut self.work),
        ];
        // cuSPARSE's documentation has "CUDA graph capture" among the optimizations of `cusparseSpMV` and of `cusparseSpMM`.
        let mut call = Call::on(stream, NAME, name).may_be_captured();
        matrix(a).iter().chain(&operands).for_each(|claim| call.claim(claim));
        let multiply = |stream: RawStream| {
            let descriptors = descriptors.ok_or_else(|| no_handle(NAME, name))?;
            let addresses = operands.map(|operand| operand.address());
            descriptors.on(stream, || {
                with_factors::<T, _>(accumulates, |factors| {
                    // SAFETY: all memory is claimed. The operands have the lengths of the product, and `new` has prepared the
                    // work area.
                    unsafe { descriptors.multiply(factors, addresses) }
                })
            })
        };
        // SAFETY: all memory that the function touches is claimed. The host body belongs to this product alone, and the
        // product to one matrix.
        unsafe { call.queue_in_place(stream, host, &multiply) }
    }
}

/// Returns the claims of a matrix's three arrays, as memory that the library reads.
#[inline(always)]
fn matrix<'a, T: SparseElement>(a: &Matrix<'a, T>) -> [Claim<'a>; 3] {
    [
        Claim::read("offsets", a.offsets),
        Claim::read("columns", a.columns),
        Claim::read("values", a.values),
    ]
}

/// Calls a function with pointers to the factors on the host: `alpha` is 1, and `beta` is 1 if the product accumulates, else 0.
#[inline(always)]
fn with_factors<T: SparseElement, R>(accumulates: bool, call: impl FnOnce(Factors) -> R) -> R {
    let (alpha, beta) = (T::ONE, if accumulates { T::ONE } else { T::ZERO });
    let (alpha, beta) = (Scalar::new(alpha), Scalar::new(beta));
    call(Factors { alpha: alpha.as_ptr(), beta: beta.as_ptr() })
}

#[cfg(all(test, not(loom)))]
mod tests {
    #[test]
    fn the_library_has_all_functions_or_its_error_says_what_to_install() {
        if let Err(missing) = super::table::CuSparse::get() {
            let text = missing.to_string();
            assert!(text.contains("cuSPARSE"), "{text}");
            let is_13 = !cfg!(all(
                any(feature = "cuda-12080", feature = "cuda-12090"),
                not(feature = "cuda-13000")
            ));
            let wheel = if is_13 { "nvidia-cusparse" } else { "nvidia-cusparse-cu12" };
            assert!(text.contains(&format!("`pip install {wheel}`")), "{text}");
        }
    }
}
