//! `Fir`: a filter of a stream of blocks.

use std::fmt;
use std::ops::Mul;

use streamflow::{
    Buffer, Compute, Element, ExecutionContext, Failure, Result, Stream, Table, Tensor, operator,
};

use crate::signal::kernels::{filter, keep};
use crate::signal::{Sample, checks};

/// Filters signals by taps: `y[n]` is the sum of `taps[k] * x[n - k]`, as SciPy's `signal.lfilter(taps, 1, x)`.
///
/// Each message is the next block of the same signals, `[…, length]`, and the result has its shape. The blocks may have any
/// length. The filter keeps the last samples of each signal, one fewer than it has taps, so the results are those of one long
/// signal, as with the `zi` of `lfilter`. Before the first block of a run, samples are 0.
///
/// The samples are of type `T`, and the taps of type `W`: `Fir<f32>`, `Fir<Complex<f32>>`, and with complex taps
/// `Fir<Complex<f32>, Complex<f32>>`. A sample that is not finite makes as many results not finite as there are taps.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Fir;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// // The difference to the sample before.
/// let mut fir = OperatorHarness::new(&platform, Fir::<f32>::new([1.0, -1.0])?)?;
/// for (block, wanted) in [([1.0, 4.0, 9.0], [1.0, 3.0, 5.0]), ([16.0, 25.0, 36.0], [7.0, 9.0, 11.0])] {
///     fir.push(|ports| &mut ports.signal, platform.upload(&block)?)?;
///     fir.tick()?;
///     let sent = fir.take(|ports| &mut ports.filtered).expect("it sends each block");
///     assert_eq!(fir.stream().download_blocking::<f32>(&*sent.message)?, wanted);
/// }
/// # Ok(fir.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Fir<T: Sample + Mul<W, Output = T>, W: Sample = f32> {
    /// The next block of the signals, `[…, length]`.
    #[input]
    signal: &Tensor<T>,
    /// The filtered block, with the shape of `signal`.
    #[output]
    filtered: Tensor<T>,
    taps: Table<W>,
    history: Option<History<T>>,
}

/// The last samples of each signal.
struct History<T: Element> {
    samples: Buffer<T>,
    rows: usize,
}

impl<T: Sample + Mul<W, Output = T>, W: Sample> Fir<T, W> {
    /// Creates an operator with these taps: the response to a single 1.
    ///
    /// # Errors
    /// An error without taps, and for a tap that is not finite.
    pub fn new(taps: impl Into<Vec<W>>) -> Result<Self> {
        let taps = taps.into();
        checks::finite("Fir", "taps", &taps)?;
        Ok(Self { taps: Table::new(taps), history: None })
    }

    /// Returns the number of samples that the filter keeps of each signal.
    fn past(&self) -> usize {
        self.taps.values().len() - 1
    }

    /// Makes the history of the first block, and refuses a block of other signals.
    fn prepare(&mut self, cx: &ExecutionContext, on: &Stream<'_>, shape: &[usize]) -> Result<()> {
        let (rows, _) = checks::signals("Fir", "signal", shape)?;
        match &self.history {
            Some(history) if history.rows == rows => Ok(()),
            Some(history) => Err(others(history.rows, rows, shape)),
            None => {
                let mut samples = cx.buffer(elements(rows, self.past())?, on)?;
                on.fill_bytes(&mut samples, 0)?;
                self.history = Some(History { samples, rows });
                Ok(())
            }
        }
    }
}

/// Returns the product, or an error if it is too large for memory.
fn elements(rows: usize, past: usize) -> Result<usize> {
    Ok(streamflow::memory::Shape::new(&[rows, past])?.dims().iter().product())
}

#[cold]
fn others(kept: usize, rows: usize, shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Fir` keeps the last samples of {kept} signals, and its input `signal` received {rows} signals, in the shape {shape:?}; send \
         blocks of the same signals in each tick"
    ))
}

#[diagnostic::do_not_recommend]
impl<T: Sample + Mul<W, Output = T>, W: Sample> Compute for Fir<T, W> {
    fn start(&mut self, _: Self::StreamNames<'_>, _: &ExecutionContext) -> Result<()> {
        // A run begins with signals of its own.
        self.history = None;
        Ok(())
    }

    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        self.prepare(cx, &stream, signal.shape())?;
        let (past, len) = (self.past(), signal.cols());
        let mut filtered = cx.tensor(signal.shape(), &stream)?;
        if let Some(History { samples, .. }) = &mut self.history {
            let taps = self.taps.on(cx)?;
            stream.launch::<filter<T, W>>(
                signal.len(),
                (&mut filtered, signal, &*samples, taps, len, past, len, 1, 1),
            )?;
            if past > 0 && len > 0 {
                let mut kept = cx.buffer(samples.len(), &stream)?;
                stream.launch::<keep<T>>(kept.len(), (&mut kept, signal, &*samples, len, past))?;
                *samples = kept;
            }
        }
        io.filtered.emit(filtered)
    }
}

impl<T: Sample + Mul<W, Output = T>, W: Sample> fmt::Debug for Fir<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fir").field("taps", &self.taps).finish_non_exhaustive()
    }
}
