//! The plans `SpMv` and `SpMm`: products of a sparse matrix with vectors and with dense matrices.

use std::marker::PhantomData;

use super::host::{Rows, times_matrix, times_vector};
use super::{Csr, SparseElement};
use crate::Plan;
use crate::error::{Result, wrong_operand};
use crate::ffi::cusparse::{PREPARED, Prepared};
use streamflow::CudaStream;
use streamflow::Error;
use streamflow::Tensor;
use streamflow::library::Call;
use streamflow::library::HostBody;
use streamflow::{ExecutionContext, Stream};

/// The product of one sparse matrix with vectors, `y = A x`: cuSPARSE's `SpMV`.
///
/// A plan is for one [`Csr`], since the library prepares data for that matrix in the plan's work area. The values of the matrix
/// may change.
///
/// ```
/// use streamflow_math::Plan;
/// use streamflow_math::sparse::{Csr, SpMv};
/// use streamflow::prelude::*;
///
/// /// The differences between neighbours.
/// #[operator]
/// struct Differences {
///     #[input] x: &Tensor<f32>,
///     #[output] y: Tensor<f32>,
///     matrix: Option<(Csr<f32>, Plan<SpMv<f32>>)>,
/// }
///
/// impl Compute for Differences {
///     fn start(&mut self, _: DifferencesStreams<'_>, cx: &ExecutionContext) -> Result<()> {
///         let matrix =
///             Csr::upload(cx, [2, 3], &[0, 2, 4], &[0, 1, 1, 2], &[-1.0, 1.0, -1.0, 1.0])?;
///         let plan = SpMv::plan(&matrix).on(cx, &cx.internal_stream()?)?;
///         self.matrix = Some((matrix, plan));
///         Ok(())
///     }
///
///     fn compute(&mut self, io: DifferencesIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
///         let mut y = cx.tensor([2], &stream)?;
///         if let Some((matrix, plan)) = &mut self.matrix {
///             plan.execute(&stream, matrix, x, &mut y)?;
///         }
///         io.y.emit(y)
///     }
/// }
/// ```
#[derive(Debug)]
pub struct SpMv<T: SparseElement>(Product<T>);

/// The product of one sparse matrix with dense matrices, `C = A B`: cuSPARSE's `SpMM`. All dense matrices are stored in rows.
///
/// A plan is for one [`Csr`], as a plan of [`SpMv`] is.
#[derive(Debug)]
pub struct SpMm<T: SparseElement>(Product<T>);

impl<T: SparseElement> SpMv<T> {
    /// Begins a plan for products with this matrix.
    pub fn plan(a: &Csr<T>) -> ProductPlanner<'_, T, Self> {
        ProductPlanner { a, right: None, accumulates: false, make: Self }
    }
}

impl<T: SparseElement> SpMm<T> {
    /// Begins a plan for products of this matrix with dense matrices of `columns` columns.
    pub fn plan(a: &Csr<T>, columns: usize) -> ProductPlanner<'_, T, Self> {
        ProductPlanner { a, right: Some(columns), accumulates: false, make: Self }
    }
}

/// The options of a plan of [`SpMv`] or [`SpMm`]. [`on`](Self::on) makes the plan.
#[derive(Debug)]
#[must_use = "`on` makes the plan"]
pub struct ProductPlanner<'a, T: SparseElement, L> {
    a: &'a Csr<T>,
    right: Option<usize>,
    accumulates: bool,
    make: fn(Product<T>) -> L,
}

impl<T: SparseElement, L> ProductPlanner<'_, T, L> {
    /// Adds the product to the earlier content of the target, as in `y = A x + y`.
    pub fn accumulate(self) -> Self {
        Self { accumulates: true, ..self }
    }

    /// Makes the plan on a stream of the operator, and queues the library's preparation for the matrix. Call this in
    /// [`start`](streamflow::Compute::start).
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for a product that is too large; an error if the library is not
    /// there; the library's own error; the driver's error, when memory is exhausted.
    pub fn on(self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Plan<L>> {
        Ok(Plan::new(stream, self.make(cx, stream)?))
    }

    pub(super) fn make(self, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<L> {
        Ok((self.make)(Product::new(cx, stream, self.a, self.right, self.accumulates)?))
    }
}

/// A plan of products with one matrix.
#[derive(Debug)]
pub(super) struct Product<T: SparseElement> {
    call: &'static str,
    shape: [usize; 2],
    right: Option<usize>,
    accumulates: bool,
    /// The library's product. `None` if there is nothing to multiply.
    prepared: Option<Prepared>,
    /// The number of the matrix that the plan is for.
    number: u64,
    body: HostBody,
    element: PhantomData<fn() -> T>,
}

impl<T: SparseElement> Product<T> {
    fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        a: &Csr<T>,
        right: Option<usize>,
        accumulates: bool,
    ) -> Result<Self> {
        let (shape, call) =
            (a.shape(), if right.is_some() { "sparse::SpMm" } else { "sparse::SpMv" });
        let width = right.unwrap_or(1);
        let longest = shape[0].max(shape[1]).checked_mul(width);
        if longest.is_none_or(|elements| elements >= isize::MAX as usize / 16) {
            let problem =
                format!("has {width} columns, and {shape:?} times as many elements fit no memory");
            return Err(wrong_operand(call, "B", problem));
        }
        let is_empty = a.stored() == 0 || width == 0;
        let prepared = match is_empty {
            true => None,
            false => Some(Prepared::new(cx, stream, &a.matrix(), right, accumulates)?),
        };
        let body = body::<T>(right, accumulates);
        let (number, element) = (a.number(), PhantomData);
        Ok(Self { call, shape, right, accumulates, prepared, number, body, element })
    }

    #[track_caller]
    pub(super) fn execute(
        &mut self,
        stream: &CudaStream,
        a: &Csr<T>,
        operand: &Tensor<T>,
        target: &mut Tensor<T>,
    ) -> Result<()> {
        let [rows, columns] = self.shape;
        if self.number != a.number() {
            return Err(self.other_matrix());
        }
        let (operand_name, target_name) =
            if self.right.is_some() { ("B", "C") } else { ("x", "y") };
        self.check(operand_name, operand.shape(), columns)?;
        self.check(target_name, target.shape(), rows)?;
        Call::begins(target, self.accumulates)?;
        match &mut self.prepared {
            Some(prepared) => prepared.multiply(stream, &self.body, &a.matrix(), operand, target),
            None if self.accumulates => Ok(()),
            None => stream.fill_bytes(target, 0),
        }
    }

    fn check(&self, argument: &'static str, shape: &[usize], length: usize) -> Result<()> {
        let fits = match self.right {
            None => shape == [length],
            Some(right) => shape == [length, right],
        };
        if fits { Ok(()) } else { Err(self.other_shape(argument, shape, length)) }
    }

    #[cold]
    fn other_shape(&self, argument: &'static str, shape: &[usize], length: usize) -> Error {
        let needed = [length, self.right.unwrap_or_default()];
        let needed = if self.right.is_some() { &needed[..] } else { &needed[..1] };
        let problem = format!(
            "has shape {shape:?}, but the plan was made for {needed:?}; make a plan for each shape"
        );
        wrong_operand(self.call, argument, problem)
    }

    #[cold]
    fn other_matrix(&self) -> Error {
        let problem =
            "is not the matrix that the plan was made for; make a plan for each matrix".to_owned();
        wrong_operand(self.call, "a", problem)
    }
}

fn body<T: SparseElement>(right: Option<usize>, accumulates: bool) -> HostBody {
    let function = if right.is_some() { "cusparseSpMM" } else { "cusparseSpMV" };
    HostBody::new(function, move |it| {
        let (offsets, columns) = (it.read::<i32>(), it.read::<i32>());
        let a = Rows { offsets, columns, values: it.read::<T>() };
        let (operand, target, prepared) = (it.read::<T>(), it.write::<T>(), it.write::<u8>());
        if prepared.iter().any(|&byte| byte != PREPARED) {
            return Err("the matrix was not prepared".into());
        }
        match right {
            None => times_vector(&a, operand, target, accumulates),
            Some(right) => times_matrix(&a, operand, target, right, accumulates),
        }
        Ok(())
    })
}

impl<T: SparseElement> SpMv<T> {
    pub(super) fn product(&mut self) -> &mut Product<T> {
        &mut self.0
    }
}

impl<T: SparseElement> SpMm<T> {
    pub(super) fn product(&mut self) -> &mut Product<T> {
        &mut self.0
    }
}

impl<T: SparseElement> Plan<SpMv<T>> {
    /// Queues `y = A x`, for a matrix of `[m, n]`, `x` of `[n]` and `y` of `[m]`. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for
    /// another matrix or other shapes; the library's error; the driver's error.
    #[track_caller]
    pub fn execute(
        &mut self,
        stream: &Stream<'_>,
        a: &Csr<T>,
        x: &Tensor<T>,
        y: &mut Tensor<T>,
    ) -> Result<()> {
        let SpMv(product) = Call::written(self.lend(stream), y)?;
        Call::written(product.execute(stream, a, x, y), y)
    }
}

impl<T: SparseElement> Plan<SpMm<T>> {
    /// Queues `C = A B`, for a matrix of `[m, n]`, `B` of `[n, k]` and `C` of `[m, k]`. Allocates nothing.
    ///
    /// # Errors
    /// The errors of the same method of a plan of [`SpMv`].
    #[track_caller]
    pub fn execute(
        &mut self,
        stream: &Stream<'_>,
        a: &Csr<T>,
        b: &Tensor<T>,
        c: &mut Tensor<T>,
    ) -> Result<()> {
        let SpMm(product) = Call::written(self.lend(stream), c)?;
        Call::written(product.execute(stream, a, b, c), c)
    }
}
