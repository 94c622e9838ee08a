//! `Blur`: means of neighbours.

use std::fmt;
use std::marker::PhantomData;

use streamflow::kernel::Number;
use streamflow::prelude::*;
use streamflow::{Failure, Table};

use crate::format::Packed;
use crate::image::Image;
use crate::sample::Sample;
use crate::sampling::{Border, place, rounded};

/// The largest number of weights along an axis.
const MOST: usize = 4095;

/// Replaces each pixel by a weighted mean of its neighbours, as OpenCV's `blur` and `GaussianBlur`. The weights of rows and columns
/// are applied one after the other. Other weights are those of [`Convolve2d`](streamflow::operators::Convolve2d).
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Blur;
/// use streamflow_vision::format::Rgb;
///
/// # fn main() -> streamflow::Result<()> {
/// let soft: Blur<Rgb<u8>> = Blur::gaussian(1.5)?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Blur<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The means, without padding.
    #[output]
    blurred: Image<F>,
    across: Table<f32>,
    down: Table<f32>,
    border: Border,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Blur<F> {
    /// Creates an operator for means of `columns` × `rows` pixels.
    ///
    /// # Errors
    /// An error for an even number, which has no middle, and for one above 4,095.
    pub fn mean(columns: usize, rows: usize) -> Result<Self> {
        Self::separable(weights(columns, |_| 1.0)?, weights(rows, |_| 1.0)?)
    }

    /// Creates an operator for weights of a Gaussian bell with this deviation in pixels. It has four deviations on each side, as SciPy's
    /// `gaussian_filter`.
    ///
    /// # Errors
    /// An error for a deviation that is not above 0, or above 511.
    pub fn gaussian(deviation: f32) -> Result<Self> {
        if !(deviation > 0.0 && deviation <= 511.0) {
            return Err(Failure::msg(format!(
                "`Blur` can't have a deviation of {deviation} pixels; give it one above 0, and up to 511"
            )));
        }
        let side = (4.0 * deviation + 0.5) as usize;
        Self::gaussian_of(deviation, 2 * side + 1)
    }

    /// Creates an operator for `count` weights of a Gaussian bell along each axis, as OpenCV's `GaussianBlur` with this size.
    ///
    /// # Errors
    /// An error for a deviation that is not above 0, an even number, and one above 4,095.
    pub fn gaussian_of(deviation: f32, count: usize) -> Result<Self> {
        if !(deviation > 0.0 && deviation.is_finite()) {
            return Err(Failure::msg(format!(
                "`Blur` can't have a deviation of {deviation} pixels; give it one above 0"
            )));
        }
        let scale = -0.5 / (f64::from(deviation) * f64::from(deviation));
        let bell = |at: f64| (scale * at * at).exp();
        Self::separable(weights(count, bell)?, weights(count, bell)?)
    }

    fn separable(across: Vec<f32>, down: Vec<f32>) -> Result<Self> {
        let (across, down) = (Table::new(across), Table::new(down));
        Ok(Self { across, down, border: Border::Mirror, of: PhantomData })
    }

    /// Sets the pixels beyond the image, by default `Mirror`.
    #[must_use = "it returns the operator with this border"]
    pub fn with_border(self, border: Border) -> Self {
        Self { border, ..self }
    }
}

/// The weights of a function of the distance from the middle, whose sum is 1.
fn weights(count: usize, of: impl Fn(f64) -> f64) -> Result<Vec<f32>> {
    if count.is_multiple_of(2) || count > MOST {
        return Err(Failure::msg(format!(
            "`Blur` can't have {count} weights along an axis; give it an odd number of at most {MOST}, so that one is in the middle"
        )));
    }
    let all: Vec<f64> = (0..count).map(|i| of(i as f64 - (count / 2) as f64)).collect();
    let sum: f64 = all.iter().sum();
    Ok(all.iter().map(|weight| (weight / sum) as f32).collect())
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Blur<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let info = image.info();
        let shape = [info.height, info.width * F::CHANNELS];
        let mut rows = cx.tensor(shape, &stream)?;
        let mut out = cx.tensor(shape, &stream)?;
        let mut line = Line {
            length: info.width as i64,
            step: F::CHANNELS,
            pitch: image.pitch(),
            channels: F::CHANNELS,
            border: self.border.code(),
            constant: self.border.constant(),
            whole: false,
            limit: F::Sample::FULL,
        };
        stream.map::<blur_across<F::Sample>>((
            &mut rows,
            image.samples(),
            self.across.on(cx)?,
            line,
        ))?;
        line =
            Line { length: info.height as i64, step: shape[1], whole: F::Sample::IS_WHOLE, ..line };
        stream.map::<blur_down<F::Sample>>((&mut out, &rows, self.down.on(cx)?, line))?;
        io.blurred.emit(Image::of(out, info))
    }
}

impl<F: Packed> fmt::Debug for Blur<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blur({} × {} weights)", self.across.values().len(), self.down.values().len())
    }
}

/// The arguments of a launch: the pixels along the axis, and the samples from one to the next.
#[derive(Debug, Clone, Copy, KernelArg)]
struct Line {
    length: i64,
    step: usize,
    pitch: usize,
    channels: usize,
    border: u32,
    constant: [f32; 4],
    whole: bool,
    limit: f32,
}

/// The sums along rows.
#[kernel(map)]
fn blur_across<T: Number>(
    out: &mut f32,
    #[at] [y, column]: [usize; 2],
    image: &[T],
    weights: &[f32],
    line: Line,
) {
    let channel = column % line.channels;
    let first = (column / line.channels) as i64 - (weights.len() / 2) as i64;
    let mut sum = 0.0_f32;
    for i in 0..weights.len() {
        let x = place(first + i as i64, line.length, line.border);
        if x >= 0 {
            sum = weights[i]
                .mul_add(image[y * line.pitch + x as usize * line.step + channel] as f32, sum);
        } else {
            sum = weights[i].mul_add(line.constant[channel], sum);
        }
    }
    *out = sum;
}

/// The sums along columns of those sums.
#[kernel(map)]
fn blur_down<T: Number>(
    out: &mut T,
    #[at] [y, column]: [usize; 2],
    rows: &[f32],
    weights: &[f32],
    line: Line,
) {
    let first = y as i64 - (weights.len() / 2) as i64;
    let mut sum = 0.0_f32;
    for i in 0..weights.len() {
        let row = place(first + i as i64, line.length, line.border);
        if row >= 0 {
            sum = weights[i].mul_add(rows[row as usize * line.step + column], sum);
        } else {
            sum = weights[i].mul_add(line.constant[column % line.channels], sum);
        }
    }
    *out = rounded(sum, line.whole, line.limit) as T;
}
