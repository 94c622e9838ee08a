//! The product that a plan is made for: sizes, and the layout of each matrix in memory.

use super::epilogue::Activation;
use crate::error::{Result, wrong_operand};
use streamflow::Element;
use streamflow::Error;
use streamflow::library::Claim;
use streamflow::memory::{DeviceSlice, Shape, TensorView};

/// The largest size, leading dimension and number of matrices that cuBLASLt takes in every algorithm.
const LARGEST: usize = i32::MAX as usize;

/// The alignment in bytes of a whole tensor, unless its memory is other code's. cuBLASLt assumes the same alignment.
pub(crate) const ALIGNMENT: u64 = 256;

/// The largest alignment in bytes that a bias must have: cuBLASLt loads at most this many bytes of a bias at once.
const BIAS_ALIGNMENT: u64 = 16;

/// A matrix in memory, or the matrices of a batch: rows of contiguous elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The matrix's name in messages.
    pub(crate) name: &'static str,
    /// The matrix's rows and columns, as they lie in memory.
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// The distance from one row to the next, in elements.
    pub(crate) leading: usize,
    /// The distance from one matrix to the next, in elements; `None` if there is one matrix for the whole batch, or no batch.
    pub(crate) apart: Option<usize>,
    /// Whether the product takes the matrix transposed.
    pub(crate) is_transposed: bool,
}

/// A product of matrices, with its sizes checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    /// The number of products; `None` for a single product.
    pub(crate) batch: Option<usize>,
    pub(crate) a: Stored,
    pub(crate) b: Stored,
    pub(crate) c: Stored,
    pub(crate) has_bias: bool,
    pub(crate) activation: Activation,
    pub(crate) is_tf32: bool,
    /// The alignment in bytes of each matrix.
    pub(crate) alignment: u64,
}

impl Problem {
    /// The number of products.
    pub(crate) fn products(&self) -> usize {
        self.batch.unwrap_or(1)
    }

    /// Whether the product has no elements to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.m == 0 || self.n == 0 || self.products() == 0
    }

    /// Checks the sizes and layouts that do not depend on operands.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand).
    pub(crate) fn check(&self, call: &'static str) -> Result<()> {
        let sizes = [("m", self.m), ("n", self.n), ("k", self.k), ("batch", self.products())];
        for (name, size) in sizes {
            at_most_largest(call, name, size)?;
        }
        if self.k == 0 {
            let problem =
                "is 0: then a product has no terms; fill `c` with zeros instead".to_owned();
            return Err(wrong_operand(call, "k", problem));
        }
        if !self.alignment.is_power_of_two() {
            let problem = format!("is {}, but an alignment is a power of two", self.alignment);
            return Err(wrong_operand(call, "alignment", problem));
        }
        for stored in [&self.a, &self.b, &self.c] {
            stored.check_layout(call, self.batch)?;
        }
        Ok(())
    }

    /// Checks the operands of a call.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand), with the layout that was passed, and the layout that the plan was
    /// made for.
    #[inline]
    pub(crate) fn check_operand<T: Element>(
        &self,
        call: &'static str,
        stored: &Stored,
        view: &TensorView<'_, T>,
    ) -> Result<()> {
        if !stored.fits(self.batch, view.shape(), view.strides()) {
            return Err(stored.other_layout(call, self.batch, view));
        }
        let address = Claim::read_view("", view).address();
        if address.is_multiple_of(self.alignment) || view.is_empty() {
            return Ok(());
        }
        Err(not_aligned(call, stored.name, address, self.alignment))
    }

    /// The shapes of `a`, `b` and `c`, if all of them have elements and no gaps.
    pub(crate) fn dense(&self) -> Option<[Shape; 3]> {
        let products = self.products();
        let shape = |stored: &Stored| {
            let is_dense = !self.is_empty() && stored.is_dense(products);
            is_dense.then(|| Shape::new(&stored.shape(self.batch)).ok()).flatten()
        };
        Some([shape(&self.a)?, shape(&self.b)?, shape(&self.c)?])
    }

    /// Whether each address is a multiple of the alignment, a power of two.
    #[inline]
    pub(crate) fn is_aligned(&self, addresses: [u64; 3]) -> bool {
        let bits = addresses.iter().fold(0, |bits, address| bits | address);
        bits & (self.alignment - 1) == 0
    }

    /// The alignment in bytes that the bias of a call must have.
    pub(crate) fn bias_alignment(&self) -> u64 {
        self.alignment.min(BIAS_ALIGNMENT)
    }

    /// Checks the bias of a call.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand).
    #[inline]
    pub(crate) fn check_bias<T: Element>(
        &self,
        call: &'static str,
        bias: &DeviceSlice<T>,
    ) -> Result<()> {
        if bias.len() != self.n {
            return Err(wrong_bias(call, bias.len(), self.n));
        }
        let address = Claim::read("bias", bias).address();
        if address.is_multiple_of(self.bias_alignment()) || bias.is_empty() {
            return Ok(());
        }
        Err(not_aligned(call, "bias", address, self.bias_alignment()))
    }
}

impl Stored {
    /// The number of elements from the first element of all products to the last, gaps included.
    pub(crate) fn span(&self, products: usize) -> usize {
        if self.rows == 0 || self.cols == 0 || products == 0 {
            return 0;
        }
        let before = self.apart.map_or(0, |apart| apart * (products - 1));
        before + (self.rows - 1) * self.leading + self.cols
    }

    /// The shape of the matrix's tensor.
    fn shape(&self, batch: Option<usize>) -> Vec<usize> {
        let batch = self.apart.and(batch);
        batch.into_iter().chain([self.rows, self.cols]).collect()
    }

    fn check_layout(&self, call: &'static str, batch: Option<usize>) -> Result<()> {
        let Self { name, rows, cols, leading, .. } = *self;
        at_most_largest(call, name, leading)?;
        let refused = |problem| Err(wrong_operand(call, name, problem));
        if leading < cols {
            return refused(format!(
                "has a leading dimension of {leading}, but its rows have {cols} elements; the leading dimension is at \
                 least that"
            ));
        }
        let Some(apart) = self.apart else { return Ok(()) };
        let is_empty = rows == 0 || cols == 0;
        let last = if is_empty { 0 } else { (rows - 1) * leading + cols };
        if name == "c" && apart < last {
            return refused(format!(
                "has {apart} elements from matrix to matrix, but each has {last}: the products would overlap"
            ));
        }
        let elements = apart.checked_mul(batch.unwrap_or(1).saturating_sub(1));
        if elements
            .and_then(|it| it.checked_add(last))
            .is_none_or(|it| it > isize::MAX as usize / 16)
        {
            return refused(format!(
                "has {apart} elements from matrix to matrix: no memory has as many"
            ));
        }
        Ok(())
    }

    /// Whether there are no gaps, neither between rows nor between matrices.
    pub(crate) fn is_dense(&self, products: usize) -> bool {
        let is_next = |apart| apart == self.rows * self.cols;
        (self.leading == self.cols || self.rows <= 1)
            && (products <= 1 || self.apart.is_none_or(is_next))
    }

    /// Whether the plan was made for a view of this shape and these strides. A dimension of one element may have any stride.
    fn fits(&self, batch: Option<usize>, shape: &[usize], strides: &[usize]) -> bool {
        let is_empty = shape.contains(&0);
        let is = |(wanted, apart): (usize, usize), (len, stride): (usize, usize)| {
            wanted == len && (len <= 1 || apart == stride || is_empty)
        };
        let matrix = |rows, leading, cols, one| {
            is((self.rows, self.leading), (rows, leading)) && is((self.cols, 1), (cols, one))
        };
        match (self.apart.zip(batch), shape, strides) {
            (None, &[rows, cols], &[leading, one]) => matrix(rows, leading, cols, one),
            (Some((apart, count)), &[first, rows, cols], &[stride, leading, one]) => {
                is((count, apart), (first, stride)) && matrix(rows, leading, cols, one)
            }
            _ => false,
        }
    }

    #[cold]
    fn other_layout<T: Element>(
        &self,
        call: &'static str,
        batch: Option<usize>,
        view: &TensorView<'_, T>,
    ) -> Error {
        let apart = self.apart.and(batch).and(self.apart);
        let strides: Vec<usize> = apart.into_iter().chain([self.leading, 1]).collect();
        let problem = format!(
            "has shape {:?} and strides {:?}, but the plan was made for {:?} and {strides:?}; make a plan for each layout",
            view.shape(),
            view.strides(),
            self.shape(batch),
        );
        wrong_operand(call, self.name, problem)
    }
}

fn at_most_largest(call: &'static str, argument: &'static str, size: usize) -> Result<()> {
    if size <= LARGEST {
        return Ok(());
    }
    let problem = format!("is {size}, but cuBLASLt takes at most {LARGEST}; divide the product");
    Err(wrong_operand(call, argument, problem))
}

#[cold]
fn not_aligned(call: &'static str, argument: &'static str, address: u64, needed: u64) -> Error {
    let found = 1_u64 << address.trailing_zeros();
    let problem = format!(
        "begins at a multiple of {found} bytes and not of {needed}, which the plan's algorithm may need; copy it into a \
         tensor of its own, or plan with `.alignment({found})`"
    );
    wrong_operand(call, argument, problem)
}

#[cold]
fn wrong_bias(call: &'static str, found: usize, n: usize) -> Error {
    let problem = format!(
        "has {found} elements, but the plan's `c` has {n} columns; there is one for each column"
    );
    wrong_operand(call, "bias", problem)
}
