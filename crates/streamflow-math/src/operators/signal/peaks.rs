//! `Peaks`: the maxima of signals.

use streamflow::memory::Shape;
use streamflow::{Compute, ExecutionContext, Failure, Result, Stream, Tensor, operator};

use crate::signal::checks;
use crate::signal::kernels::{Latest, Ranked, counts, pick, pick_kept, run_starts, thin, tops};

/// Finds the peaks of signals, as SciPy's `signal.find_peaks` with `height` and `distance`.
///
/// A peak is a sample that is higher than both its neighbours, or a plateau of equal samples that is higher than both samples
/// beside it; its position is the plateau's middle, rounded down. The first and the last sample are no peaks, and neither is a
/// sample beside a NaN. [`heights`](Self::heights) keeps peaks of certain heights. [`distance`](Self::distance) then removes each
/// peak that is too near to a higher one which stays, and of equal ones the earlier one; SciPy's order of equal ones depends on
/// its sort.
///
/// A message has signals `[…, length]`, of less than 2^32 samples. Each signal has places for `most` peaks, since a GPU's result
/// has a fixed size: the first peaks by position. A place without a peak has the position `u32::MAX` and the height NaN. The
/// number of peaks that were found is sent, too, and may be above `most`. SciPy's `threshold`, `prominence`, `width` and
/// `plateau_size` are not here.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_math::operators::Peaks;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let mut peaks = OperatorHarness::new(&platform, Peaks::new(3)?.heights(2.0, f32::INFINITY)?)?;
/// peaks.push(|ports| &mut ports.signal, platform.upload(&[0.0, 3.0, 1.0, 1.5, 1.0, 2.0, 2.0, 2.0, 0.0])?)?;
/// peaks.tick()?;
/// let sent = peaks.take(|ports| &mut ports.positions).expect("it sends positions in each tick");
/// assert_eq!(peaks.stream().download_blocking::<u32>(&*sent.message)?, [1, 6, u32::MAX]);
/// # Ok(peaks.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
#[derive(Debug)]
pub struct Peaks {
    /// The signals, `[…, length]`.
    #[input]
    signal: &Tensor<f32>,
    /// The indices of the peaks, `[…, most]`, ascending, then `u32::MAX`.
    #[output]
    positions: Tensor<u32>,
    /// The signal's values there, `[…, most]`, then NaN.
    #[output]
    heights: Tensor<f32>,
    /// The number of peaks of each signal, `[…]`; of a single signal `[1]`.
    #[output]
    counts: Tensor<u32>,
    most: usize,
    low: f32,
    high: f32,
    distance: u32,
}

/// Peaks of signals: their positions and heights, `[rows, most]`, and the numbers up to each place, `[rows, len]`.
struct Found {
    positions: Tensor<u32>,
    heights: Tensor<f32>,
    ranks: Tensor<u32>,
    len: usize,
}

impl Peaks {
    /// Creates an operator with places for this number of peaks of each signal.
    ///
    /// # Errors
    /// An error for 0, and for 2^32 or more.
    pub fn new(most: usize) -> Result<Self> {
        if most == 0 || u32::try_from(most).is_err() {
            return Err(Failure::msg(format!(
                "`Peaks` has {most} places for the peaks of a signal; take 1 to 4,294,967,295"
            )));
        }
        Ok(Self { most, low: f32::NEG_INFINITY, high: f32::INFINITY, distance: 1 })
    }

    /// Finds peaks of heights from `low` to `high`, both included: SciPy's `height=(low, high)`.
    ///
    /// # Errors
    /// An error for a NaN, and if `low` is above `high`.
    pub fn heights(self, low: f32, high: f32) -> Result<Self> {
        if low <= high {
            return Ok(Self { low, high, ..self });
        }
        Err(Failure::msg(format!(
            "`Peaks` can't have heights from {low} to {high}; give a number, and one that is not below it"
        )))
    }

    /// Finds peaks that are at least this number of samples apart: SciPy's `distance`, 1 by default.
    ///
    /// # Errors
    /// An error for 0.
    pub fn distance(self, samples: usize) -> Result<Self> {
        if samples == 0 {
            return Err(Failure::msg("`Peaks` has a distance of 0 samples; take at least 1"));
        }
        Ok(Self { distance: samples.try_into().unwrap_or(u32::MAX), ..self })
    }

    /// Finds the first `most` peaks of all heights that are wanted.
    fn find(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        signal: &Tensor<f32>,
        [rows, len]: [usize; 2],
        most: usize,
    ) -> Result<Found> {
        let mut marks = cx.tensor([rows, len], stream)?;
        let mut starts = cx.tensor([rows, len], stream)?;
        let mut ranks = cx.tensor([rows, len], stream)?;
        stream.map::<run_starts>((&mut marks, len, signal))?;
        stream.scan_axis::<Latest>(&mut starts, &marks, 1)?;
        stream.map::<tops>((&mut marks, &starts, len, self.low, self.high, signal))?;
        stream.scan_axis::<Ranked>(&mut ranks, &marks, 1)?;
        let mut positions = cx.tensor([rows, most], stream)?;
        let mut heights = cx.tensor([rows, most], stream)?;
        let args = (&mut positions, &mut heights, len, signal, &starts, &ranks);
        stream.map::<pick>(args)?;
        Ok(Found { positions, heights, ranks, len })
    }

    /// Keeps the peaks that are far enough from higher ones.
    fn thinned(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        all: &Found,
        rows: usize,
    ) -> Result<Found> {
        let len = all.positions.cols();
        let mut count = cx.tensor([rows], stream)?;
        stream.map::<counts>((&mut count, all.len, &all.ranks))?;
        let mut kept = cx.tensor([rows, len], stream)?;
        let blocks = streamflow::Grid::blocks(rows.min(1 << 16));
        stream.launch::<thin>(
            blocks,
            (&mut kept, &all.positions, &all.heights, &count, len, self.distance),
        )?;
        let mut ranks = cx.tensor([rows, len], stream)?;
        stream.scan_axis::<Ranked>(&mut ranks, &kept, 1)?;
        let mut positions = cx.tensor([rows, self.most], stream)?;
        let mut heights = cx.tensor([rows, self.most], stream)?;
        let args = (&mut positions, &mut heights, len, &all.positions, &all.heights, &ranks);
        stream.map::<pick_kept>(args)?;
        Ok(Found { positions, heights, ranks, len })
    }
}

#[diagnostic::do_not_recommend]
impl Compute for Peaks {
    fn compute(&mut self, io: PeaksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (signal, stream) = io.signal.receive_with_stream(cx)?;
        let shape = signal.shape();
        let (rows, len) = checks::signals("Peaks", "signal", shape)?;
        if u32::try_from(len).is_err() {
            return Err(too_long(shape));
        }
        let last = shape.len() - 1;
        let of_peaks = checks::replaced(shape, last, &[self.most])?;
        let of_counts = if last == 0 { Shape::new(&[1])? } else { Shape::new(&shape[..last])? };
        // No signal has more peaks than every second one of its inner samples.
        let all = len.saturating_sub(1) / 2;
        let found = if self.distance > 1 && all > 0 && rows > 0 {
            let all = self.find(cx, &stream, signal, [rows, len], all)?;
            self.thinned(cx, &stream, &all, rows)?
        } else {
            self.find(cx, &stream, signal, [rows, len], self.most)?
        };
        let mut count = cx.tensor([rows], &stream)?;
        stream.map::<counts>((&mut count, found.len, &found.ranks))?;
        io.positions.emit(found.positions.reshape(of_peaks)?)?;
        io.heights.emit(found.heights.reshape(of_peaks)?)?;
        io.counts.emit(count.reshape(of_counts)?)
    }
}

#[cold]
fn too_long(shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`Peaks` counts samples in 32 bits, and its input `signal` received the shape {shape:?}; send signals of less than 2^32 samples"
    ))
}
