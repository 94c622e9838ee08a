//! Systems of equations: the parts that [`Lu`](super::Lu) and [`Cholesky`](super::Cholesky) have in common.

use super::common::Common;
use super::outcome::{Origin, not_factored};
use super::planner::sealed::Made;
use super::sizes::Sizes;
use super::{Checked, Factor};
use crate::Plan;
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::Stream;
use streamflow::Tensor;
use streamflow::library::{Call, Target, TargetPart};
use streamflow::memory::DeviceSlice;

pub(super) mod sealed {
    use super::{Common, CudaStream, DeviceSlice, Made, Origin, Result};
    use crate::solve::Factor;

    /// A solver of systems, as the code behind the methods of all solvers uses it.
    pub trait Solves: Made {
        type Element: Factor;

        fn common(&self) -> &Common;

        fn common_mut(&mut self) -> &mut Common;

        fn origin(&self) -> Origin;

        /// Copies the matrices and factors the copies. If `statuses` is `None`, the solver writes the statuses into its own
        /// buffer.
        #[track_caller]
        fn factor_copy(
            &mut self,
            stream: &CudaStream,
            a: &DeviceSlice<Self::Element>,
            statuses: Option<&mut DeviceSlice<i32>>,
        ) -> Result<()>;

        /// Solves for the right-hand sides in `b`, with the matrices that were factored last.
        #[track_caller]
        fn solve_copy(
            &mut self,
            stream: &CudaStream,
            b: &DeviceSlice<Self::Element>,
            x: &mut DeviceSlice<Self::Element>,
        ) -> Result<()>;
    }
}

use sealed::Solves;

/// A solver of systems of equations: [`Lu`](super::Lu) or [`Cholesky`](super::Cholesky).
///
/// A solver's plan solves in one step ([`Plan::solve`]), or factors a matrix once and solves with it many times
/// ([`Plan::factor`]).
pub trait System: Solves {}

/// A solver that has factored a matrix, and solves with that matrix. [`Plan::factor`] makes this of a plan.
#[derive(Debug)]
pub struct Factored<S> {
    solver: S,
    /// Whether the matrix and the statuses in the solver are from the same factorisation.
    is_whole: bool,
}

impl<S: System> Plan<S> {
    /// Solves `A x = b`: queues the factorisation of a copy of `a` and the solution, into `x`. Allocates nothing.
    ///
    /// `a` is `[n, n]`, in rows. `b` and `x` are `[n]`, or `[k, n]` for a plan with `k` [right-hand
    /// sides](super::Planner::right_hand_sides): one in each row. In a [batch](super::Planner::batch) of `m`, `a` is `[m, n, n]`,
    /// and `b` and `x` are `[m, n]`.
    ///
    /// A singular matrix is not an error of this call, but of the check of `x`.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other shapes; the
    /// library's error; the driver's error.
    #[track_caller]
    pub fn solve(
        &mut self,
        stream: &Stream<'_>,
        a: &Tensor<S::Element>,
        b: &Tensor<S::Element>,
        x: &mut Checked<Tensor<S::Element>>,
    ) -> Result<()> {
        let solver = Call::written(self.lend(stream), x)?;
        Call::written(solve(solver, stream, a, b, x), x)
    }

    /// Factors a copy of `a` that the plan keeps, and returns a plan that solves with the factors. The shape of `a` is as for
    /// [`solve`](Self::solve).
    ///
    /// # Errors
    /// The errors of [`solve`](Self::solve).
    #[track_caller]
    pub fn factor(self, stream: &Stream<'_>, a: &Tensor<S::Element>) -> Result<Plan<Factored<S>>> {
        let mut plan = self.map(|solver| Factored { solver, is_whole: false });
        plan.refactor(stream, a)?;
        Ok(plan)
    }
}

impl<S: System> Plan<Factored<S>> {
    /// Factors another matrix, which replaces the last one. Allocates nothing.
    ///
    /// # Errors
    /// The errors of [`Plan::solve`]. After an error about the shape or the stream, the plan still has the earlier
    /// matrix, if the hook returns the error. After any other error, or an error that the hook drops, the plan has no
    /// matrix until a later `refactor` succeeds.
    #[track_caller]
    pub fn refactor(&mut self, stream: &Stream<'_>, a: &Tensor<S::Element>) -> Result<()> {
        let done = match self.lend(stream) {
            Ok(factored) => factored.refactor(stream, a),
            Err(error) => Err(error),
        };
        // Each later solution reads these statuses, so a failure marks them as not written.
        Call::written(done, &mut **self)
    }

    /// Solves `A x = b` with the matrix that was factored last. Allocates nothing. The shapes are as for [`Plan::solve`], and the
    /// check of `x` is that of the matrix.
    ///
    /// # Errors
    /// As for [`Plan::solve`]. If the last [`refactor`](Self::refactor) has failed:
    /// [`Error::Unsolvable`](crate::Error::Unsolvable) or [`Error::Unwritten`](streamflow::Error::Unwritten).
    #[track_caller]
    pub fn solve(
        &mut self,
        stream: &Stream<'_>,
        b: &Tensor<S::Element>,
        x: &mut Checked<Tensor<S::Element>>,
    ) -> Result<()> {
        let factored = Call::written(self.lend(stream), x)?;
        Call::written(factored.solve(stream, b, x), x)
    }
}

/// The target of `refactor` is the buffer of statuses in the solver.
impl<S: System> Target for Factored<S> {
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        (*self.solver.common_mut().statuses).parts()
    }
}

impl<S: System> Factored<S> {
    #[track_caller]
    fn refactor(&mut self, stream: &CudaStream, a: &Tensor<S::Element>) -> Result<()> {
        let Self { solver, is_whole } = self;
        check_matrix(solver, a)?;
        // If one of the solver's calls fails, the earlier ones may be queued already, so the factors count as lost until all have
        // succeeded.
        *is_whole = false;
        solver.factor_copy(stream, a, None)?;
        *is_whole = true;
        Ok(())
    }

    #[track_caller]
    fn solve(
        &mut self,
        stream: &CudaStream,
        b: &Tensor<S::Element>,
        x: &mut Checked<Tensor<S::Element>>,
    ) -> Result<()> {
        let Self { solver, is_whole } = self;
        let origin = solver.origin();
        check_result(&solver.common().sizes, origin.call, b, x)?;
        let (value, statuses) = x.parts_mut();
        if !*is_whole {
            return Err(not_factored(origin.call));
        }
        stream.copy(&solver.common().statuses, statuses)?;
        solver.solve_copy(stream, b, value)?;
        x.computed(origin);
        Ok(())
    }
}

/// Does the work of [`Plan::solve`], on the plan's stream.
#[track_caller]
pub(super) fn solve<S: System>(
    solver: &mut S,
    stream: &CudaStream,
    a: &Tensor<S::Element>,
    b: &Tensor<S::Element>,
    x: &mut Checked<Tensor<S::Element>>,
) -> Result<()> {
    let origin = solver.origin();
    check_result(&solver.common().sizes, origin.call, b, x)?;
    let (value, statuses) = x.parts_mut();
    check_matrix(solver, a)?;
    solver.factor_copy(stream, a, Some(statuses))?;
    solver.solve_copy(stream, b, value)?;
    x.computed(origin);
    Ok(())
}

fn check_matrix<S: System>(solver: &S, a: &Tensor<S::Element>) -> Result<()> {
    solver.common().sizes.check_matrix(solver.origin().call, a.shape())
}

fn check_result<T: Factor>(
    sizes: &Sizes,
    call: &'static str,
    b: &Tensor<T>,
    x: &Checked<Tensor<T>>,
) -> Result<()> {
    sizes.check_sides(call, "b", b.shape())?;
    sizes.check_sides(call, "x", x.on_device().shape())?;
    sizes.check_statuses(call, "x", x.matrices())
}
