//! The type of a signal's samples.

use std::ops::{AddAssign, Mul, Sub};

use streamflow::memory::{Complex, DeviceSlice};
use streamflow::{Element, ExecutionContext, Stream, Tensor};

use crate::error::Result;
use crate::fft::rows;

pub(crate) mod sealed {
    use super::{Complex, DeviceSlice, Element, ExecutionContext, Result, Stream, Tensor};

    /// The functions and values that the operators use of a type of samples.
    pub trait Transformed: Element {
        const ZERO: Self;
        const NAN: Self;
        fn is_finite(self) -> bool;
        /// Returns how many numbers a spectrum of `len` samples has.
        fn bins(len: usize) -> usize;
        /// Queues the transforms of rows of `len` samples.
        fn forward(
            cx: &ExecutionContext,
            stream: &Stream<'_>,
            len: usize,
            rows: &DeviceSlice<Self>,
            spectra: &mut DeviceSlice<Complex<f32>>,
        ) -> Result<()>;
        /// Returns the rows of `len` samples of spectra, each `len` times as large. The spectra may be overwritten.
        fn inverse(
            cx: &ExecutionContext,
            stream: &Stream<'_>,
            len: usize,
            spectra: &mut DeviceSlice<Complex<f32>>,
        ) -> Result<Tensor<Self>>;
    }
}

/// A sample of a signal: `f32` or `Complex<f32>`.
#[diagnostic::on_unimplemented(
    message = "signals have no samples of type `{Self}`",
    label = "not `f32` or `Complex<f32>`",
    note = "use `f32`, or `streamflow::memory::Complex<f32>`"
)]
pub trait Sample:
    Element + Mul<f32, Output = Self> + AddAssign + Sub<Output = Self> + sealed::Transformed
{
}

impl Sample for f32 {}
impl Sample for Complex<f32> {}

impl sealed::Transformed for f32 {
    const ZERO: Self = 0.0;
    const NAN: Self = Self::NAN;

    fn is_finite(self) -> bool {
        self.is_finite()
    }

    fn bins(len: usize) -> usize {
        len / 2 + 1
    }

    fn forward(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        len: usize,
        rows: &DeviceSlice<Self>,
        spectra: &mut DeviceSlice<Complex<f32>>,
    ) -> Result<()> {
        rows::forward_real(cx, stream, len, rows, spectra)
    }

    fn inverse(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        len: usize,
        spectra: &mut DeviceSlice<Complex<f32>>,
    ) -> Result<Tensor<Self>> {
        let mut rows = cx.tensor([spectra.len() / Self::bins(len), len], stream)?;
        rows::inverse_real(cx, stream, len, spectra, &mut rows)?;
        Ok(rows)
    }
}

impl sealed::Transformed for Complex<f32> {
    const ZERO: Self = Self::new(0.0, 0.0);
    const NAN: Self = Self::new(f32::NAN, f32::NAN);

    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    fn bins(len: usize) -> usize {
        len
    }

    fn forward(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        len: usize,
        rows: &DeviceSlice<Self>,
        spectra: &mut DeviceSlice<Complex<f32>>,
    ) -> Result<()> {
        rows::forward(cx, stream, len, rows, spectra)
    }

    fn inverse(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        len: usize,
        spectra: &mut DeviceSlice<Complex<f32>>,
    ) -> Result<Tensor<Self>> {
        let mut rows = cx.tensor([spectra.len() / len, len], stream)?;
        rows::inverse(cx, stream, len, spectra, &mut rows)?;
        Ok(rows)
    }
}
