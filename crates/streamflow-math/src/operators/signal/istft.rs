//! `Istft`: the signal of the spectra of its segments.

use std::fmt;
use std::marker::PhantomData;

use streamflow::memory::Complex;
use streamflow::{Compute, ExecutionContext, Failure, Result, Tensor, operator};

use super::segments::{Segments, hann};
use crate::signal::kernels::overlap;
use crate::signal::{Sample, checks};

/// Makes signals of the spectra of their segments: the inverse of [`Stft`](super::Stft) with the same window and hop, as SciPy's
/// `signal.istft`.
///
/// A message has spectra `[…, segments, bins]`, as [`Stft`](super::Stft) sends them. The segments are transformed, multiplied by the
/// window and added, and the sum is divided by that of the window's squares: for spectra that were changed, this is the signal
/// whose spectra are the nearest. The results have `(segments - 1) * hop + window` samples, without those before and after the
/// signal. Since `Stft` pads its last segment, these may be more than it received: [`len`](Self::len) cuts them off.
///
/// The input is taken and overwritten. The imaginary parts of the first bin and, with an even window, of the last one are ignored
/// for real signals.
///
/// ```
/// use streamflow::memory::Complex;
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Istft;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::host().build()?;
/// let mut istft = OperatorHarness::new(&platform, Istft::<f32>::hann(8, 4)?.len(10))?;
/// let spectra = platform.upload(&[Complex::new(1.0, 0.0); 4 * 5])?.reshape([4, 5])?;
/// istft.push(|ports| &mut ports.spectra, spectra)?;
/// istft.tick()?;
/// let sent = istft.take(|ports| &mut ports.signal).expect("it sends a signal in each tick");
/// assert_eq!(sent.message.shape(), [10]);
/// # Ok(istft.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Istft<T: Sample> {
    /// The spectra of segments, `[…, segments, bins]`. They are overwritten.
    #[input]
    spectra: Tensor<Complex<f32>>,
    /// The signals, `[…, length]`.
    #[output]
    signal: Tensor<T>,
    segments: Segments,
    len: Option<usize>,
    of: PhantomData<fn() -> T>,
}

impl<T: Sample> Istft<T> {
    /// Creates an operator for the spectra of an [`Stft`](super::Stft) with this window and hop.
    ///
    /// # Errors
    /// The errors of [`Stft::new`](super::Stft::new); an error for a window that leaves samples out: the sum of its squares over
    /// the segments must be above 1e-10 everywhere, SciPy's `check_NOLA`.
    pub fn new(window: impl Into<Vec<f32>>, hop: usize) -> Result<Self> {
        let window = window.into();
        let squares = |phase: usize| -> f64 {
            window.iter().skip(phase).step_by(hop).map(|w| f64::from(*w).powi(2)).sum()
        };
        let segments = Segments::new("Istft", window.clone(), hop)?;
        match (0..hop).find(|phase| squares(*phase) <= 1e-10) {
            None => Ok(Self { segments, len: None, of: PhantomData }),
            Some(phase) => Err(Failure::msg(format!(
                "`Istft` has a window of {} weights and a hop of {hop}, and the weights of sample {phase} of each hop are 0; take a \
                 shorter hop or another window",
                window.len()
            ))),
        }
    }

    /// Creates an operator with a periodic Hann window of this length.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); an error for a window of more than 2^24 samples.
    pub fn hann(len: usize, hop: usize) -> Result<Self> {
        Self::new(hann("Istft", len)?, hop)
    }

    /// Takes the spectra of [`Stft::unpadded`](super::Stft::unpadded). Where the window is 0 at the ends of the signal, the results
    /// are 0.
    #[must_use = "it returns the operator without padding"]
    pub fn unpadded(self) -> Self {
        Self { segments: Segments { before: 0, ..self.segments }, ..self }
    }

    /// Sends the first `len` samples. A message with fewer fails its tick.
    #[must_use = "it returns the operator with this length"]
    pub fn len(self, len: usize) -> Self {
        Self { len: Some(len), ..self }
    }

    /// Returns the length of the signals of a message.
    fn signal_len(&self, shape: &[usize], segments: usize) -> Result<usize> {
        let all = self.segments.samples(segments).ok_or_else(|| too_many(shape, segments))?;
        match self.len {
            Some(len) if len > all => Err(too_short(shape, len, all)),
            Some(len) => Ok(len),
            None => Ok(all),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sample> Compute for Istft<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut spectra, stream) = io.spectra.receive_with_stream(cx)?;
        let window = self.segments.len();
        let shape = spectra.shape();
        let (others, segments) = match shape {
            [others @ .., segments, bins] if *bins == T::bins(window) => (others, *segments),
            _ => return Err(no_spectra(shape, window, T::bins(window))),
        };
        let len = self.signal_len(shape, segments)?;
        let mut signal =
            cx.tensor(checks::replaced(&shape[..shape.len() - 1], others.len(), &[len])?, &stream)?;
        if !signal.is_empty() {
            let frames = T::inverse(cx, &stream, window, &mut spectra)?;
            let weights = self.segments.window.on(cx)?;
            let Segments { hop, before, .. } = self.segments;
            let scale = 1.0 / window as f32;
            stream.launch::<overlap<T>>(
                signal.len(),
                (&mut signal, &frames, weights, len, segments, hop, before, scale),
            )?;
        }
        io.signal.emit(signal)
    }
}

#[cold]
fn no_spectra(shape: &[usize], window: usize, bins: usize) -> Failure {
    Failure::msg(format!(
        "`Istft` has a window of {window} samples, and its input `spectra` received the shape {shape:?}; send […, segments, {bins}]"
    ))
}

#[cold]
fn too_short(shape: &[usize], len: usize, all: usize) -> Failure {
    Failure::msg(format!(
        "`Istft` sends {len} samples, and its input `spectra` received those of {all}, in the shape {shape:?}; send more segments, or \
         set a smaller `len`"
    ))
}

#[cold]
fn too_many(shape: &[usize], segments: usize) -> Failure {
    Failure::msg(format!(
        "`Istft` can't add {segments} segments, and its input `spectra` received them in the shape {shape:?}; send fewer"
    ))
}

impl<T: Sample> fmt::Debug for Istft<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Istft")
            .field("segments", &self.segments)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
