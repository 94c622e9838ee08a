//! The memory for the singular vectors of a batch. The library computes more vectors than the matrices have singular values.

use super::Real;
use super::kernels::{leading_columns, warm_up};
use super::taken::Matrices;
use crate::error::{Result, wrong_operand};
use crate::ffi::cusolver::Dense;
use streamflow::CudaStream;
use streamflow::library::HostBody;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Tensor};
use streamflow::{ExecutionContext, Stream};

/// The largest number of rows and of columns that `gesvdjBatched` takes.
const LONGEST: usize = 32;

/// The memory into which the library writes the vectors of matrices of `rows` by `columns`.
///
/// cuSOLVER reads each matrix as its transpose, so its left vectors are the right vectors here. The columns that it writes are
/// rows here.
#[derive(Debug)]
pub(super) struct BatchVectors<T: Real> {
    rows: usize,
    columns: usize,
    count: usize,
    /// The left vectors, `[count, rows, rows]`: each row is a vector.
    left: Buffer<T>,
    /// The right vectors, `[count, columns, columns]`: each row is a vector. The tensor exists only for matrices with fewer rows
    /// than columns, since only the first `rows` of its vectors belong to the result.
    right: Option<Tensor<T>>,
}

impl<T: Real> BatchVectors<T> {
    /// Checks that the library takes matrices of these sizes.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand).
    pub(super) fn check(call: &'static str, rows: usize, columns: usize) -> Result<()> {
        if rows.max(columns) <= LONGEST {
            return Ok(());
        }
        let problem = format!(
            "has {rows} rows and {columns} columns, but cuSOLVER takes at most {LONGEST} of each in a batch; make a plan \
             without `batch`, and execute it for each matrix"
        );
        Err(wrong_operand(call, "plan", problem))
    }

    /// Allocates the memory for `count` matrices, and compiles the kernels, so that a missing compiler is an error of `start`.
    pub(super) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        rows: usize,
        columns: usize,
        count: usize,
    ) -> Result<Self> {
        let right =
            (rows < columns).then(|| cx.tensor([count, columns, columns], stream)).transpose()?;
        let made =
            Self { rows, columns, count, left: cx.buffer(count * rows * rows, stream)?, right };
        made.matrices().warm_up::<T>(cx, stream)?;
        warm_up(cx, stream, |out, zero| stream.launch::<leading_columns<T>>(1, (out, zero, 1, 1)))?;
        Ok(made)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn matrices(&self) -> Matrices {
        let Self { rows, columns, count, .. } = *self;
        Matrices { count, rows, columns, is_lower: false }
    }

    /// Finds the singular values of the matrices in `copy`. There is at least one matrix.
    #[track_caller]
    pub(super) fn execute(
        &mut self,
        dense: &mut Dense,
        stream: &CudaStream,
        body: &HostBody,
        copy: &mut DeviceSlice<T>,
        (u, s, vt): (&mut Tensor<T>, &mut Tensor<T>, &mut Tensor<T>),
        statuses: &mut DeviceSlice<i32>,
    ) -> Result<()> {
        let (m, n, k) = (self.rows, self.columns, self.rows.min(self.columns));
        let (lengths, left) = ((n, m, self.count), &mut self.left);
        if let Some(right) = &mut self.right {
            dense.gesvdj_batched(stream, body, lengths, copy, s, right, left, statuses)?;
            let Some(first) = right.view().slice(1, 0..k) else {
                unreachable!("there are fewer rows than columns")
            };
            stream.copy(&first, vt)?;
        } else {
            dense.gesvdj_batched(stream, body, lengths, copy, s, vt, left, statuses)?;
        }
        stream.launch::<leading_columns<T>>(u.len(), (u, &self.left, m, k))
    }
}
