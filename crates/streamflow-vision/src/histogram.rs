//! `Histogram`: how many samples have which values.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::prelude::*;

use crate::format::Packed;
use crate::image::Image;
use crate::sample::Sample;

/// The most bytes of shared memory that a block has on each GPU.
const SHARED_BYTES: usize = 48 * 1024;
/// The samples of a row that a block counts at a time.
const TASK: usize = 8192;
/// The most blocks. Each adds its counts to those of the others.
const MOST_BLOCKS: usize = 1024;

/// Counts the samples of each channel in bins of equal width, as `cv2.calcHist` for each channel.
///
/// A sample `v` is in bin `floor((v - low) * bins / (high - low))`, computed with `f64`. A sample below `low`, one from `high` on, and a
/// NaN are in none.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_vision::format::Grey;
/// use streamflow_vision::{Histogram, Image};
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let samples = platform.upload(&[0_u8, 63, 64, 255])?.reshape([2, 2])?;
/// let image: Image<Grey<u8>> = Image::new(samples, 2, 2)?;
/// let mut histogram = OperatorHarness::new(&platform, Histogram::<Grey<u8>>::new(4)?)?;
/// histogram.push(|ports| &mut ports.image, image)?;
/// assert!(histogram.tick()?);
/// let sent = histogram.take(|ports| &mut ports.counts).expect("it sends in each tick");
/// assert_eq!(histogram.stream().download_blocking(&sent.message)?, [2, 1, 0, 1]);
/// # Ok(histogram.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Histogram<F: Packed> {
    /// The images, of fewer than 2³² pixels.
    #[input]
    image: &Image<F>,
    /// The numbers of samples, `[channels, bins]`.
    #[output]
    counts: Tensor<u32>,
    bins: usize,
    low: f32,
    high: f32,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Histogram<F> {
    /// Creates an operator whose bins have all values of a sample: from 0 up to and without 256 for `u8`, 65,536 for `u16` and 1 for
    /// `f32`.
    ///
    /// # Errors
    /// An error with a text for no bins, and for more than 2²⁴.
    pub fn new(bins: usize) -> Result<Self> {
        let high = if F::Sample::IS_WHOLE { F::Sample::FULL + 1.0 } else { F::Sample::FULL };
        Self::with_range(bins, 0.0, high)
    }

    /// Creates an operator whose bins have the values from `low` up to and without `high`.
    ///
    /// # Errors
    /// An error with a text for no bins, for more than 2²⁴, and for a range that is empty or not finite.
    pub fn with_range(bins: usize, low: f32, high: f32) -> Result<Self> {
        if bins == 0 || bins > 1 << 24 {
            return Err(Failure::msg(format!(
                "`Histogram` can't have {bins} bins; give it 1 to 16,777,216"
            )));
        }
        if !(low < high && low.is_finite() && high.is_finite()) {
            return Err(Failure::msg(format!(
                "`Histogram` can't have bins from {low} to {high}; give it a finite range whose begin is below its end"
            )));
        }
        Ok(Self { bins, low, high, of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Histogram<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let counts = count(image, self.bins, self.low, self.high, "Histogram", cx, &stream)?;
        io.counts.emit(counts)
    }
}

impl<F: Packed> fmt::Debug for Histogram<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Histogram({}, {} bins, {} to {})", F::NAME, self.bins, self.low, self.high)
    }
}

/// Counts the samples of an image for the operator of this name.
pub(crate) fn count<F: Packed>(
    image: &Image<F>,
    bins: usize,
    low: f32,
    high: f32,
    who: &str,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Tensor<u32>> {
    check_pixels(image, who)?;
    let (width, height) = (image.width(), image.height());
    let mut counts = cx.tensor([F::CHANNELS, bins], stream)?;
    stream.fill_bytes(&mut counts, 0)?;
    if width == 0 || height == 0 {
        return Ok(counts);
    }
    let row = width * F::CHANNELS;
    let tasks = row.div_ceil(TASK) * height;
    let own = F::CHANNELS * bins * size_of::<u32>();
    let grid = Grid::blocks(tasks.min(MOST_BLOCKS)).threads(256);
    let grid = if own <= SHARED_BYTES { grid.shared_bytes(own) } else { grid };
    let scale = bins as f64 / (f64::from(high) - f64::from(low));
    stream.launch::<histogram<F::Sample>>(
        grid,
        (
            &mut counts,
            image.samples(),
            row,
            height,
            image.pitch(),
            F::CHANNELS as u32,
            scale,
            -f64::from(low) * scale,
            f64::from(low),
            f64::from(high),
        ),
    )?;
    Ok(counts)
}

/// Checks that a number of pixels of an image is a `u32`.
pub(crate) fn check_pixels<F: Packed>(image: &Image<F>, who: &str) -> Result<()> {
    let (width, height) = (image.width(), image.height());
    if width.checked_mul(height).is_some_and(|area| area < u32::MAX as usize) {
        return Ok(());
    }
    Err(Failure::msg(format!(
        "`{who}` counts in 32 bits, and its input `image` received {width} × {height} pixels; send fewer than 4,294,967,295"
    )))
}

/// The kernel of [`Histogram`]: `counts[channel, floor(v * scale + offset)] += 1` for the samples `v` of an image with rows of `row`
/// samples. The last bin has what rounding puts behind it.
#[kernel(
    threads(256),
    partial,
    instances(u8, u16, f32),
    requires(
        row <= pitch,
        height.checked_mul(pitch).is_some_and(|all| all <= image.len()),
        channels > 0 && counts.len() % channels as usize == 0
    ),
    unsafe cuda = "
    // A block counts in its shared memory, if that has room for all bins, and adds its counts to those of the others.
    extern __shared__ unsigned int own[];
    const bool shared = shared_bytes() >= counts_len * sizeof(unsigned int);
    unsigned int* const to = shared ? own : counts;
    if (shared) {
        for (unsigned long long i = threadIdx.x; i < counts_len; i += 256) own[i] = 0;
        __syncthreads();
    }
    const unsigned long long bins = counts_len / channels, columns = (row + 8191) / 8192;
    for (unsigned long long task = blockIdx.x; task < columns * height; task += gridDim.x) {
        const unsigned long long y = task / columns, first = task % columns * 8192;
        const T* const from = image + y * pitch + first;
        const unsigned int count = row - first < 8192 ? (unsigned int)(row - first) : 8192;
        const unsigned int skipped = (unsigned int)(first % channels);
        for (unsigned int i = threadIdx.x; i < count; i += 256) {
            const double v = (double)from[i];
            if (!(v >= low && v < high)) continue;
            const double place = __dadd_rn(__dmul_rn(v, scale), offset);
            unsigned long long bin = place > 0.0 ? (unsigned long long)place : 0;
            if (bin >= bins) bin = bins - 1;
            atomicAdd(to + (skipped + i) % channels * bins + bin, 1u);
        }
    }
    if (shared) {
        __syncthreads();
        for (unsigned long long i = threadIdx.x; i < counts_len; i += 256) {
            if (own[i] > 0) atomicAdd(counts + i, own[i]);
        }
    }
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub(crate) fn histogram<T: Element + Sample>(
    counts: &mut [u32],
    image: &[T],
    row: usize,
    height: usize,
    pitch: usize,
    channels: u32,
    scale: f64,
    offset: f64,
    low: f64,
    high: f64,
) {
    let channels = channels as usize;
    let bins = counts.len() / channels;
    for y in 0..height {
        for (i, sample) in image[y * pitch..][..row].iter().enumerate() {
            let v = f64::from(sample.number());
            if v >= low && v < high {
                let bin = (v * scale + offset) as usize;
                counts[i % channels * bins + bin.min(bins - 1)] += 1;
            }
        }
    }
}
