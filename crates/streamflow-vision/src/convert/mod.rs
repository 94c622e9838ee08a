//! `Convert`: images of one format to those of another.

mod kernel;
mod matrix;

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::prelude::*;

use crate::colour::Colour;
use crate::format::{Format, Target};
use crate::image::{Image, Info, check_size};
use crate::sample::Sample;
use kernel::convert;

/// Converts images to another format: between orders of channels, types of samples, RGB, grey and YUV, and from a sensor's mosaic to
/// colours.
///
/// - Numbers are scaled: 255 of `u8` is 65,535 of `u16` and 1 of `f32`. Whole numbers are rounded to the nearest, halves to the even one.
/// - The [`Colour`] of the image has the matrix, the range and the siting of a source in YUV, and the matrix for grey. A target in YUV has
///   that colour, or the one of [`with_colour`](Self::with_colour). Of two matrices, only the weights are converted: the primaries stay.
/// - Opacity is kept from RGBA to RGBA. A source without it is opaque.
/// - [`Bayer`](crate::format::Bayer) images get the missing colours as the means of the nearest two or four samples, as by OpenCV's
///   `COLOR_BayerRGGB2RGB`; at the border, the image is mirrored.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::{Nv12, Rgb};
/// use streamflow_vision::{Colour, Convert, Matrix};
///
/// let to_rgb: Convert<Nv12, Rgb<f32>> = Convert::new();
/// let to_video: Convert<Rgb<u8>, Nv12> =
///     Convert::with_colour(Colour { matrix: Matrix::Bt709, ..Colour::default() });
/// ```
#[operator(no_new, unlisted)]
pub struct Convert<A: Format, B: Target> {
    /// The images.
    #[input]
    image: &Image<A>,
    /// The images in the other format, without padding.
    #[output]
    converted: Image<B>,
    colour: Option<Colour>,
    of: PhantomData<fn(A) -> B>,
}

impl<A: Format, B: Target> Convert<A, B> {
    /// Creates an operator whose images keep their colour.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { colour: None, of: PhantomData }
    }

    /// Creates an operator whose images have this colour.
    pub fn with_colour(colour: Colour) -> Self {
        Self { colour: Some(colour), of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<A: Format, B: Target> Compute for Convert<A, B> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let Info { width, height, colour, mosaic, bits } = image.info();
        let to = self.colour.unwrap_or(colour);
        if let Err(error) = check_size::<B>(width, height) {
            return Err(Failure::msg(format!(
                "`Convert` can't convert the image of its input `image`: {error}"
            )));
        }
        let row = B::LAYOUT.samples_of(width);
        let mut out = cx.tensor([B::LAYOUT.rows_of(height), row], &stream)?;
        if width > 0 && height > 0 {
            let [first, second, third] = matrix::matrix::<A, B>(colour, to, bits);
            let [red_x, red_y] = mosaic.red();
            let warps = width.div_ceil(128) * height.div_ceil(2);
            let opacity = matrix::limit::<B>() / A::Sample::FULL;
            stream.launch::<convert<A::Sample, B::Sample>>(
                warps * 32,
                (
                    &mut out,
                    image.samples(),
                    width,
                    height,
                    image.pitch(),
                    row,
                    A::LAYOUT as u32,
                    B::LAYOUT as u32,
                    colour.siting as u32,
                    to.siting as u32,
                    red_x,
                    red_y,
                    first[0],
                    first[1],
                    first[2],
                    first[3],
                    second[0],
                    second[1],
                    second[2],
                    second[3],
                    third[0],
                    third[1],
                    third[2],
                    third[3],
                    opacity,
                    matrix::limit::<B>(),
                    matrix::step::<B>(),
                    B::Sample::IS_WHOLE.into(),
                ),
            )?;
        }
        let bits = 8 * size_of::<B::Sample>() as u32;
        io.converted.emit(Image::of(out, Info { width, height, colour: to, mosaic, bits }))
    }
}

impl<A: Format, B: Target> fmt::Debug for Convert<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Convert({} to {})", A::NAME, B::NAME)
    }
}
