//! Transforms of the rows of a tensor, for operators. The node keeps a plan for each length, number of rows and stream.

use streamflow::context::Lent;
use streamflow::memory::{Complex, DeviceSlice};
use streamflow::{ExecutionContext, Stream};

use super::complex::Fft;
use super::from_real::RealFft;
use super::norm::Norm;
use super::plan::{Planner, sealed::Made};
use super::to_real::InverseRealFft;
use crate::error::Result;

/// Queues the forward transforms of rows of `len` real numbers. The length is not 0.
#[track_caller]
pub(crate) fn forward_real(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    len: usize,
    x: &DeviceSlice<f32>,
    y: &mut DeviceSlice<Complex<f32>>,
) -> Result<()> {
    planned::<RealFft<f32>>(cx, stream, len, x.len() / len)?.transform(stream, x, y)
}

/// Queues the inverse transforms to rows of `len` real numbers, each `len` times as large. Overwrites `x`.
#[track_caller]
pub(crate) fn inverse_real(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    len: usize,
    x: &mut DeviceSlice<Complex<f32>>,
    y: &mut DeviceSlice<f32>,
) -> Result<()> {
    planned::<InverseRealFft<f32>>(cx, stream, len, y.len() / len)?.transform(stream, x, y)
}

/// Queues the forward transforms of rows of `len` complex numbers.
#[track_caller]
pub(crate) fn forward(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    len: usize,
    x: &DeviceSlice<Complex<f32>>,
    y: &mut DeviceSlice<Complex<f32>>,
) -> Result<()> {
    planned::<Fft<f32>>(cx, stream, len, x.len() / len)?.transform(stream, false, x, y)
}

/// Queues the inverse transforms of rows of `len` complex numbers, each `len` times as large.
#[track_caller]
pub(crate) fn inverse(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    len: usize,
    x: &DeviceSlice<Complex<f32>>,
    y: &mut DeviceSlice<Complex<f32>>,
) -> Result<()> {
    planned::<Fft<f32>>(cx, stream, len, x.len() / len)?.transform(stream, true, x, y)
}

/// Returns the node's plan for `rows` transforms of `len` numbers, and makes it if there is none yet.
fn planned<'c, F: Made>(
    cx: &'c ExecutionContext,
    stream: &Stream<'_>,
    len: usize,
    rows: usize,
) -> Result<Lent<'c, (usize, usize), F>> {
    let make = |(len, rows): &(usize, usize)| {
        Planner::<F>::new([*len]).norm(Norm::None).batch(*rows).make(cx, stream)
    };
    cx.cached(stream, (len, rows), make)
}
