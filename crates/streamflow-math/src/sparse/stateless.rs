//! Products as functions. The node keeps a plan for each matrix, width and stream, and each call allocates its result.

use super::products::{SpMm, SpMv};
use super::{Csr, SparseElement};
use crate::error::{Result, wrong_operand};
use streamflow::Tensor;
use streamflow::{ExecutionContext, Stream};

/// Returns `A x`, by [`SpMv`]. `x` is `[n]`. Does not block.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for another shape; the library's error; the driver's error.
#[track_caller]
pub fn spmv<T: SparseElement>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Csr<T>,
    x: &Tensor<T>,
) -> Result<Tensor<T>> {
    let make = |_: &(u64, &str)| SpMv::plan(a).make(cx, stream);
    let mut plan = cx.cached(stream, (a.number(), "SpMv"), make)?;
    let mut y = cx.tensor([a.shape()[0]], stream)?;
    plan.product().execute(stream, a, x, &mut y)?;
    Ok(y)
}

/// Returns `A B`, by [`SpMm`]. `B` is `[n, k]`, in rows. Does not block.
///
/// # Errors
/// The errors of [`spmv`].
#[track_caller]
pub fn spmm<T: SparseElement>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Csr<T>,
    b: &Tensor<T>,
) -> Result<Tensor<T>> {
    let columns = b.cols();
    let make = |_: &(u64, usize)| SpMm::plan(a, columns).make(cx, stream);
    let mut plan = cx.cached(stream, (a.number(), columns), make)?;
    let mut c = cx.tensor([a.shape()[0], columns], stream)?;
    plan.product().execute(stream, a, b, &mut c)?;
    Ok(c)
}

/// Returns `A x` for a matrix and a vector in host memory, computed on the operator's internal stream. The matrix is given as for
/// [`Csr::upload`]. Blocks until the result is in host memory. The call is for values that are computed once, for example in
/// `start`.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for an invalid matrix or another length;
/// [`Error::NoPool`](streamflow::Error::NoPool) for a node without a pool of streams; the library's error; the driver's
/// error.
#[track_caller]
pub fn spmv_host_blocking<T: SparseElement>(
    cx: &ExecutionContext,
    shape: [usize; 2],
    (offsets, indices, values): (&[i32], &[i32], &[T]),
    x: &[T],
) -> Result<Vec<T>> {
    let stream = cx.internal_stream()?;
    let a = Csr::upload(cx, shape, offsets, indices, values)?;
    let y = spmv(cx, &stream, &a, &cx.upload(x)?)?;
    stream.download_blocking(&y)
}

/// Returns `A B` for matrices in host memory, as [`spmv_host_blocking`] does. `b` has `k` elements for each column of `A`, row by
/// row.
///
/// # Errors
/// The errors of [`spmv_host_blocking`].
#[track_caller]
pub fn spmm_host_blocking<T: SparseElement>(
    cx: &ExecutionContext,
    shape: [usize; 2],
    (offsets, indices, values): (&[i32], &[i32], &[T]),
    (b, k): (&[T], usize),
) -> Result<Vec<T>> {
    let stream = cx.internal_stream()?;
    let a = Csr::upload(cx, shape, offsets, indices, values)?;
    if shape[1].checked_mul(k) != Some(b.len()) {
        let problem = format!(
            "has {} elements, but a matrix of {} columns needs {} rows of {k}",
            b.len(),
            shape[1],
            shape[1]
        );
        return Err(wrong_operand("sparse::spmm_host_blocking", "b", problem));
    }
    let c = spmm(cx, &stream, &a, &cx.upload(b)?.reshape([shape[1], k])?)?;
    stream.download_blocking(&c)
}
