//! The table of shapes that the kernel of `Overlay` reads.

use std::ops::Range;

use streamflow::Failure;
use streamflow::prelude::*;

use super::SHAPE;
use super::drawing::{Drawing, Extent};
use super::{font, kernel};

/// The numbers of shapes and of characters of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) shapes: usize,
    characters: usize,
}

impl Sizes {
    /// The length of the table: all shapes, and then all characters.
    pub(super) fn words(self) -> usize {
        self.shapes * SHAPE + self.characters
    }
}

/// Checks all drawings, and counts what the table has of them.
pub(super) fn sizes(drawings: &[Drawing]) -> Result<Sizes> {
    let mut all = Sizes::default();
    for (number, drawing) in drawings.iter().enumerate() {
        drawing.check(number)?;
        let [shapes, characters] = drawing.sizes();
        all.shapes = all.shapes.saturating_add(shapes);
        all.characters = all.characters.saturating_add(characters);
        // The table has the places of characters as `f32`.
        if all.shapes > 1 << 19 || all.characters > 1 << 22 {
            return Err(Failure::msg(format!(
                "`Overlay` draws up to 524,288 shapes with 4,194,304 characters on an image, and its input `drawings` received more, up to \
                 element {number} of {}; send fewer",
                drawings.len()
            )));
        }
    }
    Ok(all)
}

/// Calls a function with each shape: its drawing, its place, and the characters of its line of text.
fn each<'a>(drawings: &'a [Drawing], mut call: impl FnMut(&'a Drawing, Extent, &'a str)) {
    for drawing in drawings {
        let Drawing::Text { text, .. } = drawing else {
            call(drawing, drawing.extent(0, 0), "");
            continue;
        };
        for (number, line) in text.split('\n').enumerate() {
            if !line.is_empty() {
                call(drawing, drawing.extent(number, line.len()), line);
            }
        }
    }
}

/// The columns and rows of an image that shapes may be in; `None` if there are none.
pub(super) fn bounds(drawings: &[Drawing], size: [usize; 2]) -> Option<[Range<usize>; 2]> {
    let mut bounds = size.map(|size| size..0);
    each(drawings, |drawing, extent, _| {
        let half = drawing.half();
        for (axis, bounds) in bounds.iter_mut().enumerate() {
            // A negative number becomes 0.
            let first = (extent.least[axis] - half).floor() as usize;
            let end = (extent.most[axis] + half).floor() + 1.0;
            bounds.start = bounds.start.min(first);
            bounds.end = bounds.end.max(size[axis].min(end as usize));
        }
    });
    bounds.iter().all(|range| range.start < range.end).then_some(bounds)
}

/// Writes the table.
pub(super) fn write(drawings: &[Drawing], sizes: Sizes, table: &mut [f32]) {
    let (shapes, characters) = table.split_at_mut(sizes.shapes * SHAPE);
    let mut place = shapes.len();
    let mut shapes = shapes.chunks_exact_mut(SHAPE);
    let mut characters = characters.iter_mut();
    each(drawings, |drawing, extent, line| {
        let Some(shape) = shapes.next() else { return };
        let Extent { least: [x0, y0], most: [x1, y1] } = extent;
        let paint = drawing.paint();
        let [c0, c1, c2, c3] = paint.colour;
        let (kind, more) = match drawing {
            Drawing::Box { .. } => (kernel::BOX, [0.0; 4]),
            Drawing::Area { .. } => (kernel::AREA, [0.0; 4]),
            Drawing::Line { from: [a, b], to: [c, d], .. } => (kernel::LINE, [*a, *b, *c, *d]),
            Drawing::Text { scale, .. } => {
                (kernel::TEXT, [place as f32, line.len() as f32, *scale as f32, 0.0])
            }
        };
        let half = drawing.half();
        let own = [kind, x0, y0, x1, y1, half, paint.opacity, c0, c1, c2, c3];
        for (to, from) in shape.iter_mut().zip(own.into_iter().chain(more).chain([0.0])) {
            *to = from;
        }
        place += line.len();
        for (to, char) in characters.by_ref().zip(line.chars()) {
            *to = font::index(char).unwrap_or(0) as f32;
        }
    });
}
