//! `InterpolateAt`: values between the samples of signals, at positions that come with them.

use std::fmt;

use streamflow::{Compute, ExecutionContext, Result, Tensor, operator};

use super::rule::Rule;
use crate::signal::Sample;

/// Computes signals between their samples, at positions that it receives. In all else, it is as
/// [`Interpolate`](super::Interpolate).
///
/// The positions may have any shape, which replaces the last dimension of the signals, as in SciPy's `interp1d`. All signals
/// of a message have the same positions.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::InterpolateAt;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let nearest = InterpolateAt::<f32>::new().nearest().fill(-1.0);
/// let mut nearest = OperatorHarness::new(&platform, nearest)?;
/// nearest.push(|ports| &mut ports.signal, platform.upload(&[1.0, 3.0, 7.0])?)?;
/// nearest.push(|ports| &mut ports.positions, platform.upload(&[0.5, 1.75, 7.0])?)?;
/// nearest.tick()?;
/// let sent = nearest.take(|ports| &mut ports.values).expect("it sends values in each tick");
/// assert_eq!(nearest.stream().download_blocking::<f32>(&*sent.message)?, [1.0, 7.0, -1.0]);
/// # Ok(nearest.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct InterpolateAt<T: Sample> {
    /// The signals, `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The positions.
    #[input]
    positions: &Tensor<f32>,
    /// The values at the positions.
    #[output]
    values: Tensor<T>,
    rule: Rule<T>,
}

impl<T: Sample> InterpolateAt<T> {
    /// Creates an operator whose samples are at 0, 1, 2 and so on.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { rule: Rule::new("InterpolateAt") }
    }

    /// Sets the positions of the samples, as [`Interpolate::knots`](super::Interpolate::knots).
    ///
    /// # Errors
    /// An error for positions that do not ascend, or are not finite.
    pub fn knots(self, knots: impl Into<Vec<f32>>) -> Result<Self> {
        Ok(Self { rule: self.rule.knots(knots.into())? })
    }

    /// Takes the nearest sample.
    #[must_use = "it returns the operator with this rule"]
    pub fn nearest(self) -> Self {
        Self { rule: self.rule.nearest() }
    }

    /// Sets the value before the first and after the last sample: the `fill_value` of `interp1d`.
    #[must_use = "it returns the operator with this value"]
    pub fn fill(self, value: T) -> Self {
        Self { rule: self.rule.fill(value) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sample> Compute for InterpolateAt<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, _) = io.signal.receive_with_stream(cx)?;
        let (positions, stream) = io.positions.receive_with_stream(cx)?;
        let values = self.rule.values(cx, &stream, signal, positions)?;
        io.values.emit(values)
    }
}

impl<T: Sample> fmt::Debug for InterpolateAt<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterpolateAt").finish_non_exhaustive()
    }
}
