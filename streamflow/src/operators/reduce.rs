//! `Reduce`: sums and means of rows.

use std::marker::PhantomData;

use crate::context::ExecutionContext;
use crate::error::failure::{Failure, Result};
use crate::kernel::reductions::{Mean, Sum};
use crate::memory::Tensor;
use crate::operator::Compute;
use streamflow_macros::operator;

use sealed::Summed;

/// Adds the elements of each row, of type `f32` or `f64`, by [`reduce_axis`](crate::CudaStream::reduce_axis). The input has the
/// shape `[m, n]`, and the result `[m]`.
#[operator(no_new, unlisted)]
pub struct Reduce<T: Summed> {
    /// A matrix of the shape `[m, n]`. The elements of each row are added.
    #[input]
    rows: &Tensor<T>,
    /// The sum or the mean of each row, of the shape `[m]`.
    #[output]
    sums: Tensor<T>,
    is_mean: bool,
    columns: usize,
    of: PhantomData<fn() -> T>,
}

mod sealed {
    use crate::kernel::reduce::library::Reducible;

    /// The elements that [`Reduce`](super::Reduce) adds: `f32` or `f64`.
    #[diagnostic::on_unimplemented(message = "`Reduce` adds `f32` or `f64`, and not `{Self}`")]
    pub trait Summed: Reducible<Sum = Self, Mean = Self> {}
}

impl Summed for f32 {}
impl Summed for f64 {}

impl<T: Summed> Reduce<T> {
    /// Creates an operator that computes the sum of each row. All rows must have this many columns.
    pub fn sum(columns: usize) -> Self {
        Self { is_mean: false, columns, of: PhantomData }
    }

    /// Creates an operator that computes the mean of each row. All rows must have this many columns, at least one.
    pub fn mean(columns: usize) -> Self {
        Self { is_mean: true, columns, of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Summed> Compute for Reduce<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (rows, stream) = io.rows.receive().receive_cuda_stream(cx)?;
        let count = match rows.shape() {
            &[count, columns] if columns == self.columns => count,
            shape => return Err(other_shape(self.columns, shape)),
        };
        let mut sums = cx.tensor([count], &stream)?;
        match self.is_mean {
            true => stream.reduce_axis::<Mean<T>>(&mut sums, rows, 1)?,
            false => stream.reduce_axis::<Sum<T>>(&mut sums, rows, 1)?,
        }
        io.sums.emit(sums)
    }
}

#[cold]
fn other_shape(columns: usize, shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Reduce` adds rows of {columns} columns, and received a tensor of the shape {shape:?}; send matrices with \
         that many columns, or make it for another number of them"
    ))
}
