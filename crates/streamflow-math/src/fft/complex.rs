//! Transforms of complex numbers.

use streamflow::memory::Complex;

use super::engine::Engine;
use super::norm::Norm;
use super::plan::{Planner, sealed::Made};
use super::real::{Real, sealed::Output};
use crate::Plan;
use crate::error::Result;
use crate::ffi::cufft::Input;
use crate::ffi::cufft::problem::{Kind, Sizes};
use streamflow::Element;
use streamflow::library::Call;
use streamflow::memory::{DeviceSlice, IntoShape};
use streamflow::{ExecutionContext, Stream};

/// Fourier transforms of complex numbers, forwards and inversely: cuFFT's `C2C` and `Z2Z`.
///
/// The forward transform of `n` numbers is `y[k] = sum of x[j] exp(-2 pi i j k / n)`, and the inverse transform has `+` in
/// place of `-`.
#[derive(Debug)]
pub struct Fft<T: Real>(Engine<T>);

impl<T: Real> Fft<T> {
    /// Plans transforms of this shape, of 1 to 3 dimensions. The last dimension varies fastest.
    pub fn plan(shape: impl IntoShape) -> Planner<Self> {
        Planner::new(shape)
    }
}

impl<T: Real> Plan<Fft<T>>
where
    Complex<T>: Element,
{
    /// Queues the forward transform of `x`, into `y`. Does not block, and allocates nothing.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another number of
    /// elements; the library's error; the driver's error.
    #[track_caller]
    pub fn forward(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<Complex<T>>,
        y: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), y)?;
        Call::written(fft.transform(stream, false, x, y), y)
    }

    /// Queues the inverse transform of `x`, into `y`. In all else, the call is as [`forward`](Self::forward).
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    #[track_caller]
    pub fn inverse(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<Complex<T>>,
        y: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), y)?;
        Call::written(fft.transform(stream, true, x, y), y)
    }

    /// Queues the forward transform of `data`, which the result replaces. In all else, the call is as [`forward`](Self::forward).
    /// The plan's layouts of input and output must be the same.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    #[track_caller]
    pub fn forward_in_place(
        &mut self,
        stream: &Stream<'_>,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), data)?;
        Call::written(fft.transform_in_place(stream, false, data), data)
    }

    /// Queues the inverse transform of `data`, which the result replaces, as [`forward_in_place`](Self::forward_in_place) does.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    #[track_caller]
    pub fn inverse_in_place(
        &mut self,
        stream: &Stream<'_>,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), data)?;
        Call::written(fft.transform_in_place(stream, true, data), data)
    }
}

impl<T: Real> Fft<T>
where
    Complex<T>: Element,
{
    #[track_caller]
    pub(super) fn transform(
        &mut self,
        stream: &Stream<'_>,
        is_inverse: bool,
        x: &DeviceSlice<Complex<T>>,
        y: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        self.0.transform(stream, is_inverse, Input::Read(x), y)?;
        self.0.normalize(stream, is_inverse, Output::Complex(y))
    }

    #[track_caller]
    fn transform_in_place(
        &mut self,
        stream: &Stream<'_>,
        is_inverse: bool,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        self.0.transform_in_place(stream, is_inverse, data)?;
        self.0.normalize(stream, is_inverse, Output::Complex(data))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Real> Made for Fft<T>
where
    Complex<T>: Element,
{
    fn make(cx: &ExecutionContext, stream: &Stream<'_>, sizes: &Sizes, norm: Norm) -> Result<Self> {
        Ok(Self(Engine::new(cx, stream, ("fft::Fft", Kind::Complex), sizes, norm)?))
    }
}
