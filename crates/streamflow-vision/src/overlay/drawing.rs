//! The shapes that `Overlay` draws, and their checks.

use std::borrow::Cow;

use streamflow::Failure;
use streamflow::prelude::*;

use super::font;

/// The farthest coordinate, up to which each whole number is an `f32`.
const FARTHEST: f32 = 16_777_216.0;

/// A colour and its opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paint {
    /// The samples of the channels, in their order in the image and in its units: 255 for full brightness of `u8`, 1 for that of `f32`. A
    /// format with fewer channels uses the first ones. Values beyond those of a sample are limited.
    pub colour: [f32; 4],
    /// The part of the colour in the result, from 0 to 1. The rest is the image.
    pub opacity: f32,
}

impl Paint {
    /// Makes an opaque colour.
    pub fn opaque(colour: [f32; 4]) -> Self {
        Self { colour, opacity: 1.0 }
    }

    /// Checks the numbers for the operator of this name.
    pub(super) fn check(&self, who: impl FnOnce() -> String) -> Result<()> {
        let is_good =
            (0.0..=1.0).contains(&self.opacity) && self.colour.iter().all(|c| c.is_finite());
        if is_good {
            return Ok(());
        }
        Err(Failure::msg(format!(
            "{} has the colour {:?} with the opacity {}; give it finite samples and an opacity from 0 to 1",
            who(),
            self.colour,
            self.opacity
        )))
    }
}

/// A shape on an image, for [`Overlay`](super::Overlay). Coordinates are `[x, y]` in pixels; whole numbers are the middles of pixels,
/// and `[0, 0]` is that of the first one. Parts beyond the image are left out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Drawing {
    /// The outline of a box between two corners, in any order: all pixels whose larger distance from it, in x or y, is at most half of the
    /// thickness. With a thickness of 1 and whole corners, these are the pixels of `cv2.rectangle`.
    Box {
        /// A corner.
        from: [f32; 2],
        /// The opposite corner.
        to: [f32; 2],
        /// The width of the outline in pixels, from 1 on.
        thickness: f32,
        /// The colour.
        paint: Paint,
    },
    /// All pixels of a box, its edges included, as by `cv2.rectangle` with a thickness of -1.
    Area {
        /// A corner.
        from: [f32; 2],
        /// The opposite corner.
        to: [f32; 2],
        /// The colour.
        paint: Paint,
    },
    /// A line with round ends: all pixels whose distance from it is at most half of the thickness. With a thickness of 1, a line that is
    /// parallel to an axis and has whole ends has the pixels of `cv2.line`.
    Line {
        /// An end.
        from: [f32; 2],
        /// The other end.
        to: [f32; 2],
        /// The width of the line in pixels, from 1 on.
        thickness: f32,
        /// The colour.
        paint: Paint,
    },
    /// Text of ASCII characters, of 8 × 13 pixels each (the X11 font `8x13`). `\n` begins a line below.
    Text {
        /// The first pixel of the first character, rounded to the nearest one: the left edge and the upper one.
        at: [f32; 2],
        /// The characters.
        text: Cow<'static, str>,
        /// How many times as large as 8 × 13 a character is, 1 to 1,000.
        scale: u32,
        /// The colour of the characters. What is behind them stays.
        paint: Paint,
    },
}

/// The place of a shape for the kernel, with its edges in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) least: [f32; 2],
    pub(super) most: [f32; 2],
}

impl Drawing {
    pub(super) fn paint(&self) -> &Paint {
        match self {
            Self::Box { paint, .. }
            | Self::Area { paint, .. }
            | Self::Line { paint, .. }
            | Self::Text { paint, .. } => paint,
        }
    }

    /// Half of the thickness.
    pub(super) fn half(&self) -> f32 {
        match self {
            Self::Box { thickness, .. } | Self::Line { thickness, .. } => 0.5 * thickness,
            _ => 0.0,
        }
    }

    /// The numbers of shapes and of characters that the kernel gets.
    pub(super) fn sizes(&self) -> [usize; 2] {
        match self {
            Self::Text { text, .. } => {
                let lines = text.split('\n').filter(|line| !line.is_empty()).count();
                [lines, text.split('\n').map(str::len).sum()]
            }
            _ => [1, 0],
        }
    }

    /// The pixels between the corners, without the thickness. Of text, those of a line of it, given by its number and characters.
    pub(super) fn extent(&self, line: usize, characters: usize) -> Extent {
        match self {
            Self::Box { from, to, .. }
            | Self::Area { from, to, .. }
            | Self::Line { from, to, .. } => {
                let [[x0, y0], [x1, y1]] = [*from, *to];
                Extent { least: [x0.min(x1), y0.min(y1)], most: [x0.max(x1), y0.max(y1)] }
            }
            Self::Text { at: [x, y], scale, .. } => {
                let scale = *scale as f32;
                let [width, height] = [font::WIDTH as f32 * scale, font::HEIGHT as f32 * scale];
                let [x, y] = [x.round(), y.round() + line as f32 * height];
                Extent {
                    least: [x, y],
                    most: [x + characters as f32 * width - 1.0, y + height - 1.0],
                }
            }
        }
    }

    /// Checks the drawing with this number of a message.
    pub(super) fn check(&self, number: usize) -> Result<()> {
        let who =
            || format!("`Overlay` can't draw element {number} of its input `drawings`, which");
        self.paint().check(who)?;
        let (corners, thickness) = match self {
            Self::Box { from, to, thickness, .. } | Self::Line { from, to, thickness, .. } => {
                ([*from, *to], *thickness)
            }
            Self::Area { from, to, .. } => ([*from, *to], 1.0),
            Self::Text { at, .. } => ([*at, *at], 1.0),
        };
        if !corners.iter().flatten().all(|at| at.abs() <= FARTHEST) {
            return Err(Failure::msg(format!(
                "{} has the coordinates {corners:?}; give it finite ones from -2²⁴ to 2²⁴",
                who()
            )));
        }
        if !(1.0..=FARTHEST).contains(&thickness) {
            return Err(Failure::msg(format!(
                "{} has a thickness of {thickness}; give it one from 1 to 2²⁴",
                who()
            )));
        }
        let Self::Text { text, scale, .. } = self else { return Ok(()) };
        if !(1..=1000).contains(scale) {
            return Err(Failure::msg(format!(
                "{} has text of a scale of {scale}; give it one from 1 to 1,000",
                who()
            )));
        }
        match text.chars().find(|char| *char != '\n' && font::index(*char).is_none()) {
            None => Ok(()),
            Some(char) => Err(Failure::msg(format!(
                "{} has the character {char:?}, and the font has those of ASCII from ' ' to '~'; replace it",
                who()
            ))),
        }
    }
}
