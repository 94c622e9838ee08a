//! `Reduce`: sums and means of rows.

use std::ops::{AddAssign, Mul};

use crate::context::ExecutionContext;
use crate::error::failure::{Failure, Result};
use crate::kernel;
use crate::kernel::Grid;
use crate::memory::{Element, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

use sealed::Summed;

/// Adds the elements of each row, of type `f32` or `f64`. The input has the shape `[m, n]`, and the result `[m]`.
#[operator(no_new, unlisted)]
pub struct Reduce<T: Summed> {
    /// A matrix of the shape `[m, n]`. The elements of each row are added.
    #[input]
    rows: &Tensor<T>,
    /// The sum or the mean of each row, of the shape `[m]`.
    #[output]
    sums: Tensor<T>,
    factor: T,
    columns: usize,
}

mod sealed {
    use super::{AddAssign, Element, Mul};

    /// The elements that [`Reduce`](super::Reduce) adds: `f32` or `f64`.
    #[diagnostic::on_unimplemented(message = "`Reduce` adds `f32` or `f64`, and not `{Self}`")]
    pub trait Summed: Element + AddAssign + Mul<Output = Self> {
        /// Returns the number of this type that is nearest to `number`.
        fn of(number: f64) -> Self;
    }
}

impl Summed for f32 {
    fn of(number: f64) -> Self {
        number as Self
    }
}

impl Summed for f64 {
    fn of(number: f64) -> Self {
        number
    }
}

impl<T: Summed> Reduce<T> {
    /// Creates an operator that computes the sum of each row. All rows must have this many columns.
    pub fn sum(columns: usize) -> Self {
        Self { factor: T::of(1.0), columns }
    }

    /// Creates an operator that computes the mean of each row. All rows must have this many columns, at least one.
    pub fn mean(columns: usize) -> Self {
        Self { factor: T::of(1.0 / columns as f64), columns }
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
        let grid = Grid::blocks(count).threads(LANES);
        stream.launch::<sum_rows<T>>(grid, (&mut sums, rows, self.columns, self.factor))?;
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

/// The number of partial sums of a row, which lanes add. The CUDA body has the same number.
const LANES: usize = 256;

/// The kernel `sums[i] = factor Σ rows[i, j]`, over the columns j. One block adds each row.
///
/// Both bodies, CUDA and Rust, add a row in 256 lanes and then add the lanes pairwise, so that they round in the same places.
#[kernel(
    instances(f32, f64),
    threads(256),
    requires(sums.len().checked_mul(columns) == Some(rows.len())),
    unsafe cuda = "
    // There are 256 lanes for any block size: a thread takes every blockDim.x-th lane.
    __shared__ T lanes[256];
    if (blockIdx.x >= sums_len) return;
    unsigned long long first = (unsigned long long)blockIdx.x * columns;
    for (unsigned int lane = threadIdx.x; lane < 256; lane += blockDim.x) {
        T sum = 0;
        for (unsigned long long j = lane; j < columns; j += 256) sum += rows[first + j];
        lanes[lane] = sum;
    }
    for (unsigned int half_way = 128; half_way > 0; half_way /= 2) {
        __syncthreads();
        for (unsigned int lane = threadIdx.x; lane < half_way; lane += blockDim.x) {
            lanes[lane] += lanes[lane + half_way];
        }
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = lanes[0] * factor;
"
)]
pub fn sum_rows<T: Summed>(sums: &mut [T], rows: &[T], columns: usize, factor: T) {
    sums.fill(T::of(0.0));
    for (sum, row) in sums.iter_mut().zip(rows.chunks(columns.max(1))) {
        let mut lanes = [T::of(0.0); LANES];
        for part in row.chunks(LANES) {
            lanes.iter_mut().zip(part).for_each(|(lane, &value)| *lane += value);
        }
        let mut half = LANES / 2;
        while half > 0 {
            let (low, high) = lanes.split_at_mut(half);
            low.iter_mut().zip(high).for_each(|(low, &mut high)| *low += high);
            half /= 2;
        }
        *sum = lanes[0] * factor;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::sum_rows;
    use crate::kernel::grid::Grid;
    use crate::{Platform, device};

    /// With this number of columns, the product of rows and columns wraps to 0, which is the number of elements in `rows`.
    #[test]
    fn more_columns_than_memory_are_refused() {
        let platform = Platform::builder().host().unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        let mut sums = platform.buffer::<f32>(2, &stream).unwrap();
        let rows = platform.buffer::<f32>(0, &stream).unwrap();
        let grid = Grid::blocks(2).threads(256);
        let refused = stream.launch::<sum_rows<f32>>(grid, (&mut sums, &rows, 1 << 63, 1.0));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("checked_mul"), "{text}");
    }
}
