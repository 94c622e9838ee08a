//! `Hilbert`: the analytic signal.

use streamflow::memory::Complex;
use streamflow::{Compute, ExecutionContext, Result, Tensor, operator};

use crate::fft::rows;
use crate::signal::checks;
use crate::signal::kernels::analytic;

/// Makes the analytic signals of real ones, as SciPy's `signal.hilbert`: the real part is the signal itself, and the imaginary part
/// its Hilbert transform. Their size is the envelope, and their angle the phase.
///
/// A message has signals `[…, length]` of any length, even or odd. A signal counts as periodic. The transforms are those of cuFFT,
/// with a plan that the first tick of each shape makes. The node needs streams of its own, and not `#[streams(none)]`.
///
/// ```
/// use streamflow::memory::Complex;
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Hilbert;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::host().build()?;
/// let mut hilbert = OperatorHarness::new(&platform, Hilbert::new())?;
/// // A cosine becomes a wave of the constant size 1.
/// hilbert.push(|ports| &mut ports.signal, platform.upload(&[1.0, 0.0, -1.0, 0.0])?)?;
/// hilbert.tick()?;
/// let sent = hilbert.take(|ports| &mut ports.analytic).expect("it sends a result in each tick");
/// let found: Vec<Complex<f32>> = hilbert.stream().download_blocking(&*sent.message)?;
/// assert!(found.iter().all(|z| (z.norm() - 1.0).abs() < 1e-6));
/// # Ok(hilbert.stop()?)
/// # }
/// ```
#[operator(unlisted)]
#[derive(Debug)]
pub struct Hilbert {
    /// The real signals, `[…, length]`.
    #[input]
    signal: &Tensor<f32>,
    /// The analytic signals, with the shape of `signal`.
    #[output]
    analytic: Tensor<Complex<f32>>,
}

#[diagnostic::do_not_recommend]
impl Compute for Hilbert {
    fn compute(&mut self, io: HilbertIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        let (rows, len) = checks::signals("Hilbert", "signal", signal.shape())?;
        let mut result = cx.tensor(signal.shape(), &stream)?;
        if signal.is_empty() {
            return io.analytic.emit(result);
        }
        let mut half = cx.tensor([rows, len / 2 + 1], &stream)?;
        rows::forward_real(cx, &stream, len, signal, &mut half)?;
        let mut spectrum = cx.tensor([rows, len], &stream)?;
        let scale = 1.0 / len as f32;
        stream.launch::<analytic>(spectrum.len(), (&mut spectrum, &half, len, scale))?;
        rows::inverse(cx, &stream, len, &spectrum, &mut result)?;
        io.analytic.emit(result)
    }
}
