//! `Resize`: images of another size.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::kernel::Number;
use streamflow::prelude::*;

use crate::format::Packed;
use crate::image::{Image, Info};
use crate::sample::Sample;
use crate::sampling::{Interpolation, rounded, weight};

/// Makes images of another size. The centres of pixels are at halves, as in OpenCV, PyTorch (`align_corners=False`) and Pillow.
///
/// - [`Interpolation::Nearest`] takes pixel `floor(x * width / new_width)`, as OpenCV's `INTER_NEAREST`.
/// - `Linear` and `Cubic` are OpenCV's `INTER_LINEAR` and `INTER_CUBIC`: smaller images lose the pixels between.
/// - [`antialias`](Self::antialias) widens these filters for smaller images, as Pillow's `BILINEAR` and `BICUBIC`, whose cubic parameter
///   is -0.5.
/// - [`area`](Self::area) takes the mean of the area that a pixel covers, as OpenCV's `INTER_AREA` for smaller images.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Rgb;
/// use streamflow_vision::{Interpolation, Resize};
///
/// # fn main() -> streamflow::Result<()> {
/// let to_vga: Resize<Rgb<u8>> = Resize::new(640, 480, Interpolation::Linear)?.antialias();
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Resize<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The images of the new size, without padding.
    #[output]
    resized: Image<F>,
    width: usize,
    height: usize,
    filter: Filter,
    antialias: bool,
    of: PhantomData<fn(F)>,
}

/// The weights of samples. The numbers are those of the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Filter {
    Nearest = 0,
    Linear = 1,
    Cubic = 2,
    Area = 3,
}

impl<F: Packed> Resize<F> {
    /// Creates an operator that makes images of this size.
    ///
    /// # Errors
    /// An error for a width or a height of 0, or for more samples than memory can have.
    pub fn new(width: usize, height: usize, interpolation: Interpolation) -> Result<Self> {
        let filter = match interpolation {
            Interpolation::Nearest => Filter::Nearest,
            Interpolation::Linear => Filter::Linear,
            Interpolation::Cubic => Filter::Cubic,
        };
        Self::with_filter(width, height, filter)
    }

    /// Creates an operator whose pixels are the mean of the area that they cover in the image.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn area(width: usize, height: usize) -> Result<Self> {
        Self::with_filter(width, height, Filter::Area)
    }

    fn with_filter(width: usize, height: usize, filter: Filter) -> Result<Self> {
        let samples = width.checked_mul(F::CHANNELS).and_then(|row| row.checked_mul(height));
        if !samples.is_some_and(|samples| (1..1 << 40).contains(&samples)) {
            return Err(Failure::msg(format!(
                "`Resize` can't make images of {width} × {height} pixels; give it a width and a height from 1, of at most 2^40 samples"
            )));
        }
        Ok(Self { width, height, filter, antialias: false, of: PhantomData })
    }

    /// Lets each pixel of a smaller image be made of all pixels that it covers.
    #[must_use = "it returns the operator with this filter"]
    pub fn antialias(self) -> Self {
        Self { antialias: true, ..self }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Resize<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let info = image.info();
        if info.width == 0 || info.height == 0 {
            return Err(Failure::msg(format!(
                "`Resize` can't make an image of {} × {} pixels from that of its input `image`, which has {} × {}; send images with pixels",
                self.width, self.height, info.width, info.height
            )));
        }
        let mut out = cx.tensor([self.height, self.width * F::CHANNELS], &stream)?;
        stream.map::<resize<F::Sample>>((
            &mut out,
            image.samples(),
            Sizes {
                pitch: image.pitch(),
                channels: F::CHANNELS,
                size: [info.width, info.height],
                new_size: [self.width, self.height],
                filter: self.filter as u32,
                antialias: self.antialias && self.filter != Filter::Nearest,
                whole: F::Sample::IS_WHOLE,
                limit: F::Sample::FULL,
            },
        ))?;
        io.resized.emit(Image::of(out, Info { width: self.width, height: self.height, ..info }))
    }
}

impl<F: Packed> fmt::Debug for Resize<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resize({} × {}, {:?})", self.width, self.height, self.filter)
    }
}

/// The arguments of a launch of [`resize`].
#[derive(Debug, Clone, Copy, KernelArg)]
struct Sizes {
    pitch: usize,
    channels: usize,
    size: [usize; 2],
    new_size: [usize; 2],
    filter: u32,
    antialias: bool,
    whole: bool,
    limit: f32,
}

/// The samples that a new sample is made of along one axis: the number of the first one, how many they are, the place of the new sample
/// from the first one, and the width of the filter.
#[kernel_fn]
fn span(at: usize, len: usize, new_len: usize, filter: u32, antialias: bool) -> [f64; 4] {
    let scale = len as f64 / new_len as f64;
    if filter == 3 {
        let low = at as f64 * scale;
        let first = low.floor();
        let last = (low + scale - 1.0e-6).floor().max(first);
        [first, last - first + 1.0, low - first, scale]
    } else {
        let width = if antialias { scale.max(1.0) } else { 1.0 };
        let center = (at as f64 + 0.5) * scale - 0.5;
        let reach = if filter == 2 { 2.0 * width } else { width };
        let first = (center - reach).floor() + 1.0;
        let last = (center + reach).ceil() - 1.0;
        [first, last - first + 1.0, center - first, width]
    }
}

/// The weight of the sample with this number in a span.
#[kernel_fn]
fn share(span: [f64; 4], index: i64, filter: u32, a: f32) -> f32 {
    let at = index as f32;
    let from = span[2] as f32;
    let width = span[3] as f32;
    if filter == 3 {
        ((at + 1.0).min(from + width) - at.max(from)).max(0.0)
    } else {
        weight(filter, (at - from) / width, a)
    }
}

/// The kernel of [`Resize`]. A sample beyond the edge is the nearest one; with a filter that is widened, it has no weight.
#[kernel(map)]
fn resize<T: Number>(out: &mut T, #[at] [y, column]: [usize; 2], image: &[T], sizes: Sizes) {
    let x = column / sizes.channels;
    let channel = column % sizes.channels;
    let width = sizes.size[0] as i64;
    let height = sizes.size[1] as i64;
    if sizes.filter == 0 {
        let from_x = x * sizes.size[0] / sizes.new_size[0];
        let from_y = y * sizes.size[1] / sizes.new_size[1];
        *out = image[from_y * sizes.pitch + from_x * sizes.channels + channel];
    } else {
        let a = if sizes.antialias { -0.5 } else { -0.75 };
        let across = span(x, sizes.size[0], sizes.new_size[0], sizes.filter, sizes.antialias);
        let down = span(y, sizes.size[1], sizes.new_size[1], sizes.filter, sizes.antialias);
        let mut sum = 0.0_f32;
        let mut all = 0.0_f32;
        for j in 0..down[1] as i64 {
            let row = down[0] as i64 + j;
            let is_row = !sizes.antialias || row >= 0 && row < height;
            let of_row = if is_row { share(down, j, sizes.filter, a) } else { 0.0 };
            let start = row.clamp(0, height - 1) as usize * sizes.pitch + channel;
            for i in 0..across[1] as i64 {
                let at = across[0] as i64 + i;
                let is_column = !sizes.antialias || at >= 0 && at < width;
                let both = if is_column { of_row * share(across, i, sizes.filter, a) } else { 0.0 };
                sum = both.mul_add(
                    image[start + at.clamp(0, width - 1) as usize * sizes.channels] as f32,
                    sum,
                );
                all += both;
            }
        }
        *out = rounded(sum / all, sizes.whole, sizes.limit) as T;
    }
}
