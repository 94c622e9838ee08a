//! Solvers as functions. The node keeps a plan for each shape and stream, and each call allocates its result.

use super::decomposition::decomposed;
use super::system::{self, System};
use super::{Checked, Cholesky, Eigen, Eigenpairs, Factor, Lu, Planner, Qr, QrFactors, Real};
use super::{SingularValues, Svd};
use crate::error::{Result, wrong_operand};
use streamflow::Error;
use streamflow::Tensor;
use streamflow::{ExecutionContext, Stream};

/// The operands that a function for one matrix or a batch takes, as text for errors.
const MATRICES: &str = "a matrix `[m, n]` or a batch of them `[count, m, n]`";
const SQUARE_MATRICES: &str = "a square matrix `[n, n]` or a batch of them `[count, n, n]`";

/// Solves `A x = b` by [`Lu`]: `a` is `[n, n]`, in rows; `b` and the result are `[n]`, or `[k, n]` with a right-hand side
/// in each row. A batch of `m` matrices is `[m, n, n]`, with `b` and the result `[m, n]`. Does not block.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for other shapes; the library's error; the driver's error. A singular matrix
/// is an error of the result's [check](Checked).
#[track_caller]
pub fn solve<T: Factor>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
    b: &Tensor<T>,
) -> Result<Checked<Tensor<T>>> {
    let (plan, matrices) = match (a.shape(), b.shape()) {
        (&[matrices, n, columns], _) if n == columns => (Lu::plan(n).batch(matrices), matrices),
        (&[n, columns], &[sides, _]) if n == columns => (Lu::plan(n).right_hand_sides(sides), 1),
        (&[n, columns], _) if n == columns => (Lu::plan(n), 1),
        (other, _) => return Err(no_matrix("solve::solve", other, SQUARE_MATRICES)),
    };
    solve_by(plan, matrices, cx, stream, a, b)
}

/// Solves `A x = b` for a symmetric positive definite matrix by [`Cholesky`]. The shapes are as for [`solve()`]. A batch of
/// `m` matrices is `[m, n, n]`, with `b` and the result `[m, n]`. Does not block.
///
/// # Errors
/// The errors of [`solve()`]. A matrix that is not positive definite is an error of the result's check.
#[track_caller]
pub fn solve_positive_definite<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
    b: &Tensor<T>,
) -> Result<Checked<Tensor<T>>> {
    let plan = Cholesky::plan(a.cols());
    let (plan, matrices) = match (a.shape(), b.shape()) {
        ([matrices, _, _], _) => (plan.batch(*matrices), *matrices),
        (_, [sides, _]) => (plan.right_hand_sides(*sides), 1),
        _ => (plan, 1),
    };
    solve_by(plan, matrices, cx, stream, a, b)
}

#[track_caller]
fn solve_by<S: System>(
    planner: Planner<S>,
    matrices: usize,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<S::Element>,
    b: &Tensor<S::Element>,
) -> Result<Checked<Tensor<S::Element>>> {
    let mut solver = planner.cached(cx, stream)?;
    let mut x = Checked::of_batch(matrices, cx.tensor(b.shape(), stream)?, cx, stream)?;
    system::solve(&mut *solver, stream, a, b, &mut x)?;
    Ok(x)
}

/// Returns the factor `L` of a symmetric positive definite matrix, or of each matrix of a batch:
/// [`factor_in_place`](crate::Plan::factor_in_place) of a copy. Does not block.
///
/// # Errors
/// The errors of [`solve_positive_definite`].
#[track_caller]
pub fn cholesky<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
) -> Result<Checked<Tensor<T>>> {
    let plan = Cholesky::plan(a.cols());
    let (plan, matrices) = match a.shape() {
        [matrices, _, _] => (plan.batch(*matrices), *matrices),
        _ => (plan, 1),
    };
    let mut solver = plan.cached(cx, stream)?;
    let mut copy = cx.tensor(a.shape(), stream)?;
    stream.copy(a, &mut copy)?;
    let mut copy = Checked::of_batch(matrices, copy, cx, stream)?;
    solver.factor_in_place(stream, &mut copy)?;
    Ok(copy)
}

/// Factors `A = Q R`, by [`Qr`]: `a` is `[m, n]`, with `m >= n`. Does not block.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for other shapes; the library's error; the driver's error.
#[track_caller]
pub fn qr<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
) -> Result<Checked<QrFactors<T>>> {
    let [rows, columns] = matrix("solve::qr", a)?;
    decomposed(Qr::plan(rows, columns), cx, stream, a)
}

/// Returns the singular values and vectors of `a`, `[m, n]`, by [`Svd`], or of each matrix of a batch, `[count, m, n]`. The
/// call may block, as [`execute_blocking`](crate::Plan::execute_blocking) may.
///
/// # Errors
/// The errors of [`qr`].
#[track_caller]
pub fn svd_blocking<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
) -> Result<Checked<SingularValues<T>>> {
    let plan = match *a.shape() {
        [count, rows, columns] => Svd::plan(rows, columns).batch(count),
        [rows, columns] => Svd::plan(rows, columns),
        _ => return Err(no_matrix("solve::svd_blocking", a.shape(), MATRICES)),
    };
    decomposed(plan, cx, stream, a)
}

/// Returns the eigenvalues and eigenvectors of a symmetric matrix, `[n, n]`, by [`Eigen`], or of each matrix of a batch,
/// `[count, n, n]`. The call may block, as [`execute_blocking`](crate::Plan::execute_blocking) may.
///
/// # Errors
/// The errors of [`qr`].
#[track_caller]
pub fn eigen_blocking<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
) -> Result<Checked<Eigenpairs<T>>> {
    let plan = match *a.shape() {
        [count, n, columns] if n == columns => Eigen::plan(n).batch(count),
        [n, columns] if n == columns => Eigen::plan(n),
        _ => return Err(no_matrix("solve::eigen_blocking", a.shape(), SQUARE_MATRICES)),
    };
    decomposed(plan, cx, stream, a)
}

fn matrix<T: Factor>(call: &'static str, a: &Tensor<T>) -> Result<[usize; 2]> {
    a.shape().try_into().map_err(|_| no_matrix(call, a.shape(), "a matrix `[m, n]`"))
}

#[cold]
fn no_matrix(call: &'static str, shape: &[usize], needed: &str) -> Error {
    let problem = format!("has shape {shape:?}, but {needed} is needed; `reshape` it");
    wrong_operand(call, "a", problem)
}
