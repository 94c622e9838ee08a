//! The solver `DirectSolver`, for systems of equations with a sparse matrix.

use super::Factor;
use super::host::bodies;
use super::layout::{has_shape, in_batch};
use super::outcome::{not_factored, singular};
use crate::Plan;
use crate::error::{Result, wrong_operand};
use crate::ffi::cudss::{Direct, Found, System};
use crate::sparse::{Csr, SparseElement};
use streamflow::CudaStream;
use streamflow::Tensor;
use streamflow::library::Call;
use streamflow::library::HostBody;
use streamflow::{ExecutionContext, Stream};

/// The solver's name in messages.
const CALL: &str = "solve::DirectSolver";

/// The largest number of rows on the simulator, since it factors a dense copy of the matrix.
const MOST_SIMULATED: usize = 4096;

/// Solves systems of equations with a sparse matrix, `A x = b`, by the matrix's factors: cuDSS. The solver also needs the
/// feature `sparse`.
///
/// A plan is for one [`Csr`]. Making the plan analyses and factors the matrix, so there is no plan without factors. If the
/// matrix gets other values, [`refactor_blocking`](Plan::refactor_blocking) factors them. For a singular matrix, making
/// the plan and `refactor_blocking` return an error: cuDSS reports it on the host.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_math::Plan;
/// use streamflow_math::solve::DirectSolver;
/// use streamflow_math::sparse::Csr;
///
/// /// Solves a system with the same matrix in each tick.
/// #[operator]
/// struct Solve {
///     #[input] b: &Tensor<f64>,
///     #[output] x: Tensor<f64>,
///     solver: Option<(Csr<f64>, Plan<DirectSolver<f64>>)>,
/// }
///
/// impl Compute for Solve {
///     fn start(&mut self, _: SolveStreams<'_>, cx: &ExecutionContext) -> Result<()> {
///         let matrix = Csr::upload(cx, [2, 2], &[0, 2, 3], &[0, 1, 1], &[2.0, 1.0, 4.0])?;
///         let plan = DirectSolver::plan(&matrix).on_blocking(cx, &cx.internal_stream()?)?;
///         self.solver = Some((matrix, plan));
///         Ok(())
///     }
///
///     fn compute(&mut self, io: SolveIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (b, stream) = io.b.receive().receive_cuda_stream(cx)?;
///         let mut x = cx.tensor([2], &stream)?;
///         if let Some((matrix, plan)) = &mut self.solver {
///             plan.solve(&stream, matrix, b, &mut x)?;
///         }
///         io.x.emit(x)
///     }
/// }
/// ```
#[derive(Debug)]
pub struct DirectSolver<T: Factor + SparseElement> {
    n: usize,
    sides: Option<usize>,
    number: u64,
    /// The library's objects. `None` if there are no equations or no right-hand sides, since the library takes no such system.
    direct: Option<Direct<T>>,
    factor: HostBody,
    solve: HostBody,
    /// Whether the last factorisation has succeeded, so that the plan can solve.
    is_whole: bool,
}

/// The matrix and the options of a plan of a [`DirectSolver`]; [`on_blocking`](Self::on_blocking) makes the plan.
#[derive(Debug)]
#[must_use = "`on_blocking` makes the plan"]
pub struct DirectPlanner<'a, T: Factor + SparseElement> {
    a: &'a Csr<T>,
    sides: Option<usize>,
}

impl<T: Factor + SparseElement> DirectSolver<T> {
    /// Begins a plan for systems with this square matrix.
    pub fn plan(a: &Csr<T>) -> DirectPlanner<'_, T> {
        DirectPlanner { a, sides: None }
    }
}

impl<T: Factor + SparseElement> DirectPlanner<'_, T> {
    /// Plans for `k` right-hand sides at a time, one in each row of `b` and `x`. Without this call, `b` and `x` are one vector
    /// each.
    pub fn right_hand_sides(self, k: usize) -> Self {
        Self { sides: Some(k), ..self }
    }

    /// Makes the plan on a stream of the operator: analyses the matrix and factors it. Blocks until the stream's work is
    /// complete, and on a GPU cuDSS allocates memory: the call is for [`start`](streamflow::Compute::start).
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for a matrix that is not square, and on the simulator for a matrix of more
    /// than 4096 rows; [`Error::Unsolvable`](crate::Error::Unsolvable) for a singular matrix; an error if the library is not
    /// there; the library's own error; the driver's error, when memory is exhausted.
    pub fn on_blocking(
        self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Plan<DirectSolver<T>>> {
        let ([n, columns], sides) = (self.a.shape(), self.sides);
        if n != columns {
            let problem = format!(
                "has {n} rows and {columns} columns, but only a square matrix can be factored so; use `Qr` or `Svd`"
            );
            return Err(wrong_operand(CALL, "A", problem));
        }
        if n > MOST_SIMULATED && stream.device_info()?.is_simulated {
            let problem = format!(
                "has {n} rows, but the simulator factors at most {MOST_SIMULATED}; divide the problem, or run it on a GPU"
            );
            return Err(wrong_operand(CALL, "A", problem));
        }
        let system = System { n, sides: sides.unwrap_or(1) };
        let is_empty = n == 0 || system.sides == 0 || self.a.stored() == 0;
        let direct =
            if is_empty { None } else { Some(Direct::new(cx, stream, &self.a.matrix(), system)?) };
        let (factor, solve) = (bodies::direct_factor::<T>(n), bodies::direct_solve::<T>(n));
        let number = self.a.number();
        let mut made = DirectSolver { n, sides, number, direct, factor, solve, is_whole: false };
        made.factor_blocking(stream, self.a)?;
        Ok(Plan::new(stream, made))
    }
}

impl<T: Factor + SparseElement> DirectSolver<T> {
    #[track_caller]
    fn factor_blocking(&mut self, stream: &CudaStream, a: &Csr<T>) -> Result<()> {
        self.check_matrix(a)?;
        self.is_whole = false;
        // The library takes no matrix without stored elements. Such a matrix is singular, in row 0.
        if self.n > 0 && a.stored() == 0 {
            return Err(singular(CALL, Some(0)));
        }
        if let Some(direct) = &mut self.direct
            && let Found::Singular(row) =
                direct.factor_blocking(stream, &self.factor, &a.matrix())?
        {
            return Err(singular(CALL, row.checked_sub(1)));
        }
        self.is_whole = true;
        Ok(())
    }

    #[track_caller]
    fn solve(
        &mut self,
        stream: &CudaStream,
        a: &Csr<T>,
        b: &Tensor<T>,
        x: &mut Tensor<T>,
    ) -> Result<()> {
        self.check_matrix(a)?;
        let shape = in_batch(self.sides, &[self.n]);
        has_shape(CALL, "b", b.shape(), &[&shape])?;
        has_shape(CALL, "x", x.shape(), &[&shape])?;
        if !self.is_whole {
            return Err(not_factored(CALL));
        }
        Call::begins(x, false)?;
        match &mut self.direct {
            Some(direct) => direct.solve(stream, &self.solve, &a.matrix(), b, x),
            None => Ok(()),
        }
    }

    fn check_matrix(&self, a: &Csr<T>) -> Result<()> {
        if a.number() == self.number {
            return Ok(());
        }
        let problem =
            "is not the matrix that the plan was made for; make a plan for each matrix".to_owned();
        Err(wrong_operand(CALL, "A", problem))
    }
}

impl<T: Factor + SparseElement> Plan<DirectSolver<T>> {
    /// Factors the present values of the matrix. Blocks until the stream's work is complete.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another matrix;
    /// [`Error::Unsolvable`](crate::Error::Unsolvable) for a singular matrix; the library's error; the driver's error. After
    /// an error that is not about the stream or the matrix's identity, the plan can't solve until a later `refactor_blocking`
    /// succeeds.
    #[track_caller]
    pub fn refactor_blocking(&mut self, stream: &Stream<'_>, a: &Csr<T>) -> Result<()> {
        self.lend(stream)?.factor_blocking(stream, a)
    }

    /// Queues the solution of `A x = b` with the factors. `b` and `x` are `[n]`, or `[k, n]` for a plan with `k` [right-hand
    /// sides](DirectPlanner::right_hand_sides): one in each row. The values of the matrix must still be the values that were
    /// factored last.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another matrix or
    /// other shapes; [`Error::Unsolvable`](crate::Error::Unsolvable) if the last factorisation has failed; the library's
    /// error; the driver's error.
    #[track_caller]
    pub fn solve(
        &mut self,
        stream: &Stream<'_>,
        a: &Csr<T>,
        b: &Tensor<T>,
        x: &mut Tensor<T>,
    ) -> Result<()> {
        let solver = Call::written(self.lend(stream), x)?;
        Call::written(solver.solve(stream, a, b, x), x)
    }
}
