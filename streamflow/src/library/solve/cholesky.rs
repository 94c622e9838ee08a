//! Symmetric positive definite matrices.

use super::host::bodies;
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::system::sealed::Solves;
use super::system::{Sizes, System};
use super::taken::Matrices;
use super::{Checked, Factor, Real, layout};
use crate::context::{ExecutionContext, Stream};
use crate::error::{Error, Result};
use crate::library::ffi::cusolver::{Batch, Dense, Need};
use crate::library::{HostBody, Plan};
use crate::memory::{Buffer, DeviceSlice, Tensor};
use crate::stream::CudaStream;

/// The name in messages.
const CALL: &str = "solve::Cholesky";

/// Factors symmetric positive definite matrices, `A = L transpose(L)`, and solves systems with them: cuSOLVER's `potrf`
/// and `potrs`.
///
/// Only the lower triangle of a matrix is read. A matrix that is not positive definite is an error of the result's
/// [check](Checked), with the row at which that was found.
#[derive(Debug)]
pub struct Cholesky<T: Real> {
    sizes: Sizes,
    dense: Dense,
    /// The matrices, and for a batch the right-hand sides, too.
    factors: Factors<T>,
    /// Of matrices that are kept.
    statuses: Buffer<i32>,
    /// What the solution itself reports: wrong arguments, which the call reports, too.
    solved: Buffer<i32>,
    factor: HostBody,
    solve: HostBody,
}

#[derive(Debug)]
enum Factors<T: Factor> {
    One(Buffer<T>),
    Batch { matrices: Batch<T>, sides: Batch<T> },
}

impl<T: Factor> Factors<T> {
    fn matrices(&mut self) -> &mut DeviceSlice<T> {
        match self {
            Self::One(matrix) => matrix,
            Self::Batch { matrices, .. } => matrices.items_mut(),
        }
    }
}

impl<T: Real> Cholesky<T> {
    /// A plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }
}

impl<T: Real> Planner<Cholesky<T>> {
    /// For `k` right-hand sides at a time, one in each row of `b` and `x`. Without this call they are one vector.
    pub fn right_hand_sides(self, k: usize) -> Self {
        Self { sides: Some(k), ..self }
    }

    /// For `count` matrices at a time, each with one right-hand side: cuSOLVER's `potrfBatched`, which is for many
    /// small matrices.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Real> Plan<Cholesky<T>> {
    /// Factors matrices in their place, without a copy: `a` then has `L` on and below its diagonal, and above it what it
    /// had. Allocates nothing. `a` is `[n, n]`, or `[m, n, n]` in a batch.
    ///
    /// # Errors
    /// [`Error::OtherStream`]; [`Error::Operand`] for another shape; the library's; the driver's.
    pub fn factor_in_place(
        &mut self,
        stream: &Stream<'_>,
        a: &mut Checked<Tensor<T>>,
    ) -> Result<()> {
        self.lend(stream)?.factor_in_place(stream, a)
    }
}

impl<T: Real> Cholesky<T> {
    /// `Plan::factor_in_place`, on the plan's stream.
    pub(super) fn factor_in_place(
        &mut self,
        stream: &CudaStream,
        a: &mut Checked<Tensor<T>>,
    ) -> Result<()> {
        self.sizes.check_matrix(CALL, a.on_device().shape())?;
        self.sizes.check_statuses(CALL, "a", a.matrices())?;
        let (matrices, statuses) = a.parts_mut();
        if self.sizes.is_empty() {
            stream.fill_bytes(statuses, 0)?;
        } else if let Factors::One(_) = self.factors {
            self.dense.potrf(stream, &self.factor, self.sizes.n, matrices, statuses)?;
        } else {
            // The pointers of the batch are those of the plan's memory.
            stream.copy(&**matrices, self.factors.matrices())?;
            self.factor_own(stream, Some(statuses))?;
            stream.copy(self.factors.matrices(), &mut **matrices)?;
        }
        // No mark is made: the matrix is not copied. A NaN stays in it.
        a.computed(Origin { marks: false, ..self.origin() });
        Ok(())
    }

    /// Factors the matrices that the plan has a copy of.
    fn factor_own(
        &mut self,
        stream: &CudaStream,
        statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let (n, body) = (self.sizes.n, &self.factor);
        let statuses = statuses.unwrap_or(&mut self.statuses);
        match &mut self.factors {
            Factors::One(matrix) => self.dense.potrf(stream, body, n, matrix, statuses),
            Factors::Batch { matrices, .. } => {
                self.dense.potrf_batched(stream, body, n, matrices, statuses)
            }
        }
    }
}

impl<T: Real> Made for Cholesky<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, sizes) = (planner.rows, Sizes::of(planner));
        if let (Some(batch), Some(sides)) = (sizes.batch, sizes.sides) {
            let problem = format!(
                "has a batch of {batch} and {sides} right-hand sides, but in a batch each matrix has one: leave \
                 `right_hand_sides` out, or `batch`"
            );
            return Err(Error::Operand { call: CALL, argument: "plan", problem });
        }
        layout::fits(CALL, &[sizes.matrices(), n, n])?;
        layout::fits(CALL, &[sizes.sides(), n])?;
        let (need, factors, factor, solve) = match sizes.batch {
            Some(batch) if !sizes.is_empty() => {
                let matrices = Batch::new(cx, stream, batch, n * n)?;
                let factors = Factors::Batch { matrices, sides: Batch::new(cx, stream, batch, n)? };
                (None, factors, bodies::potrf_batched::<T>(n), bodies::potrs_batched::<T>(n))
            }
            _ => {
                let need = (!sizes.is_empty()).then_some(Need::Cholesky { n });
                let factors = Factors::One(cx.buffer(n * n * sizes.matrices(), stream)?);
                (need, factors, bodies::potrf::<T>(n), bodies::potrs::<T>(n))
            }
        };
        let made = Self {
            dense: Dense::new::<T>(cx, stream, need.as_slice())?,
            factors,
            statuses: cx.buffer(2 * sizes.matrices(), stream)?,
            solved: cx.buffer(1, stream)?,
            factor,
            solve,
            sizes,
        };
        Matrices::of(&made.sizes, true).warm_up::<T>(cx, stream)?;
        Ok(made)
    }
}

impl<T: Real> System for Cholesky<T> {}

impl<T: Real> Solves for Cholesky<T> {
    type Element = T;

    fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn origin(&self) -> Origin {
        Origin { call: CALL, finds: Finds::NotPositive, marks: true }
    }

    fn factor_copy(
        &mut self,
        stream: &CudaStream,
        a: &DeviceSlice<T>,
        mut statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let taken = statuses.as_deref_mut().unwrap_or(&mut self.statuses);
        Matrices::of(&self.sizes, true).take(stream, a, self.factors.matrices(), taken)?;
        if self.sizes.is_empty() { Ok(()) } else { self.factor_own(stream, statuses) }
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
        let (n, body, solved) = (self.sizes.n, &self.solve, &mut self.solved);
        match &mut self.factors {
            Factors::One(matrix) => {
                stream.copy(b, x)?;
                self.dense.potrs(stream, body, (n, self.sizes.sides()), matrix, x, solved)
            }
            Factors::Batch { matrices, sides } => {
                stream.copy(b, sides.items_mut())?;
                self.dense.potrs_batched(stream, body, n, matrices, sides, solved)?;
                stream.copy(sides.items(), x)
            }
        }
    }

    fn kept_statuses(&self) -> &Buffer<i32> {
        &self.statuses
    }
}
