//! Solvers for operands in host memory. Each function uploads its operands, solves on the operator's internal stream, and blocks
//! until the results are in host memory. These functions are for values that are computed once, for example in `start`.

use super::{Factor, Real, stateless};
use crate::error::{Result, wrong_operand};
use streamflow::Error;
use streamflow::Tensor;
use streamflow::{ExecutionContext, Stream};

/// Solves `A x = b` for `n` equations, as [`solve()`](super::solve()) does. `a` has `n` rows of `n` elements. `b` and the result
/// have `n` elements for each right-hand side, one side after the other. Blocks until the result is in host memory.
///
/// # Errors
/// [`Error::Unsolvable`](crate::Error::Unsolvable) for a singular matrix, with the row;
/// [`Error::Operand`](crate::Error::Operand) for other lengths; [`Error::NoPool`](streamflow::Error::NoPool) for a node
/// without a pool of streams; the library's error; the driver's error.
pub fn solve_host_blocking<T: Factor>(
    cx: &ExecutionContext,
    n: usize,
    a: &[T],
    b: &[T],
) -> Result<Vec<T>> {
    let stream = cx.internal_stream()?;
    let a = upload(cx, "a", a, &[n, n])?;
    let sides = b.len().checked_div(n).unwrap_or(0);
    let b = upload(cx, "b", b, &[sides, n])?;
    let x = stateless::solve(cx, &stream, &a, &b)?;
    Ok(x.download(&stream)?.wait_blocking()?.to_vec())
}

/// Returns the factor `L` of a symmetric positive definite matrix of `n` rows, as [`cholesky`](super::cholesky) does.
/// Blocks until the result is there.
///
/// # Errors
/// The errors of [`solve_host_blocking`], but `Unsolvable` is for a matrix that is not positive definite.
pub fn cholesky_host_blocking<T: Real>(cx: &ExecutionContext, n: usize, a: &[T]) -> Result<Vec<T>> {
    let stream = cx.internal_stream()?;
    let l = stateless::cholesky(cx, &stream, &upload(cx, "a", a, &[n, n])?)?;
    Ok(l.download(&stream)?.wait_blocking()?.to_vec())
}

/// Returns `Q` and `R` of a matrix of `m` by `n`, as [`qr`](super::qr) does. Blocks until the results are there.
///
/// # Errors
/// The errors of [`solve_host_blocking`].
pub fn qr_host_blocking<T: Real>(
    cx: &ExecutionContext,
    [m, n]: [usize; 2],
    a: &[T],
) -> Result<(Vec<T>, Vec<T>)> {
    let stream = cx.internal_stream()?;
    let found = stateless::qr(cx, &stream, &upload(cx, "a", a, &[m, n])?)?;
    let (q, r) = (found.download_of(|it| &it.q, &stream)?, found.download_of(|it| &it.r, &stream)?);
    Ok((q.wait_blocking()?.to_vec(), r.wait_blocking()?.to_vec()))
}

/// Returns `U`, the singular values and `VT` of a matrix of `m` by `n`, as [`svd_blocking`](super::svd_blocking) does.
/// Blocks until the results are there.
///
/// # Errors
/// The errors of [`solve_host_blocking`], but `Unsolvable` is for an iteration that does not converge.
#[allow(clippy::type_complexity, reason = "three lists of numbers")]
pub fn svd_host_blocking<T: Real>(
    cx: &ExecutionContext,
    [m, n]: [usize; 2],
    a: &[T],
) -> Result<(Vec<T>, Vec<T>, Vec<T>)> {
    let stream = cx.internal_stream()?;
    let found = stateless::svd_blocking(cx, &stream, &upload(cx, "a", a, &[m, n])?)?;
    let all = |stream: &Stream<'_>| {
        let u = found.download_of(|it| &it.u, stream)?;
        let s = found.download_of(|it| &it.s, stream)?;
        Ok::<_, Error>((u, s, found.download_of(|it| &it.vt, stream)?))
    };
    let (u, s, vt) = all(&stream)?;
    Ok((u.wait_blocking()?.to_vec(), s.wait_blocking()?.to_vec(), vt.wait_blocking()?.to_vec()))
}

/// Returns the eigenvalues of a symmetric matrix of `n` rows, and its eigenvectors, one in each row, as
/// [`eigen_blocking`](super::eigen_blocking) does. Blocks until the results are there.
///
/// # Errors
/// The errors of [`solve_host_blocking`], but `Unsolvable` is for an iteration that does not converge.
pub fn eigen_host_blocking<T: Real>(
    cx: &ExecutionContext,
    n: usize,
    a: &[T],
) -> Result<(Vec<T>, Vec<T>)> {
    let stream = cx.internal_stream()?;
    let found = stateless::eigen_blocking(cx, &stream, &upload(cx, "a", a, &[n, n])?)?;
    let values = found.download_of(|it| &it.values, &stream)?;
    let vectors = found.download_of(|it| &it.vectors, &stream)?;
    Ok((values.wait_blocking()?.to_vec(), vectors.wait_blocking()?.to_vec()))
}

/// Copies an operand to the operator's device as a tensor of this shape.
fn upload<T: Factor>(
    cx: &ExecutionContext,
    argument: &'static str,
    values: &[T],
    shape: &[usize],
) -> Result<Tensor<T>> {
    let elements = shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
    if elements != Some(values.len()) {
        let problem = format!(
            "has {} elements, which are not those of the shape {shape:?}; pass all of them, row by row",
            values.len()
        );
        return Err(wrong_operand("solve on the host", argument, problem));
    }
    cx.upload(values)?.reshape(shape)
}
