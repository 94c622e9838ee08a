//! Overlays of what is on the device.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::prelude::*;

use super::canvas;
use super::drawing::Paint;
use super::kernel::{Pen, draw_boxes, draw_mask};
use crate::format::{Grey, Packed};
use crate::image::Image;
use crate::suppression::Detections;

/// Draws the outlines of boxes that are on the device, in place, as those of [`NonMaxSuppression`](crate::NonMaxSuppression) or
/// [`ComponentBoxes`](crate::ComponentBoxes), without a copy to the host.
///
/// The pixels are those of [`Drawing::Box`](crate::Drawing::Box). A box with a coordinate that is NaN or infinite is not drawn, since the host
/// does not see it. The time is that of all pixels times the number of boxes.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Rgb;
/// use streamflow_vision::{Detections, Image, NonMaxSuppression, OverlayBoxes, Paint};
///
/// graph! {
///     /// Images with the best boxes.
///     struct Shown {
///         input image: Image<Rgb<u8>>;
///         input boxes: &Tensor<f32>;
///         input scores: &Tensor<f32>;
///         output shown: Image<Rgb<u8>>;
///         let suppression: NonMaxSuppression = NonMaxSuppression::new(0.5, 100)?.with_score(0.25)?;
///         let overlay: OverlayBoxes<Rgb<u8>> =
///             OverlayBoxes::new(2.0, Paint::opaque([255.0, 0.0, 0.0, 0.0]))?;
///         boxes >> suppression.boxes;
///         scores >> suppression.scores;
///         image >> overlay.image;
///         suppression.kept >> overlay.boxes;
///         overlay.drawn >> shown;
///     }
/// }
/// ```
#[operator(no_new, unlisted)]
pub struct OverlayBoxes<F: Packed> {
    /// The images.
    #[input]
    image: Image<F>,
    /// The boxes on each image.
    #[input]
    boxes: &Detections,
    /// The images with the boxes, in the same memory.
    #[output]
    drawn: Image<F>,
    pen: Pen,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> OverlayBoxes<F> {
    /// Creates an operator that draws outlines of this thickness in pixels, from 1 on.
    ///
    /// # Errors
    /// An error with a text for a thickness that is below 1 or not finite, an opacity that is not in 0 to 1, or a colour that is not finite.
    pub fn new(thickness: f32, paint: Paint) -> Result<Self> {
        paint.check(|| "`OverlayBoxes`".to_owned())?;
        if !(thickness >= 1.0 && thickness.is_finite()) {
            return Err(Failure::msg(format!(
                "`OverlayBoxes` can't draw outlines with a thickness of {thickness}; give it a finite one from 1 on"
            )));
        }
        let Paint { colour, opacity } = paint;
        Ok(Self { pen: Pen { colour, opacity, reach: 0.5 * thickness }, of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for OverlayBoxes<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive_with_stream(cx)?;
        // The same stream, after the work on both messages.
        let (Detections { boxes, count, .. }, _) = io.boxes.receive_with_stream(cx)?;
        if !matches!((boxes.shape(), count.shape()), ([_, 4], [1])) {
            return Err(Failure::msg(format!(
                "`OverlayBoxes` received boxes of the shape {:?} and a count of {:?} at its input `boxes`; send [n, 4] and [1]",
                boxes.shape(),
                count.shape()
            )));
        }
        let columns = 0..image.width() * F::CHANNELS;
        if let Some(part) = image.samples_mut().view_mut().slice(1, columns) {
            stream.map::<draw_boxes<F::Sample>>((part, boxes, count, self.pen, canvas::<F>()))?;
        }
        io.drawn.emit(image)
    }
}

impl<F: Packed> fmt::Debug for OverlayBoxes<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OverlayBoxes({})", F::NAME)
    }
}

/// Blends a colour with the pixels of an image where a mask is not 0, in place: there, the result is that of `cv2.addWeighted`.
///
/// ```
/// use streamflow_vision::format::Bgr;
/// use streamflow_vision::{OverlayMask, Paint};
///
/// # fn main() -> streamflow::Result<()> {
/// let green = Paint { colour: [0.0, 255.0, 0.0, 0.0], opacity: 0.4 };
/// let overlay: OverlayMask<Bgr<u8>> = OverlayMask::new(green)?;
/// # drop(overlay);
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct OverlayMask<F: Packed> {
    /// The images.
    #[input]
    image: Image<F>,
    /// The mask of each image, of the same width and height.
    #[input]
    mask: &Image<Grey<u8>>,
    /// The images with the colour, in the same memory.
    #[output]
    drawn: Image<F>,
    pen: Pen,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> OverlayMask<F> {
    /// Creates an operator that blends this colour.
    ///
    /// # Errors
    /// An error with a text for an opacity that is not in 0 to 1, or a colour that is not finite.
    pub fn new(paint: Paint) -> Result<Self> {
        paint.check(|| "`OverlayMask`".to_owned())?;
        let Paint { colour, opacity } = paint;
        Ok(Self { pen: Pen { colour, opacity, reach: 0.0 }, of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for OverlayMask<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive_with_stream(cx)?;
        // The same stream, after the work on both messages.
        let (mask, _) = io.mask.receive_with_stream(cx)?;
        let (width, height) = (image.width(), image.height());
        if (width, height) != (mask.width(), mask.height()) {
            return Err(Failure::msg(format!(
                "`OverlayMask` received an image of {width} × {height} pixels at its input `image` and a mask of {} × {} at `mask`; send a \
                 mask of the image's size",
                mask.width(),
                mask.height()
            )));
        }
        let (samples, pitch) = (mask.samples(), mask.pitch());
        let columns = 0..width * F::CHANNELS;
        if let Some(part) = image.samples_mut().view_mut().slice(1, columns) {
            stream.map::<draw_mask<F::Sample>>((part, samples, pitch, self.pen, canvas::<F>()))?;
        }
        io.drawn.emit(image)
    }
}

impl<F: Packed> fmt::Debug for OverlayMask<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OverlayMask({})", F::NAME)
    }
}
