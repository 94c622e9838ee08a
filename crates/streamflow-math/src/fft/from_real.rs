//! Transforms of real numbers to their spectrum.

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

/// Forward transforms of real numbers: cuFFT's `R2C` and `D2Z`.
///
/// The second half of the spectrum of real numbers is the first half in reverse order, conjugated. So a row of `n` real
/// numbers becomes `n / 2 + 1` complex numbers; the other dimensions keep their lengths.
#[derive(Debug)]
pub struct RealFft<T: Real>(Engine<T>);

impl<T: Real> RealFft<T> {
    /// Plans transforms of this shape: the shape of the real numbers, of 1 to 3 dimensions. The last dimension varies fastest.
    pub fn plan(shape: impl IntoShape) -> Planner<Self> {
        Planner::new(shape)
    }
}

impl<T: Real> Planner<RealFft<T>> {
    /// Plans transforms for [`forward_in_place`](Plan::forward_in_place). Each row of `n` real numbers begins at the address of
    /// its spectrum, so it has room for `2 * (n / 2 + 1)` numbers. The plan's layouts follow from that.
    pub fn in_place(self) -> Self {
        self.in_one_memory()
    }
}

impl<T: Real> Plan<RealFft<T>>
where
    Complex<T>: Element,
{
    /// Queues the transform of `x`, into `y`. Does not block, and allocates nothing.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another number of
    /// elements, and for a part of memory that begins at an odd index; the library's error; the driver's error.
    #[track_caller]
    pub fn forward(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<T>,
        y: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), y)?;
        Call::written(fft.transform(stream, x, y), y)
    }

    /// Queues the transform of rows of real numbers in `data`, which the spectrum replaces: see [`in_place`](Planner::in_place).
    /// `data` has the type of the spectrum.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    #[track_caller]
    pub fn forward_in_place(
        &mut self,
        stream: &Stream<'_>,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let RealFft(engine) = Call::written(self.lend(stream), data)?;
        Call::written(engine.transform_in_place(stream, false, data), data)?;
        Call::written(engine.normalize(stream, false, Output::Complex(&mut *data)), data)
    }
}

impl<T: Real> RealFft<T>
where
    Complex<T>: Element,
{
    #[track_caller]
    pub(super) fn transform(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<T>,
        y: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        self.0.transform(stream, false, Input::Read(x), y)?;
        self.0.normalize(stream, false, Output::Complex(y))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Real> Made for RealFft<T>
where
    Complex<T>: Element,
{
    fn make(cx: &ExecutionContext, stream: &Stream<'_>, sizes: &Sizes, norm: Norm) -> Result<Self> {
        Ok(Self(Engine::new(cx, stream, ("fft::RealFft", Kind::FromReal), sizes, norm)?))
    }
}
