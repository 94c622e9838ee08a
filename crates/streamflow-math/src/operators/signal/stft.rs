//! `Stft`: the spectra of the segments of a signal.

use std::fmt;
use std::marker::PhantomData;

use streamflow::memory::Complex;
use streamflow::{Compute, ExecutionContext, Result, Tensor, operator};

use super::segments::{Segments, hann};
use crate::signal::kernels::frame;
use crate::signal::{Sample, checks};

/// Transforms segments of signals that overlap: the short-time Fourier transform.
///
/// A message has signals `[…, length]`. Segment `p` is multiplied by the window, whose middle, weight `window / 2`, is at sample `p
/// * hop`. Beyond the signal, samples are 0. The last segment is the first that reaches half a window beyond the signal. So the
/// segments are those of SciPy's `signal.stft` with its `boundary="zeros"` and `padded=True`, also for a signal that is shorter
/// than the window, which SciPy refuses. [`unpadded`](Self::unpadded) has those of `boundary=None` and `padded=False`.
///
/// The result is `[…, segments, bins]`, with SciPy's last two axes exchanged, so that each spectrum is in one piece. Real signals
/// have `window / 2 + 1` bins, and complex ones `window`, in the order of the transform (SciPy's `return_onesided=False`). The
/// spectra are not scaled, as those of `ShortTimeFFT` with `phase_shift=None`: `signal.stft` divides them by the size of the
/// window's sum. The mean is not removed. The transforms are as with [`Hilbert`](super::Hilbert).
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Stft;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::host().build()?;
/// let mut stft = OperatorHarness::new(&platform, Stft::<f32>::hann(8, 4)?)?;
/// stft.push(|ports| &mut ports.signal, platform.upload(&[1.0; 20])?)?;
/// stft.tick()?;
/// let sent = stft.take(|ports| &mut ports.spectra).expect("it sends spectra in each tick");
/// assert_eq!(sent.message.shape(), [6, 5]);
/// # Ok(stft.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Stft<T: Sample> {
    /// The signals, `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The spectra of their segments, `[…, segments, bins]`.
    #[output]
    spectra: Tensor<Complex<f32>>,
    segments: Segments,
    of: PhantomData<fn() -> T>,
}

impl<T: Sample> Stft<T> {
    /// Creates an operator with this window, whose segments begin `hop` samples after each other.
    ///
    /// # Errors
    /// An error without a window, for a weight that is not finite, and for a hop that is 0 or longer than the window.
    pub fn new(window: impl Into<Vec<f32>>, hop: usize) -> Result<Self> {
        Ok(Self { segments: Segments::new("Stft", window.into(), hop)?, of: PhantomData })
    }

    /// Creates an operator with a periodic Hann window of this length.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); an error for a window of more than 2^24 samples.
    pub fn hann(len: usize, hop: usize) -> Result<Self> {
        Self::new(hann("Stft", len)?, hop)
    }

    /// Transforms only the segments that lie within the signal. A signal that is shorter than the window has no segments.
    #[must_use = "it returns the operator without padding"]
    pub fn unpadded(self) -> Self {
        Self { segments: Segments { before: 0, ..self.segments }, ..self }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sample> Compute for Stft<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        let shape = signal.shape();
        let (rows, len) = checks::signals("Stft", "signal", shape)?;
        let (window, segments) = (self.segments.len(), self.segments.of_signal(len));
        let last = shape.len() - 1;
        let mut spectra =
            cx.tensor(checks::replaced(shape, last, &[segments, T::bins(window)])?, &stream)?;
        if !spectra.is_empty() {
            let mut frames = cx.tensor::<T>([rows, segments, window], &stream)?;
            let weights = self.segments.window.on(cx)?;
            let (hop, before) = (self.segments.hop, self.segments.before);
            stream.launch::<frame<T>>(
                frames.len(),
                (&mut frames, signal, weights, len, segments, hop, before),
            )?;
            T::forward(cx, &stream, window, &frames, &mut spectra)?;
        }
        io.spectra.emit(spectra)
    }
}

impl<T: Sample> fmt::Debug for Stft<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stft").field("segments", &self.segments).finish_non_exhaustive()
    }
}
