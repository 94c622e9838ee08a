//! Images of the crate `image` as host memory.

use std::ops::Deref;

use image::flat::SampleLayout;
use image::{FlatSamples, ImageBuffer, Pixel};

use super::{HostArray, other_shape, other_strides};
use crate::error::{Error, Result};
use crate::memory::{Download, Downloaded, Element, PinnedSlice, Shape};

impl<P, C> HostArray for ImageBuffer<P, C>
where
    P: Pixel<Subpixel: Element>,
    C: Deref<Target = [P::Subpixel]>,
{
    type Element = P::Subpixel;

    fn elements(&self) -> Result<(&[P::Subpixel], Shape)> {
        let shape = shape_of::<P>(self.width(), self.height())?;
        part(self.as_raw(), shape)
    }
}

impl<T: Element> HostArray for FlatSamples<&[T]> {
    type Element = T;

    fn elements(&self) -> Result<(&[T], Shape)> {
        of_samples(self.samples, &self.layout)
    }
}

impl<T: Element> HostArray for FlatSamples<Vec<T>> {
    type Element = T;

    fn elements(&self) -> Result<(&[T], Shape)> {
        of_samples(&self.samples, &self.layout)
    }
}

fn of_samples<'a, T>(samples: &'a [T], layout: &SampleLayout) -> Result<(&'a [T], Shape)> {
    let (width, height) = (layout.width as usize, layout.height as usize);
    let shape = Shape::new(&[height, width, layout.channels.into()])?;
    let strides = [layout.height_stride, layout.width_stride, layout.channel_stride];
    // A dimension of length 1 may have any stride, because its stride is never used.
    let is_dense = |(at, &stride): (usize, &usize)| {
        shape.dims()[at] <= 1 || stride == shape.dense_strides()[at]
    };
    if shape.count() > 0 && !strides.iter().enumerate().all(is_dense) {
        let remedy = "copy it row by row, or make it an `ImageBuffer`";
        // The cast may wrap a huge stride around, which only changes the text of the error.
        let strides = strides.map(|stride| stride.cast_signed());
        return Err(other_strides("an image", shape.dims(), &strides, remedy));
    }
    part(samples, shape)
}

/// The shape of a tensor with the elements of an image of this size.
fn shape_of<P: Pixel>(width: u32, height: u32) -> Result<Shape> {
    Shape::new(&[height as usize, width as usize, P::CHANNEL_COUNT.into()])
}

/// The elements of an image with this shape: the first elements of its container, which may have more.
fn part<T>(container: &[T], shape: Shape) -> Result<(&[T], Shape)> {
    let elements = container.get(..shape.count()).ok_or_else(|| {
        let wanted = format!("its {} elements", shape.count());
        let remedy = "its samples are fewer: make it of as many as its layout names";
        other_shape("an image", shape.dims(), wanted, remedy)
    })?;
    Ok((elements, shape))
}

/// The width and the height of an image of pixels `P` whose elements are those of a tensor with this shape. If a pixel has
/// one channel, the tensor may have two dimensions.
fn size_of<P: Pixel>(shape: &[usize]) -> Result<(u32, u32)> {
    let channels = usize::from(P::CHANNEL_COUNT);
    let size = match *shape {
        [height, width] if channels == 1 => Some((width, height)),
        [height, width, depth] if depth == channels => Some((width, height)),
        _ => None,
    };
    let size = size.and_then(|(width, height)| {
        Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?))
    });
    size.ok_or_else(|| {
        let wanted = format!("the shape [height, width, {channels}] of its pixels");
        let remedy = "reshape the tensor, or take an image of other pixels";
        other_shape("downloaded memory", shape, wanted, remedy)
    })
}

fn buffer<P: Pixel, C>(container: C, size: (u32, u32)) -> Result<ImageBuffer<P, C>>
where
    C: Deref<Target = [P::Subpixel]>,
{
    let len = container.len();
    let (width, height) = size;
    ImageBuffer::from_raw(width, height, container).ok_or_else(|| too_short::<P>(size, len))
}

#[cold]
fn too_short<P: Pixel>((width, height): (u32, u32), len: usize) -> Error {
    let shape = [height as usize, width as usize, P::CHANNEL_COUNT.into()];
    let wanted = format!("at most the {len} elements of the memory");
    other_shape("an image", &shape, wanted, "take a smaller image, or more memory")
}

impl<T: Element> Download<T> {
    /// The elements as an image, without a copy; blocks until the download is complete. The downloaded memory has the
    /// shape `[height, width, channels]`, or for one channel also `[height, width]`.
    ///
    /// # Errors
    /// [`Error::HostLayout`] for any other shape; as for [`wait_blocking`](Self::wait_blocking).
    #[track_caller]
    pub fn image_blocking<P: Pixel<Subpixel = T>>(&self) -> Result<ImageBuffer<P, &[T]>> {
        let size = size_of::<P>(self.shape())?;
        buffer(self.wait_blocking()?, size)
    }
}

impl<T: Element> Downloaded<T> {
    /// The elements as an image, without a copy. The shapes are those of [`Download::image_blocking`](Download::image_blocking).
    ///
    /// # Errors
    /// [`Error::HostLayout`] for a shape that no image of these pixels has.
    pub fn image<P: Pixel<Subpixel = T>>(&self) -> Result<ImageBuffer<P, &[T]>> {
        buffer(&**self, size_of::<P>(self.shape())?)
    }
}

impl<T: Element> PinnedSlice<T> {
    /// The first elements as an image to be written, without a copy; blocks until all copies from and to this memory are complete.
    ///
    /// # Errors
    /// [`Error::HostLayout`] for an image that is larger than the memory; as for
    /// [`as_mut_slice_blocking`](Self::as_mut_slice_blocking).
    #[track_caller]
    pub fn image_mut_blocking<P: Pixel<Subpixel = T>>(
        &mut self,
        width: u32,
        height: u32,
    ) -> Result<ImageBuffer<P, &mut [T]>> {
        buffer(self.as_mut_slice_blocking()?, (width, height))
    }
}
