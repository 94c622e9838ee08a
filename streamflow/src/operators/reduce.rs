//! Sums and means of rows.

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::library::Plan;
use crate::library::matmul::{Blas, BlasElement};
use crate::memory::Tensor;
use crate::operator::Compute;
use streamflow_macros::operator;

/// Adds the elements of each row: from `[m, n]` to `[m]`, as the product with a vector of ones, or of `1 / n` for means.
#[operator(no_new, unlisted)]
pub struct Reduce<T: BlasElement> {
    /// `[m, n]`.
    #[input]
    rows: &Tensor<T>,
    /// `[m]`.
    #[output]
    sums: Tensor<T>,
    factor: T,
    columns: usize,
    made: Option<Made<T>>,
}

/// The values that `start` makes.
#[derive(Debug)]
struct Made<T: BlasElement> {
    blas: Plan<Blas<T>>,
    ones: Tensor<T>,
}

impl<T: BlasElement> Reduce<T> {
    /// The sum of each row. All rows have this many columns.
    pub fn sum(columns: usize) -> Self {
        Self { factor: T::ONE, columns, made: None }
    }

    /// The mean of each row. All rows have this many columns, at least one.
    pub fn mean(columns: usize) -> Self {
        Self { factor: T::of(1.0 / columns as f64), columns, made: None }
    }
}

#[diagnostic::do_not_recommend]
impl<T: BlasElement> Compute for Reduce<T> {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        // More columns than the device has memory for are an error here, before the host is asked for as much.
        drop(cx.tensor::<T>([self.columns], &stream)?);
        let ones = cx.upload(&vec![self.factor; self.columns])?;
        self.made = Some(Made { blas: Blas::on(cx, &stream)?, ones });
        Ok(())
    }

    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (rows, stream) = io.rows.receive().receive_cuda_stream(cx)?;
        let mut sums = cx.tensor([rows.rows()], &stream)?;
        if let Some(Made { blas, ones }) = &mut self.made {
            blas.gemv(&stream, (T::ONE, rows, ones), (T::ZERO, &mut sums))?;
        }
        io.sums.emit(sums)
    }
}
