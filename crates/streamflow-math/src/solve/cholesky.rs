//! The solver `Cholesky`, for symmetric positive definite matrices.

use super::common::Common;
use super::host::bodies;
use super::kernels::{copy_lower, warm_up};
use super::outcome::{Finds, Origin};
use super::planner::Planner;
use super::planner::sealed::Made;
use super::sizes::Sizes;
use super::system::System;
use super::system::sealed::Solves;
use super::{Checked, Factor, Real};
use crate::Plan;
use crate::error::Result;
use crate::ffi::cusolver::{Batch, Dense, Need};
use streamflow::CudaStream;
use streamflow::library::Call;
use streamflow::memory::DeviceSlice;
use streamflow::{Buffer, Tensor};
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::Cholesky";

/// Factors symmetric positive definite matrices, `A = L transpose(L)`, and solves systems with them: cuSOLVER's `potrf`
/// and `potrs`.
///
/// Only the lower triangle of a matrix is read. A matrix that is not positive definite is an error of the result's
/// [check](Checked), with the row at which that was found.
#[derive(Debug)]
pub struct Cholesky<T: Real> {
    common: Common,
    dense: Dense,
    /// The copies of the matrices, and for a batch also the right-hand sides.
    factors: Factors<T>,
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
    /// Begins a plan for matrices of `n` rows.
    pub fn plan(n: usize) -> Planner<Self> {
        Planner::new(n, n)
    }
}

impl<T: Real> Planner<Cholesky<T>> {
    /// Plans for `k` right-hand sides at a time, one in each row of `b` and `x`. Without this call, `b` and `x` are one vector
    /// each.
    pub fn right_hand_sides(self, k: usize) -> Self {
        Self { sides: Some(k), ..self }
    }

    /// Plans for `count` matrices at a time, each with one right-hand side: cuSOLVER's `potrfBatched`, a routine for many small
    /// matrices.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }
}

impl<T: Real> Plan<Cholesky<T>> {
    /// Factors matrices in their memory, without a copy. Afterwards `a` has `L` on and below its diagonal, and its earlier
    /// elements above. Allocates nothing. `a` is `[n, n]`, or `[m, n, n]` in a batch.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another shape; the
    /// library's error; the driver's error.
    #[track_caller]
    pub fn factor_in_place(
        &mut self,
        stream: &Stream<'_>,
        a: &mut Checked<Tensor<T>>,
    ) -> Result<()> {
        let solver = Call::written(self.lend(stream), a)?;
        Call::written(solver.factor_in_place(stream, a), a)
    }
}

impl<T: Real> Cholesky<T> {
    /// Does the work of `Plan::factor_in_place`, on the plan's stream.
    #[track_caller]
    pub(super) fn factor_in_place(
        &mut self,
        stream: &CudaStream,
        a: &mut Checked<Tensor<T>>,
    ) -> Result<()> {
        self.common.sizes.check_matrix(CALL, a.on_device().shape())?;
        self.common.sizes.check_statuses(CALL, "a", a.matrices())?;
        Call::needs(a.on_device())?;
        let (matrices, statuses) = a.parts_mut();
        if self.common.sizes.is_empty() {
            stream.fill_bytes(statuses, 0)?;
        } else if let Factors::One(_) = self.factors {
            let Common { sizes, factor, .. } = &self.common;
            self.dense.potrf(stream, factor, sizes.n, matrices, statuses)?;
        } else {
            // The pointers of a batch point to the plan's memory, so the matrices are copied there. cuSOLVER overwrites the
            // elements above the diagonals in that memory, so only the lower triangles are copied back.
            stream.copy(&**matrices, self.factors.matrices())?;
            self.factor_own(stream, Some(statuses))?;
            let factors = &*self.factors.matrices();
            stream.launch::<copy_lower<T>>(
                factors.len(),
                (&mut **matrices, factors, self.common.sizes.n),
            )?;
        }
        // The call makes no marks, since it does not copy the matrix with the kernel that looks for NaNs. A NaN stays in the
        // matrix.
        a.computed(Origin { marks: false, ..self.origin() });
        Ok(())
    }

    /// Factors the plan's copies of the matrices.
    #[track_caller]
    fn factor_own(
        &mut self,
        stream: &CudaStream,
        statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let Common { sizes, statuses: kept, factor, .. } = &mut self.common;
        let (dense, n, statuses) = (&mut self.dense, sizes.n, statuses.unwrap_or(kept));
        match &mut self.factors {
            Factors::One(matrix) => dense.potrf(stream, factor, n, matrix, statuses),
            Factors::Batch { matrices, .. } => {
                dense.potrf_batched(stream, factor, (n, sizes.matrices()), matrices, statuses)
            }
        }
    }
}

impl<T: Real> Made for Cholesky<T> {
    fn make(planner: &Planner<Self>, cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        let (n, sizes) = (planner.rows, Sizes::of(planner));
        sizes.check(CALL)?;
        let (need, factors, bodies) = match sizes.batch {
            Some(batch) if !sizes.is_empty() => {
                let matrices = Batch::new(cx, stream, batch, n * n)?;
                let factors = Factors::Batch { matrices, sides: Batch::new(cx, stream, batch, n)? };
                (None, factors, [bodies::potrf_batched::<T>(n), bodies::potrs_batched::<T>(n)])
            }
            _ => {
                let factors = Factors::One(cx.buffer(n * n * sizes.matrices(), stream)?);
                let bodies = [bodies::potrf::<T>(n), bodies::potrs::<T>(n)];
                (Some(Need::Cholesky { n }), factors, bodies)
            }
        };
        let need = need.filter(|_| !sizes.is_empty());
        let dense = Dense::new::<T>(cx, stream, need.as_slice())?;
        if let Factors::Batch { .. } = factors {
            warm_up(cx, stream, |out, zero| stream.launch::<copy_lower<T>>(1, (out, zero, 1)))?;
        }
        Ok(Self { common: Common::new::<T>(cx, stream, sizes, bodies, true)?, dense, factors })
    }
}

impl<T: Real> System for Cholesky<T> {}

impl<T: Real> Solves for Cholesky<T> {
    type Element = T;

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn origin(&self) -> Origin {
        Origin { call: CALL, finds: Finds::NotPositive, marks: true }
    }

    #[track_caller]
    fn factor_copy(
        &mut self,
        stream: &CudaStream,
        a: &DeviceSlice<T>,
        mut statuses: Option<&mut DeviceSlice<i32>>,
    ) -> Result<()> {
        let of_all = self.common.matrices();
        let taken = statuses.as_deref_mut().unwrap_or(&mut self.common.statuses);
        of_all.take(stream, a, self.factors.matrices(), taken)?;
        if self.common.sizes.is_empty() { Ok(()) } else { self.factor_own(stream, statuses) }
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
        let dense = &mut self.dense;
        match &mut self.factors {
            Factors::One(matrix) => {
                stream.copy(b, x)?;
                dense.potrs(stream, solve, (sizes.n, sizes.sides()), matrix, x, solved)
            }
            Factors::Batch { matrices, sides } => {
                stream.copy(b, sides.items_mut())?;
                let sizes = (sizes.n, sizes.matrices());
                dense.potrs_batched(stream, solve, sizes, matrices, sides, solved)?;
                stream.copy(sides.items(), x)
            }
        }
    }
}
