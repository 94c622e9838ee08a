//! Transforms of numbers in host memory. Each function uploads its operand, transforms it on the operator's internal stream, and
//! blocks until the results are in host memory. These functions are for values that are computed once, for example in `start`.

use streamflow::memory::Complex;

use super::norm::Norm;
use super::real::Real;
use super::stateless;
use crate::error::Result;
use streamflow::Element;
use streamflow::ExecutionContext;
use streamflow::memory::IntoShape;

/// Returns the forward transform of numbers in host memory, which have this shape, as [`forward`](super::forward) does. Blocks
/// until the result is in host memory.
///
/// # Errors
/// [`Error::ShapeMismatch`](streamflow::Error::ShapeMismatch) for another number of elements;
/// [`Error::NoPool`](streamflow::Error::NoPool) for a node without a pool of streams; the errors of
/// [`forward`](super::forward).
#[track_caller]
pub fn forward_host_blocking<T: Real>(
    cx: &ExecutionContext,
    x: &[Complex<T>],
    shape: impl IntoShape,
) -> Result<Vec<Complex<T>>>
where
    Complex<T>: Element,
{
    let stream = cx.internal_stream()?;
    let y = stateless::forward(cx, &stream, &cx.upload(x)?.reshape(shape)?)?;
    Ok(cx.download(&y, &stream)?.wait_blocking()?.to_vec())
}

/// Returns the inverse transform of numbers in host memory, which have this shape, as [`inverse`](super::inverse) does. Blocks
/// until the result is in host memory.
///
/// # Errors
/// The errors of [`forward_host_blocking`].
#[track_caller]
pub fn inverse_host_blocking<T: Real>(
    cx: &ExecutionContext,
    x: &[Complex<T>],
    shape: impl IntoShape,
    norm: Norm,
) -> Result<Vec<Complex<T>>>
where
    Complex<T>: Element,
{
    let stream = cx.internal_stream()?;
    let y = stateless::inverse(cx, &stream, &cx.upload(x)?.reshape(shape)?, norm)?;
    Ok(cx.download(&y, &stream)?.wait_blocking()?.to_vec())
}
