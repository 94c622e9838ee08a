//! `FromTensor` and `IntoTensor`: the ways between images and tensors.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::kernel::Number;
use streamflow::prelude::*;

use crate::colour::Colour;
use crate::format::{Format, Packed};
use crate::image::{Image, Info};
use crate::sample::Sample;

/// Makes images of tensors, without a copy: of `[rows, pitch]`, with the rows and samples of the [format](crate::format), or of
/// `[height, width, channels]`. [`FromPlanes`] takes `[channels, height, width]`.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Nv12;
/// use streamflow_vision::{Colour, FromTensor, Matrix};
///
/// // Of tensors [1620, 1920].
/// let frames: FromTensor<Nv12> = FromTensor::new([1920, 1080], Colour { matrix: Matrix::Bt709, ..Colour::default() });
/// ```
#[operator(no_new, unlisted)]
pub struct FromTensor<F: Format> {
    /// The samples.
    #[input]
    tensor: Tensor<F::Sample>,
    /// The images, with the tensor's memory.
    #[output]
    image: Image<F>,
    size: [usize; 2],
    colour: Colour,
    of: PhantomData<fn(F)>,
}

/// Makes images of tensors `[channels, height, width]`.
#[operator(no_new, unlisted)]
pub struct FromPlanes<F: Packed> {
    /// The samples, of the shape `[channels, height, width]`.
    #[input]
    tensor: &Tensor<F::Sample>,
    /// The images, without padding.
    #[output]
    image: Image<F>,
    of: PhantomData<fn(F)>,
}

/// Makes tensors of images, as models take them: of the shape `[channels, height, width]`, or `[height, width, channels]`, of `f32` with 1 for
/// full brightness. With [`normalize`](Self::normalize), a number becomes `(number - mean) / deviation` of its channel.
///
/// Batches `[n, …]` of tensors are turned by `Transpose` of the crate `streamflow-gpu-math`.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::IntoTensor;
/// use streamflow_vision::format::Rgb;
///
/// # fn main() -> streamflow::Result<()> {
/// let input: IntoTensor<Rgb<u8>> =
///     IntoTensor::planar().normalize(&[0.485, 0.456, 0.406], &[0.229, 0.224, 0.225])?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct IntoTensor<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The numbers of their samples.
    #[output]
    tensor: Tensor<f32>,
    planar: bool,
    mean: [f32; 4],
    deviation: [f32; 4],
    of: PhantomData<fn(F)>,
}

impl<F: Format> FromTensor<F> {
    /// Creates an operator for images of the size `[width, height]` with this colour.
    pub fn new(size: [usize; 2], colour: Colour) -> Self {
        Self { size, colour, of: PhantomData }
    }
}

impl<F: Packed> FromPlanes<F> {
    /// Creates the operator. The size is that of each tensor.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { of: PhantomData }
    }
}

impl<F: Packed> IntoTensor<F> {
    /// Creates an operator whose tensors have the shape `[channels, height, width]`.
    pub fn planar() -> Self {
        Self { planar: true, mean: [0.0; 4], deviation: [1.0; 4], of: PhantomData }
    }

    /// Creates an operator whose tensors have the shape `[height, width, channels]`.
    pub fn interleaved() -> Self {
        Self { planar: false, ..Self::planar() }
    }

    /// Sets the mean and the deviation of each channel.
    ///
    /// # Errors
    /// An error for another number of channels, and for a deviation that is not above 0.
    pub fn normalize(mut self, mean: &[f32], deviation: &[f32]) -> Result<Self> {
        if [mean.len(), deviation.len()] != [F::CHANNELS; 2]
            || !deviation.iter().all(|number| *number > 0.0)
        {
            return Err(Failure::msg(format!(
                "`IntoTensor` has the means {mean:?} and the deviations {deviation:?}, and {} has {} channels; give it one of each for a \
                 channel, and deviations above 0",
                F::NAME,
                F::CHANNELS
            )));
        }
        self.mean[..F::CHANNELS].copy_from_slice(mean);
        self.deviation[..F::CHANNELS].copy_from_slice(deviation);
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Format> Compute for FromTensor<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, _) = io.tensor.receive_with_stream(cx)?;
        let [width, height] = self.size;
        let image = Image::new(tensor, width, height).map_err(|error| {
            Failure::msg(format!(
                "`FromTensor` can't take the tensor of its input `tensor`: {error}"
            ))
        })?;
        io.image.emit(image.with_colour(self.colour))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for FromPlanes<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive_with_stream(cx)?;
        let &[channels, height, width] = tensor.shape() else {
            return Err(no_planes::<F>(tensor.shape()));
        };
        if channels != F::CHANNELS {
            return Err(no_planes::<F>(tensor.shape()));
        }
        let mut out = cx.tensor([height, width * channels], &stream)?;
        stream.map::<join<F::Sample>>((&mut out, tensor, channels, height, width))?;
        io.image.emit(Image::new(out, width, height)?)
    }
}

#[cold]
fn no_planes<F: Packed>(shape: &[usize]) -> Failure {
    Failure::msg(format!(
        "`FromPlanes` received a tensor of the shape {shape:?} at its input `tensor`, and {} has [{}, height, width]; send tensors of that shape",
        F::NAME,
        F::CHANNELS
    ))
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for IntoTensor<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let Info { width, height, .. } = image.info();
        let shape = match self.planar {
            true => [F::CHANNELS, height, width],
            false => [height, width, F::CHANNELS],
        };
        let mut out = cx.tensor(shape, &stream)?;
        let mut scales = Scales {
            channels: F::CHANNELS,
            pitch: image.pitch(),
            planar: self.planar,
            factor: [1.0; 4],
            offset: [0.0; 4],
        };
        for channel in 0..4 {
            scales.factor[channel] = 1.0 / (F::Sample::FULL * self.deviation[channel]);
            scales.offset[channel] = -self.mean[channel] / self.deviation[channel];
        }
        stream.map::<scale<F::Sample>>((&mut out, image.samples(), scales))?;
        io.tensor.emit(out)
    }
}

/// The arguments of a launch of [`scale`].
#[derive(Debug, Clone, Copy, KernelArg)]
struct Scales {
    channels: usize,
    pitch: usize,
    planar: bool,
    factor: [f32; 4],
    offset: [f32; 4],
}

/// The kernel of [`IntoTensor`].
#[kernel(map)]
fn scale<T: Number>(out: &mut f32, #[at] [i, j, k]: [usize; 3], image: &[T], scales: Scales) {
    let channel = if scales.planar { i } else { k };
    let y = if scales.planar { j } else { i };
    let x = if scales.planar { k } else { j };
    let sample = image[y * scales.pitch + x * scales.channels + channel] as f32;
    *out = sample.mul_add(scales.factor[channel], scales.offset[channel]);
}

/// The kernel of [`FromPlanes`].
#[kernel(map)]
fn join<T: Number>(
    out: &mut T,
    #[at] [y, column]: [usize; 2],
    planes: &[T],
    channels: usize,
    height: usize,
    width: usize,
) {
    *out = planes[(column % channels * height + y) * width + column / channels];
}

impl<F: Format> fmt::Debug for FromTensor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FromTensor({}, {:?})", F::NAME, self.size)
    }
}

impl<F: Packed> fmt::Debug for FromPlanes<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FromPlanes({})", F::NAME)
    }
}

impl<F: Packed> fmt::Debug for IntoTensor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntoTensor({}, planar: {})", F::NAME, self.planar)
    }
}
