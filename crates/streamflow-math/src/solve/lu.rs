//! The solver `Lu`, for systems of equations with any square matrix.

use super::Factor;
use super::common::Common;
use super::host::bodies;
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::sizes::Sizes;
use super::system::System;
use super::system::sealed::Solves;
use crate::error::Result;
use crate::ffi::cublas::Handle;
use crate::ffi::cusolver::{Batch, Dense, Need};
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::Lu";

/// Solves systems of equations with a square matrix, by LU with partial pivoting: cuSOLVER's `getrf` and `getrs`, or
/// cuBLAS's `getrfBatched` and `getrsBatched` for a batch.
///
/// The matrix is in rows, and the library reads it as columns, transposed. So pivots are chosen within rows, and a singular
/// matrix is found at the first *row* that depends on the rows before it: [`Error::Unsolvable`](crate::Error::Unsolvable) names
/// that row. A NaN in the matrix is an error too, with its row.
///
/// ```
/// use streamflow_math::Plan;
/// use streamflow_math::solve::{Checked, CheckedDownload, Lu};
/// use streamflow::prelude::*;
///
/// /// Solves `A x = b` for the matrix and the right-hand side of each tick.
/// #[operator]
/// struct Solve {
///     #[input] a: &Tensor<f64>,
///     #[input] b: &Tensor<f64>,
///     #[output] x: CheckedDownload<f64>,
///     plan: Option<Plan<Lu<f64>>>,
/// }
///
/// impl Compute for Solve {
///     fn start(&mut self, _: SolveStreams<'_>, cx: &ExecutionContext) -> Result<()> {
///         self.plan = Some(Lu::plan(3).on(cx, &cx.internal_stream()?)?);
///         Ok(())
///     }
///
///     fn compute(&mut self, io: SolveIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (a, _) = io.a.receive().receive_cuda_stream(cx)?;
///         let (b, stream) = io.b.receive().receive_cuda_stream(cx)?;
///         let mut x = Checked::new(cx.tensor([3], &stream)?, cx, &stream)?;
///         if let Some(plan) = &mut self.plan {
///             plan.solve(&stream, a, b, &mut x)?;
///         }
///         // The consumer gets the error of a singular matrix where it reads the solution.
///         io.x.emit(x.download(&stream)?)
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Lu<T: Factor> {
    common: Common,
    factors: Factors<T>,
}

#[derive(Debug)]
enum Factors<T: Factor> {
    One { dense: Dense, matrix: Buffer<T>, pivots: Buffer<i64> },
    Batch { blas: Handle, matrices: Batch<T>, sides: Batch<T>, pivots: Buffer<i32> },
}

impl<T: Factor> Lu<T> {
    /// Begins a plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }
}

impl<T: Factor> Planner<Lu<T>> {
    /// Plans for `k` right-hand sides at a time, one in each row of `b` and `x`. Without this call, `b` and `x` are one
    /// vector each.
    pub fn right_hand_sides(self, k: usize) -> Self {
        Self { sides: Some(k), ..self }
    }

    /// Plans for `count` matrices at a time, each with one right-hand side: cuBLAS's `getrfBatched`, a routine for many small
    /// matrices. On a GPU such a plan keeps the work area that cuBLAS's documentation advises: 32 MiB from compute capability
    /// 9.0 on, and 4 MiB before.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Factor> Made for Lu<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, sizes) = (planner.rows, Sizes::of(planner));
        sizes.check(CALL)?;
        let (factors, bodies) = match sizes.batch {
            Some(count) if !sizes.is_empty() => {
                let blas = Handle::with_work_area(cx, stream)?;
                let (matrices, sides) =
                    (Batch::new(cx, stream, count, n * n)?, Batch::new(cx, stream, count, n)?);
                let pivots = cx.buffer(n * count, stream)?;
                let factors = Factors::Batch { blas, matrices, sides, pivots };
                (factors, [bodies::getrf_batched::<T>(n), bodies::getrs_batched::<T>(n)])
            }
            _ => {
                let need = (!sizes.is_empty()).then_some(Need::Lu { n });
                let dense = Dense::new::<T>(cx, stream, need.as_slice())?;
                let elements = n * n * sizes.matrices();
                let (matrix, pivots) = (cx.buffer(elements, stream)?, cx.buffer(n, stream)?);
                let factors = Factors::One { dense, matrix, pivots };
                (factors, [bodies::getrf::<T>(n), bodies::getrs::<T>(n)])
            }
        };
        Ok(Self { common: Common::new::<T>(cx, stream, sizes, bodies, false)?, factors })
    }
}

impl<T: Factor> System for Lu<T> {}

impl<T: Factor> Solves for Lu<T> {
    type Element = T;

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn origin(&self) -> Origin {
        Origin { call: CALL, finds: Finds::DependentRow, marks: true }
    }

    #[track_caller]
    fn factor_copy(
        &mut self,
        stream: &CudaStream,
        a: &DeviceSlice<T>,
        statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let taken = self.common.matrices();
        let Common { sizes, statuses: kept, factor, .. } = &mut self.common;
        let (n, statuses) = (sizes.n, statuses.unwrap_or(kept));
        match &mut self.factors {
            Factors::One { dense, matrix, pivots } => {
                taken.take(stream, a, matrix, statuses)?;
                if sizes.is_empty() {
                    return Ok(());
                }
                dense.getrf(stream, factor, n, matrix, pivots, statuses)
            }
            Factors::Batch { blas, matrices, pivots, .. } => {
                taken.take(stream, a, matrices.items_mut(), statuses)?;
                blas.getrf_batched(stream, factor, n, matrices, pivots, statuses)
            }
        }
    }

    #[track_caller]
    fn solve_copy(
        &mut self,
        stream: &CudaStream,
        b: &DeviceSlice<T>,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        if x.is_empty() {
            return Ok(());
        }
        let Common { sizes, solved, solve, .. } = &mut self.common;
        match &mut self.factors {
            Factors::One { dense, matrix, pivots } => {
                stream.copy(b, x)?;
                dense.getrs(stream, solve, (sizes.n, sizes.sides()), matrix, pivots, x, solved)
            }
            Factors::Batch { blas, matrices, sides, pivots } => {
                stream.copy(b, sides.items_mut())?;
                blas.getrs_batched(stream, solve, sizes.n, matrices, pivots, sides)?;
                stream.copy(sides.items(), x)
            }
        }
    }
}
