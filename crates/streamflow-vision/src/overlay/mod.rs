//! `Overlay`, `OverlayBoxes` and `OverlayMask`: shapes on images.

mod device;
mod drawing;
mod font;
mod kernel;
mod table;

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

use streamflow::memory::Pinned;
use streamflow::prelude::*;

pub use device::{OverlayBoxes, OverlayMask};
pub use drawing::{Drawing, Paint};
use kernel::{Canvas, SHAPE, draw};

use crate::format::Packed;
use crate::image::Image;
use crate::sample::Sample;

/// How many copies of shapes may be on their way to the device.
const IN_FLIGHT: usize = 2;

/// Draws shapes that the host sends with each image, in place, in their order: boxes, areas, lines and text. [`OverlayBoxes`] draws boxes
/// that are on the device, and [`OverlayMask`] a mask.
///
/// - A pixel is drawn or not; there is no smoothing. [`Drawing`] has the rule of each shape. The opacity of [`Paint`] blends the colour
///   with the image, which is rounded once after all shapes, halves to the even number.
/// - A coordinate that is not finite, a thickness below 1 and a character that is not in the font fail the tick.
/// - The shapes are copied through page-locked memory. A further tick waits while two copies are on their way, as
///   [`Upload`](streamflow::operators::Upload).
///
/// The time is that of the pixels within the box around all shapes, times the number of shapes.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_vision::format::Grey;
/// use streamflow_vision::{Drawing, Image, Overlay, Paint};
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let samples = platform.upload(&[0_u8; 16])?.reshape([4, 4])?;
/// let image: Image<Grey<u8>> = Image::new(samples, 4, 4)?;
/// let paint = Paint { colour: [200.0; 4], opacity: 0.5 };
/// let line = Drawing::Line { from: [0.0, 2.0], to: [9.0, 2.0], thickness: 1.0, paint };
/// let mut overlay = OperatorHarness::new(&platform, Overlay::new())?;
/// overlay.push(|ports| &mut ports.image, image)?;
/// overlay.push(|ports| &mut ports.drawings, HostData(vec![line]))?;
/// assert!(overlay.tick()?);
/// let sent = overlay.take(|ports| &mut ports.drawn).expect("it sends in each tick");
/// let drawn = overlay.stream().download_blocking(sent.message.samples())?;
/// assert_eq!(drawn[4..], [0, 0, 0, 0, 100, 100, 100, 100, 0, 0, 0, 0]);
/// # Ok(overlay.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Overlay<F: Packed> {
    /// The images.
    #[input]
    image: Image<F>,
    /// The shapes on each image, the lowest one first.
    #[input]
    drawings: &HostData<Vec<Drawing>>,
    /// The images with the shapes, in the same memory.
    #[output]
    drawn: Image<F>,
    glyphs: Table<u32>,
    /// The page-locked memory of the last copies, the oldest first.
    staging: VecDeque<Pinned<f32>>,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Overlay<F> {
    /// Creates an operator.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        let staging = VecDeque::with_capacity(IN_FLIGHT + 1);
        Self { glyphs: Table::new(font::rows()), staging, of: PhantomData }
    }

    /// Returns page-locked memory of at least this length: that of the oldest copy, or new memory.
    fn staging(&mut self, len: usize, cx: &ExecutionContext) -> Result<Pinned<f32>> {
        if self.staging.len() >= IN_FLIGHT
            && let Some(mut oldest) = self.staging.pop_front()
        {
            if oldest.len() >= len {
                return Ok(oldest);
            }
            oldest.as_mut_slice_blocking()?;
        }
        // The next messages may have a few shapes more.
        Ok(cx.pinned(len.checked_next_power_of_two().unwrap_or(len))?)
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Overlay<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive_with_stream(cx)?;
        let HostData(drawings) = io.drawings.receive().into_data();
        let sizes = table::sizes(drawings)?;
        let Some([across, down]) = table::bounds(drawings, [image.width(), image.height()]) else {
            return io.drawn.emit(image);
        };
        let len = sizes.words();
        let mut pinned = self.staging(len, cx)?;
        table::write(drawings, sizes, &mut pinned.as_mut_slice_blocking()?[..len]);
        let mut shapes = cx.tensor([len], &stream)?;
        if let Some(part) = pinned.slice(..len) {
            stream.upload(&part, &mut shapes)?;
        }
        self.staging.push_back(pinned);
        let canvas = Canvas { first: [across.start as u32, down.start as u32], ..canvas::<F>() };
        let columns = across.start * F::CHANNELS..across.end * F::CHANNELS;
        let part = image.samples_mut().view_mut().slice(0, down);
        if let Some(part) = part.and_then(|rows| rows.slice(1, columns)) {
            let glyphs = self.glyphs.on(cx)?;
            stream.map::<draw<F::Sample>>((part, &shapes, sizes.shapes as u32, glyphs, canvas))?;
        }
        io.drawn.emit(image)
    }
}

/// All pixels of an image.
fn canvas<F: Packed>() -> Canvas {
    Canvas {
        first: [0; 2],
        channels: F::CHANNELS as u32,
        full: F::Sample::FULL,
        whole: F::Sample::IS_WHOLE,
    }
}

impl<F: Packed> fmt::Debug for Overlay<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Overlay({})", F::NAME)
    }
}
