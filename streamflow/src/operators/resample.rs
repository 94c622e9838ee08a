//! `Resample`: changes the sample rate of signals.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{AddAssign, Mul};

use arrayvec::ArrayVec;

use crate::context::{ExecutionContext, Table};
use crate::error::failure::{Failure, Result};
use crate::kernel;
use crate::memory::{Element, MAX_RANK, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Changes the sample rate of signals by a ratio, for example by 160 / 147 from 44.1 kHz to 48 kHz.
///
/// A message has signals of the shape `[…, length]`, real or complex. The result has signals of `length * up / down` samples,
/// rounded up. Before its first and after its last sample, a signal counts as 0. Frequencies that the lower of the two rates
/// can't represent are filtered out by the low-pass filter of SciPy's `signal.resample_poly`: a sinc function under a Kaiser
/// window with β = 5, with ten of its zeros on each side.
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::operators::Resample;
/// # fn main() -> Result<()> {
/// let to_48_khz: Resample<f32> = Resample::new(160, 147)?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new)]
pub struct Resample<T: Element + Mul<f32, Output = T> + AddAssign> {
    /// The signals, of the shape `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The signals at the new sample rate.
    #[output]
    resampled: Tensor<T>,
    up: usize,
    down: usize,
    filter: Table<f32>,
    of: PhantomData<T>,
}

impl<T: Element + Mul<f32, Output = T> + AddAssign> Resample<T> {
    /// Creates an operator that makes `up` samples from every `down` samples.
    ///
    /// # Errors
    /// An error if one of the numbers is 0, or is above 100,000 after the ratio is reduced.
    pub fn new(up: usize, down: usize) -> Result<Self> {
        let divisor = greatest_common_divisor(up, down).max(1);
        let (reduced_up, reduced_down) = (up / divisor, down / divisor);
        if up == 0 || down == 0 || reduced_up.max(reduced_down) > 100_000 {
            return Err(Failure::msg(format!(
                "Resample can't change the rate by {up} / {down}; take two numbers from 1 to 100,000"
            )));
        }
        let filter = Table::new(low_pass(reduced_up, reduced_down));
        Ok(Self { up: reduced_up, down: reduced_down, filter, of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element + Mul<f32, Output = T> + AddAssign> Compute for Resample<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive().receive_cuda_stream(cx)?;
        let (up, down, len) = (self.up, self.down, signal.cols());
        let mut shape: ArrayVec<usize, MAX_RANK> = signal.shape().iter().copied().collect();
        let Some(last) = shape.last_mut() else {
            return Err(Failure::msg("Resample received a scalar; send signals, [length]"));
        };
        *last = (len * up).div_ceil(down);
        let new_len = *last;
        let mut resampled = cx.tensor(&*shape, &stream)?;
        let filter = self.filter.on(cx)?;
        stream.launch::<resample<T>>(
            resampled.len(),
            (&mut resampled, signal, filter, len, new_len, up, down),
        )?;
        io.resampled.emit(resampled)
    }
}

impl<T: Element + Mul<f32, Output = T> + AddAssign> fmt::Debug for Resample<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resample({} / {})", self.up, self.down)
    }
}

/// Returns the filter's taps at `up` times the input's rate. Their sum is `up`. They are computed in `f64` and then rounded.
fn low_pass(up: usize, down: usize) -> Vec<f32> {
    let rate = up.max(down) as f64;
    let half = 10 * up.max(down);
    let tap = |i: usize| {
        let at = i as f64 - half as f64;
        let x = std::f64::consts::PI * at / rate;
        let sinc = if x == 0.0 { 1.0 } else { x.sin() / x };
        sinc * bessel_i0(5.0 * (1.0 - (at / half as f64).powi(2)).max(0.0).sqrt())
    };
    let taps: Vec<f64> = (0..=2 * half).map(tap).collect();
    let scale = up as f64 / taps.iter().sum::<f64>();
    taps.iter().map(|tap| (tap * scale) as f32).collect()
}

/// Returns the modified Bessel function of order 0 at `x`, by its power series, which is exact enough for arguments up to 5.
fn bessel_i0(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..40 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
    }
    sum
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The kernel `out[row, m]` = the sum of `filter[k] * signals[row, (m * down + centre - k) / up]`, over all `k` for which the
/// last index is a whole number within the signal.
#[kernel(
    instances(f32, crate::memory::Complex<f32>),
    requires(
        up > 0,
        down > 0,
        filter.len() % 2 == 1,
        new_len == (len * up).div_ceil(down),
        out.len() * len == signals.len() * new_len
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long row = n / new_len * len;
    // The output's place at the common rate, moved by the filter's centre.
    const unsigned long long at = n % new_len * down + filter_len / 2;
    T sum = T(0);
    for (unsigned long long k = at % up; k < filter_len && k <= at; k += up) {
        const unsigned long long from = (at - k) / up;
        if (from < len) sum += signals[row + from] * filter[k];
    }
    out[n] = sum;
"
)]
pub fn resample<T: Element + Mul<f32, Output = T> + AddAssign>(
    out: &mut [T],
    signals: &[T],
    filter: &[f32],
    len: usize,
    new_len: usize,
    up: usize,
    down: usize,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let row = &signals[n / new_len * len..][..len];
        let at = n % new_len * down + filter.len() / 2;
        *out = T::default();
        for k in (at % up..filter.len().min(at + 1)).step_by(up) {
            if let Some(sample) = row.get((at - k) / up) {
                *out += *sample * filter[k];
            }
        }
    }
}
