//! Systems of equations with any square matrix.

use super::host::bodies;
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::system::sealed::Solves;
use super::system::{Sizes, System};
use super::taken::Matrices;
use super::{Factor, layout};
use crate::context::{ExecutionContext, Stream};
use crate::error::Result;
use crate::library::HostBody;
use crate::library::ffi::cusolver::{Dense, Need};
use crate::memory::{Buffer, DeviceSlice};
use crate::stream::CudaStream;

/// The name in messages.
const CALL: &str = "solve::Lu";

/// Solves systems of equations with a square matrix, by LU with partial pivoting: cuSOLVER's `getrf` and `getrs`.
///
/// The matrix is in rows, and the library sees it in columns, transposed. So pivots are chosen within rows, and a matrix
/// is found to be singular at the first *row* that depends on the rows before it:
/// [`Error::Unsolvable`](crate::Error::Unsolvable) names that row. A NaN in the matrix is an error, too, with its row.
///
/// ```
/// use streamflow::library::Plan;
/// use streamflow::library::solve::{Checked, CheckedDownload, Lu};
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
    sizes: Sizes,
    dense: Dense,
    factors: Buffer<T>,
    pivots: Buffer<i64>,
    /// Of a matrix that is kept.
    statuses: Buffer<i32>,
    /// What the solution itself reports: wrong arguments, which the call reports, too.
    solved: Buffer<i32>,
    factor: HostBody,
    solve: HostBody,
}

impl<T: Factor> Lu<T> {
    /// A plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }
}

impl<T: Factor> Planner<Lu<T>> {
    /// For `k` right-hand sides at a time, one in each row of `b` and `x`. Without this call they are one vector.
    pub fn right_hand_sides(self, k: usize) -> Self {
        Self { sides: Some(k), ..self }
    }
}

impl<T: Factor> Made for Lu<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, sizes) = (planner.rows, Sizes::of(planner));
        layout::fits(CALL, &[n, n])?;
        layout::fits(CALL, &[sizes.sides(), n])?;
        let need = (!sizes.is_empty()).then_some(Need::Lu { n });
        let made = Self {
            dense: Dense::new::<T>(cx, stream, need.as_slice())?,
            factors: cx.buffer(n * n, stream)?,
            pivots: cx.buffer(n, stream)?,
            statuses: cx.buffer(2, stream)?,
            solved: cx.buffer(1, stream)?,
            factor: bodies::getrf::<T>(n),
            solve: bodies::getrs::<T>(n),
            sizes,
        };
        Matrices::of(&made.sizes, false).warm_up::<T>(cx, stream)?;
        Ok(made)
    }
}

impl<T: Factor> System for Lu<T> {}

impl<T: Factor> Solves for Lu<T> {
    type Element = T;

    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn origin(&self) -> Origin {
        Origin { call: CALL, finds: Finds::DependentRow, marks: true }
    }

    fn factor_copy(
        &mut self,
        stream: &CudaStream,
        a: &DeviceSlice<T>,
        statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let statuses = statuses.unwrap_or(&mut self.statuses);
        Matrices::of(&self.sizes, false).take(stream, a, &mut self.factors, statuses)?;
        if self.sizes.is_empty() {
            return Ok(());
        }
        let (n, factors) = (self.sizes.n, &mut self.factors);
        self.dense.getrf(stream, &self.factor, n, factors, &mut self.pivots, statuses)
    }

    fn solve_copy(
        &mut self,
        stream: &CudaStream,
        b: &DeviceSlice<T>,
        x: &mut DeviceSlice<T>,
    ) -> Result<()> {
        if x.is_empty() {
            return Ok(());
        }
        stream.copy(b, x)?;
        let (lengths, factors) = ((self.sizes.n, self.sizes.sides()), &self.factors);
        let (pivots, solved) = (&self.pivots, &mut self.solved);
        self.dense.getrs(stream, &self.solve, lengths, factors, pivots, x, solved)
    }

    fn kept_statuses(&self) -> &Buffer<i32> {
        &self.statuses
    }
}
