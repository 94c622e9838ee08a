//! `Polyphase`: a filter between two sample rates.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Mul;

use streamflow::{Compute, ExecutionContext, Failure, Result, Table, Tensor, operator};

use crate::signal::kernels::filter;
use crate::signal::{Sample, checks};

/// The largest factor of a rate, as that of `streamflow::operators::Resample`.
const MOST: usize = 100_000;

/// Puts `up - 1` zeros after each sample, filters by taps, and keeps every `down`th result: SciPy's `signal.upfirdn(taps, x, up,
/// down)`. The products with zeros are left out.
///
/// A message has whole signals, `[…, length]`. A signal of one sample or more becomes `((length - 1) * up + taps) / down` samples,
/// rounded up, so the end of the filter is there, too. An empty signal stays empty.
///
/// To change a sample rate with SciPy's low-pass filter, as `signal.resample_poly`, take
/// [`Resample`](streamflow::operators::Resample). The types are those of [`Fir`](super::Fir).
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Polyphase;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// // Twice as many samples, with the means between them.
/// let mut twice = OperatorHarness::new(&platform, Polyphase::<f32>::new([0.5, 1.0, 0.5], 2, 1)?)?;
/// twice.push(|ports| &mut ports.signal, platform.upload(&[2.0, 4.0])?)?;
/// twice.tick()?;
/// let sent = twice.take(|ports| &mut ports.filtered).expect("it sends a result in each tick");
/// assert_eq!(twice.stream().download_blocking::<f32>(&*sent.message)?, [1.0, 2.0, 3.0, 4.0, 2.0]);
/// # Ok(twice.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Polyphase<T: Sample + Mul<W, Output = T>, W: Sample = f32> {
    /// The signals, `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The filtered signals, at the new rate.
    #[output]
    filtered: Tensor<T>,
    taps: Table<W>,
    up: usize,
    down: usize,
    of: PhantomData<fn() -> T>,
}

impl<T: Sample + Mul<W, Output = T>, W: Sample> Polyphase<T, W> {
    /// Creates an operator with taps at `up` times the rate of the signals. SciPy does not multiply them by `up` either.
    ///
    /// # Errors
    /// An error without taps, for a tap that is not finite, and for a factor that is 0 or above 100,000.
    pub fn new(taps: impl Into<Vec<W>>, up: usize, down: usize) -> Result<Self> {
        let taps = taps.into();
        checks::finite("Polyphase", "taps", &taps)?;
        if up == 0 || down == 0 || up.max(down) > MOST {
            return Err(Failure::msg(format!(
                "`Polyphase` can't change the rate by {up} / {down}; take two numbers from 1 to 100,000"
            )));
        }
        Ok(Self { taps: Table::new(taps), up, down, of: PhantomData })
    }

    /// Returns the number of results of a signal; `None` if it is above the numbers of the machine.
    fn new_len(&self, len: usize) -> Option<usize> {
        let Some(last) = len.checked_sub(1) else { return Some(0) };
        let all = last.checked_mul(self.up)?.checked_add(self.taps.values().len())?;
        Some(all.div_ceil(self.down))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sample + Mul<W, Output = T>, W: Sample> Compute for Polyphase<T, W> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        let (shape, up, down) = (signal.shape(), self.up, self.down);
        let (_, len) = checks::signals("Polyphase", "signal", shape)?;
        let new_len = self.new_len(len).ok_or_else(|| too_long(shape, up))?;
        let new_shape = checks::replaced(shape, shape.len() - 1, &[new_len])?;
        let mut filtered = cx.tensor(new_shape, &stream)?;
        let none = cx.buffer::<T>(0, &stream)?;
        let taps = self.taps.on(cx)?;
        stream.launch::<filter<T, W>>(
            filtered.len(),
            (&mut filtered, signal, &none, taps, len, 0, new_len, up, down),
        )?;
        io.filtered.emit(filtered)
    }
}

#[cold]
fn too_long(shape: &[usize], up: usize) -> Failure {
    Failure::msg(format!(
        "`Polyphase` makes {up} samples of each, and its input `signal` received the shape {shape:?}; send shorter signals"
    ))
}

impl<T: Sample + Mul<W, Output = T>, W: Sample> fmt::Debug for Polyphase<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Polyphase({} / {}, {} taps)", self.up, self.down, self.taps.values().len())
    }
}
