//! Transforms of whole tensors as functions. The node keeps a plan for each shape and stream.

use streamflow::memory::Complex;

use super::complex::Fft;
use super::from_real::RealFft;
use super::norm::Norm;
use super::plan::{Planner, sealed::Made};
use super::real::Real;
use super::to_real::InverseRealFft;
use crate::error::{Result, wrong_operand};
use streamflow::context::Lent;
use streamflow::memory::Shape;
use streamflow::{Element, Tensor};
use streamflow::{ExecutionContext, Stream};

/// Returns the forward transform of a tensor of 1 to 3 dimensions, as a new tensor. Does not block.
///
/// The first call for a shape makes a plan. A node keeps the plans that it used last. With [`Fft::plan`] instead, the plan is
/// made in `start`, and its calls allocate nothing.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for other tensors; an error if the library is not there; the library's own
/// error; the driver's error.
#[track_caller]
pub fn forward<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    x: &Tensor<Complex<T>>,
) -> Result<Tensor<Complex<T>>>
where
    Complex<T>: Element,
{
    let mut y = cx.tensor(x.shape(), stream)?;
    planned::<Fft<T>>(cx, stream, x.shape(), Norm::None)?.transform(stream, false, x, &mut y)?;
    Ok(y)
}

/// Returns the inverse transform of a tensor of 1 to 3 dimensions, as a new tensor. In all else, this is as [`forward`].
///
/// # Errors
/// The errors of [`forward`].
#[track_caller]
pub fn inverse<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    x: &Tensor<Complex<T>>,
    norm: Norm,
) -> Result<Tensor<Complex<T>>>
where
    Complex<T>: Element,
{
    let mut y = cx.tensor(x.shape(), stream)?;
    planned::<Fft<T>>(cx, stream, x.shape(), norm)?.transform(stream, true, x, &mut y)?;
    Ok(y)
}

/// Returns the spectrum of a tensor of real numbers, of 1 to 3 dimensions, as a new tensor: rows of `n` numbers become rows of `n
/// / 2 + 1`. In all else, this is as [`forward`].
///
/// # Errors
/// The errors of [`forward`].
#[track_caller]
pub fn forward_real<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    x: &Tensor<T>,
) -> Result<Tensor<Complex<T>>>
where
    Complex<T>: Element,
{
    let half = with_last(x.shape(), x.cols() / 2 + 1)?;
    let mut y = cx.tensor(half, stream)?;
    planned::<RealFft<T>>(cx, stream, x.shape(), Norm::None)?.transform(stream, x, &mut y)?;
    Ok(y)
}

/// Returns the real numbers of a spectrum `x` of 1 to 3 dimensions, as a new tensor. Rows of the new tensor have `last` numbers,
/// and rows of the spectrum have `last / 2 + 1`. Overwrites `x`. In all else, this is as [`forward`].
///
/// # Errors
/// The errors of [`forward`].
#[track_caller]
pub fn inverse_real<T: Real>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    x: &mut Tensor<Complex<T>>,
    last: usize,
    norm: Norm,
) -> Result<Tensor<T>>
where
    Complex<T>: Element,
{
    if x.cols() != last / 2 + 1 {
        let problem = format!(
            "has rows of {}, but {last} real numbers have a spectrum of {}",
            x.cols(),
            last / 2 + 1
        );
        return Err(wrong_operand("fft::inverse_real", "x", problem));
    }
    let shape = with_last(x.shape(), last)?;
    let mut y = cx.tensor(shape, stream)?;
    planned::<InverseRealFft<T>>(cx, stream, shape.dims(), norm)?.transform(stream, x, &mut y)?;
    Ok(y)
}

/// Returns the plan that the node keeps for a shape, and makes it if there is none yet.
fn planned<'c, F: Made>(
    cx: &'c ExecutionContext,
    stream: &Stream<'_>,
    shape: &[usize],
    norm: Norm,
) -> Result<Lent<'c, (Shape, Norm), F>> {
    let make =
        |(shape, norm): &(Shape, Norm)| Planner::<F>::new(*shape).norm(*norm).make(cx, stream);
    cx.cached(stream, (Shape::new(shape)?, norm), make)
}

/// Returns the shape with `last` as the length of its rows.
fn with_last(shape: &[usize], last: usize) -> Result<Shape> {
    let mut lengths = shape.to_vec();
    if let Some(length) = lengths.last_mut() {
        *length = last;
    }
    Shape::new(&lengths)
}
