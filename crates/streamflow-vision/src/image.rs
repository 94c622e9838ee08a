//! `Image`: the message of all image operators.

use std::fmt;

use streamflow::Failure;
use streamflow::memory::TensorView;
use streamflow::prelude::*;

use crate::colour::Colour;
use crate::format::{Bayer, Format, Packed};
use crate::sample::Sample;

/// An image on a device, as a message. `F` is its [format](crate::format). The rows of the samples may be padded: the *pitch* is the
/// distance of two rows in samples. The time of capture is the message's acquisition time, which
/// [metadata](streamflow::message::Metadata) have for every message.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Image;
/// use streamflow_vision::format::Rgb;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// // Two rows of three pixels, each with two samples of padding.
/// let samples = platform.upload(&[50_u8; 22])?.reshape([2, 11])?;
/// let image: Image<Rgb<u8>> = Image::new(samples, 3, 2)?;
/// assert_eq!((image.width(), image.height(), image.pitch()), (3, 2, 11));
/// assert_eq!(image.view().shape(), [2, 9]);
/// # Ok(())
/// # }
/// ```
#[derive(Message)]
#[message(unlisted)]
pub struct Image<F: Format> {
    samples: Tensor<F::Sample>,
    info: HostData<Info>,
}

/// Everything of an image but its samples and its format.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(unreachable_pub, reason = "a part of the message's implementation, which is public")]
pub struct Info {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) colour: Colour,
    pub(crate) mosaic: Mosaic,
    /// The bits of a sample of a sensor.
    pub(crate) bits: u32,
}

/// The colours of the first two pixels of the first two rows of a [`Bayer`] image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mosaic {
    /// Red and green above green and blue.
    #[default]
    Rggb,
    /// Green and red above blue and green.
    Grbg,
    /// Green and blue above red and green.
    Gbrg,
    /// Blue and green above green and red.
    Bggr,
}

impl Mosaic {
    /// The column and the row of red.
    pub(crate) fn red(self) -> [u32; 2] {
        match self {
            Self::Rggb => [0, 0],
            Self::Grbg => [1, 0],
            Self::Gbrg => [0, 1],
            Self::Bggr => [1, 1],
        }
    }
}

impl<F: Format> Image<F> {
    /// Makes an image of samples in the rows of a tensor, `[rows, pitch]`, without a copy. The numbers of rows and samples are those of the
    /// [format](crate::format): of NV12, half as many rows of chroma follow those of luma. A tensor `[rows, columns, channels]` is
    /// taken, too.
    ///
    /// # Errors
    /// An error with both sides for a tensor of other rows or too short ones, and for a width or height that the format can't have, as an
    /// odd one of NV12.
    pub fn new(samples: Tensor<F::Sample>, width: usize, height: usize) -> Result<Self> {
        let (rows, least) = (F::LAYOUT.rows_of(height), F::LAYOUT.samples_of(width));
        let (count, pitch) = match *samples.shape() {
            [count, pitch] => (count, pitch),
            [count, columns, channels] => (count, columns * channels),
            _ => (0, 0),
        };
        check_size::<F>(width, height)?;
        let is_even = F::LAYOUT != crate::format::Layout::I420 || pitch % 2 == 0;
        if count != rows || pitch < least || !is_even {
            return Err(other_shape::<F>(samples.shape(), width, height));
        }
        let info = Info {
            width,
            height,
            colour: Colour::default(),
            mosaic: Mosaic::default(),
            bits: 8 * size_of::<F::Sample>() as u32,
        };
        Ok(Self { samples: samples.reshape([rows, pitch])?, info: HostData(info) })
    }

    /// Makes an image of a tensor that is known to have its shape.
    pub(crate) fn of(samples: Tensor<F::Sample>, info: Info) -> Self {
        Self { samples, info: HostData(info) }
    }

    /// Sets how samples stand for colours.
    #[must_use = "it returns the image with this colour"]
    pub fn with_colour(mut self, colour: Colour) -> Self {
        self.info.0.colour = colour;
        self
    }

    /// How samples stand for colours.
    pub fn colour(&self) -> Colour {
        self.info.0.colour
    }

    /// The number of pixels of a row.
    pub fn width(&self) -> usize {
        self.info.0.width
    }

    /// The number of rows of pixels.
    pub fn height(&self) -> usize {
        self.info.0.height
    }

    /// The distance of the first samples of two rows, in samples.
    pub fn pitch(&self) -> usize {
        self.samples.cols()
    }

    /// The samples with their padding, `[rows, pitch]`.
    pub fn samples(&self) -> &Tensor<F::Sample> {
        &self.samples
    }

    /// The samples with their padding, to be written.
    pub fn samples_mut(&mut self) -> &mut Tensor<F::Sample> {
        &mut self.samples
    }

    /// The samples with their padding, `[rows, pitch]`, without a copy.
    pub fn into_samples(self) -> Tensor<F::Sample> {
        self.samples
    }

    /// The samples without padding, `[rows, samples of a row]`, without a copy. Of [`I420`](crate::format::I420) the padding of chroma
    /// stays.
    pub fn view(&self) -> TensorView<'_, F::Sample> {
        let whole = self.samples.view();
        match F::LAYOUT {
            crate::format::Layout::I420 => whole,
            layout => whole.slice(1, 0..layout.samples_of(self.width())).unwrap_or(whole),
        }
    }

    pub(crate) fn info(&self) -> Info {
        self.info.0
    }
}

impl<F: Packed> Image<F> {
    /// The samples as a tensor `[height, width, channels]`, without a copy.
    ///
    /// # Errors
    /// An error for padded rows.
    pub fn into_tensor(self) -> Result<Tensor<F::Sample>> {
        let Info { width, height, .. } = self.info.0;
        if self.pitch() != width * F::CHANNELS {
            return Err(Failure::msg(format!(
                "an image of {} with {width} × {height} pixels has a pitch of {} samples, and a tensor has rows without padding, of {}; \
                 copy `image.view()` to a tensor",
                F::NAME,
                self.pitch(),
                width * F::CHANNELS
            )));
        }
        Ok(self.samples.reshape([height, width, F::CHANNELS])?)
    }
}

impl<T: Sample> Image<Bayer<T>> {
    /// Sets the colours of the mosaic and the bits of a sample, as 10 or 12 of a `u16`.
    ///
    /// # Errors
    /// An error for no bits or more than the type has.
    pub fn with_mosaic(mut self, mosaic: Mosaic, bits: u32) -> Result<Self> {
        let most = 8 * size_of::<T>() as u32;
        if bits == 0 || bits > most {
            return Err(Failure::msg(format!(
                "a Bayer image has samples of {bits} bits, and their type `{}` has 1 to {most}; give it their number of bits",
                T::DTYPE
            )));
        }
        (self.info.0.mosaic, self.info.0.bits) = (mosaic, bits);
        Ok(self)
    }
}

/// Checks that a format can have this size.
pub(crate) fn check_size<F: Format>(width: usize, height: usize) -> Result<()> {
    let [across, down] = F::LAYOUT.steps();
    if width.is_multiple_of(across) && height.is_multiple_of(down) {
        return Ok(());
    }
    let needs = if down == 1 { "an even width" } else { "an even width and height" };
    Err(Failure::msg(format!(
        "an image of {} has {needs}, since pixels share chroma, and this one has {width} × {height} pixels; crop or pad it",
        F::NAME
    )))
}

#[cold]
fn other_shape<F: Format>(shape: &[usize], width: usize, height: usize) -> Failure {
    let even = if F::LAYOUT == crate::format::Layout::I420 { ", an even number," } else { "" };
    Failure::msg(format!(
        "an image of {} with {width} × {height} pixels has {} rows of at least {} samples{even} and the tensor has the shape {shape:?}; give \
         it a tensor [rows, pitch], or another size",
        F::NAME,
        F::LAYOUT.rows_of(height),
        F::LAYOUT.samples_of(width)
    ))
}

impl<F: Format> fmt::Debug for Image<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("format", &F::NAME)
            .field("width", &self.width())
            .field("height", &self.height())
            .field("pitch", &self.pitch())
            .field("colour", &self.colour())
            .finish_non_exhaustive()
    }
}
