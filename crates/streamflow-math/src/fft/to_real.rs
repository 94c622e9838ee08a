//! Transforms of the spectrum of real numbers back to the numbers.

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

/// Inverse transforms to real numbers: cuFFT's `C2R` and `Z2D`.
///
/// The input is the first half of a spectrum, as [`RealFft`](super::RealFft) makes it. Parts that are always 0 in the spectrum of
/// real numbers, as the imaginary part of the first number, are ignored. cuFFT overwrites the input, so the input is taken by
/// `&mut`. A message that other operators receive too can't be the input.
#[derive(Debug)]
pub struct InverseRealFft<T: Real>(Engine<T>);

impl<T: Real> InverseRealFft<T> {
    /// Plans transforms of this shape: the shape of the real numbers, of 1 to 3 dimensions. The last dimension varies fastest.
    pub fn plan(shape: impl IntoShape) -> Planner<Self> {
        Planner::new(shape)
    }
}

impl<T: Real> Planner<InverseRealFft<T>> {
    /// Plans transforms for [`inverse_in_place`](Plan::inverse_in_place). Each row of `n` real numbers begins at the address of
    /// its spectrum, so it has room for `2 * (n / 2 + 1)` numbers. The plan's layouts follow from that.
    pub fn in_place(self) -> Self {
        self.in_one_memory()
    }
}

impl<T: Real> Plan<InverseRealFft<T>>
where
    Complex<T>: Element,
{
    /// Queues the transform of `x`, into `y`. Afterwards the numbers in `x` are undefined. Does not block, and allocates nothing.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another number of
    /// elements, and for a part of memory that begins at an odd index; the library's error; the driver's error.
    #[track_caller]
    pub fn inverse(
        &mut self,
        stream: &Stream<'_>,
        x: &mut DeviceSlice<Complex<T>>,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let fft = Call::written(self.lend(stream), y)?;
        Call::written(fft.transform(stream, x, y), y)
    }

    /// Queues the transform of a spectrum in `data`, which rows of real numbers replace: see [`in_place`](Planner::in_place).
    /// `data` has the type of the spectrum.
    ///
    /// # Errors
    /// The errors of [`inverse`](Self::inverse).
    #[track_caller]
    pub fn inverse_in_place(
        &mut self,
        stream: &Stream<'_>,
        data: &mut DeviceSlice<Complex<T>>,
    ) -> Result<()> {
        let InverseRealFft(engine) = Call::written(self.lend(stream), data)?;
        Call::written(engine.transform_in_place(stream, true, data), data)?;
        Call::written(engine.normalize(stream, true, Output::Complex(&mut *data)), data)
    }
}

impl<T: Real> InverseRealFft<T>
where
    Complex<T>: Element,
{
    #[track_caller]
    pub(super) fn transform(
        &mut self,
        stream: &Stream<'_>,
        x: &mut DeviceSlice<Complex<T>>,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        self.0.transform(stream, true, Input::Overwritten(x), y)?;
        self.0.normalize(stream, true, Output::Real(y))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Real> Made for InverseRealFft<T>
where
    Complex<T>: Element,
{
    fn make(cx: &ExecutionContext, stream: &Stream<'_>, sizes: &Sizes, norm: Norm) -> Result<Self> {
        Ok(Self(Engine::new(cx, stream, ("fft::InverseRealFft", Kind::ToReal), sizes, norm)?))
    }
}
