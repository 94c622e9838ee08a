//! `Interpolate`: values between the samples of signals.

use std::fmt;

use streamflow::{Compute, ExecutionContext, Result, Table, Tensor, operator};

use super::rule::Rule;
use crate::signal::{Sample, checks};

/// Computes signals between their samples, at positions of the operator: NumPy's `interp`, and SciPy's `interp1d` with
/// `kind="linear"` and `kind="nearest"`. [`InterpolateAt`](super::InterpolateAt) receives the positions.
///
/// A message has signals `[…, length]`, and the result is `[…, positions]`. Positions count samples from 0, unless the samples have
/// [`knots`](Self::knots). A result is the value of a straight line between two samples, or with [`nearest`](Self::nearest) the
/// nearest sample, and in the middle the one before. Outside, it is the first or the last sample, as in `interp`, or the value of
/// [`fill`](Self::fill). All are computed in `f32`, which counts samples exactly up to 2^24. A position that is NaN gives NaN.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Interpolate;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let between = Interpolate::<f32>::new([0.5, 1.25, 7.0])?;
/// let mut between = OperatorHarness::new(&platform, between)?;
/// between.push(|ports| &mut ports.signal, platform.upload(&[1.0, 3.0, 7.0])?)?;
/// between.tick()?;
/// let sent = between.take(|ports| &mut ports.values).expect("it sends values in each tick");
/// assert_eq!(between.stream().download_blocking::<f32>(&*sent.message)?, [2.0, 4.0, 7.0]);
/// # Ok(between.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Interpolate<T: Sample> {
    /// The signals, `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The values at the positions, `[…, positions]`.
    #[output]
    values: Tensor<T>,
    positions: Table<f32>,
    rule: Rule<T>,
}

impl<T: Sample> Interpolate<T> {
    /// Creates an operator for these positions.
    ///
    /// # Errors
    /// An error without positions, and for a position that is not finite.
    pub fn new(positions: impl Into<Vec<f32>>) -> Result<Self> {
        let positions = positions.into();
        checks::finite("Interpolate", "positions", &positions)?;
        Ok(Self { positions: Table::new(positions), rule: Rule::new("Interpolate") })
    }

    /// Sets the positions of the samples, one for each: the `xp` of `interp`. They ascend.
    ///
    /// # Errors
    /// An error for positions that do not ascend, or are not finite.
    pub fn knots(self, knots: impl Into<Vec<f32>>) -> Result<Self> {
        Ok(Self { rule: self.rule.knots(knots.into())?, ..self })
    }

    /// Takes the nearest sample.
    #[must_use = "it returns the operator with this rule"]
    pub fn nearest(self) -> Self {
        Self { rule: self.rule.nearest(), ..self }
    }

    /// Sets the value before the first and after the last sample: the `fill_value` of `interp1d`.
    #[must_use = "it returns the operator with this value"]
    pub fn fill(self, value: T) -> Self {
        Self { rule: self.rule.fill(value), ..self }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sample> Compute for Interpolate<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        let values = self.rule.values(cx, &stream, signal, self.positions.on(cx)?)?;
        io.values.emit(values)
    }
}

impl<T: Sample> fmt::Debug for Interpolate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interpolate").field("positions", &self.positions).finish_non_exhaustive()
    }
}
