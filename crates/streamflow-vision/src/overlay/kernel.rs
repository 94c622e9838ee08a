//! The kernels of overlays, each with one body for both platforms.

use streamflow::kernel::Number;
use streamflow::prelude::*;

use super::font;

/// The numbers of a shape in the table.
pub(super) const SHAPE: usize = 16;

/// The kinds of shapes in the table.
pub(super) const BOX: f32 = 0.0;
pub(super) const AREA: f32 = 1.0;
pub(super) const LINE: f32 = 2.0;
pub(super) const TEXT: f32 = 3.0;

/// The size of a character.
const WIDTH: usize = font::WIDTH as usize;
const HEIGHT: usize = font::HEIGHT as usize;

/// The pixels that a launch may write.
#[derive(Debug, Clone, Copy, KernelArg)]
pub(super) struct Canvas {
    /// The first column and row.
    pub(super) first: [u32; 2],
    pub(super) channels: u32,
    /// The largest sample, and whether samples are whole numbers.
    pub(super) full: f32,
    pub(super) whole: bool,
}

/// The colour of all pixels of a launch.
#[derive(Debug, Clone, Copy, KernelArg)]
pub(super) struct Pen {
    pub(super) colour: [f32; 4],
    pub(super) opacity: f32,
    /// Half of the thickness.
    pub(super) reach: f32,
}

#[kernel_fn]
fn blended(old: f32, colour: f32, opacity: f32) -> f32 {
    if opacity >= 1.0 { colour } else { old + (colour - old) * opacity }
}

/// The number that a sample can have.
#[kernel_fn]
fn limited(value: f32, full: f32, whole: bool) -> f32 {
    // This addition rounds to the nearest whole number, and halves to the even one.
    if whole { (value.max(0.0).min(full) + 12_582_912.0) - 12_582_912.0 } else { value }
}

/// Whether a pixel is in the outline of a box.
#[kernel_fn]
fn is_in_outline(x: f32, y: f32, x0: f32, y0: f32, x1: f32, y1: f32, reach: f32) -> bool {
    let is_within = x >= x0 - reach && x <= x1 + reach && y >= y0 - reach && y <= y1 + reach;
    is_within && !(x > x0 + reach && x < x1 - reach && y > y0 + reach && y < y1 - reach)
}

/// Whether the distance of a pixel from a line is at most `reach`.
#[kernel_fn]
fn is_on_line(x: f32, y: f32, x0: f32, y0: f32, x1: f32, y1: f32, reach: f32) -> bool {
    let dx = x1 - x0;
    let dy = y1 - y0;
    let length = dx * dx + dy * dy;
    let along = (x - x0) * dx + (y - y0) * dy;
    if along <= 0.0 {
        (x - x0) * (x - x0) + (y - y0) * (y - y0) <= reach * reach
    } else if along >= length {
        (x - x1) * (x - x1) + (y - y1) * (y - y1) <= reach * reach
    } else {
        let across = (x - x0) * dy - (y - y0) * dx;
        across * across <= reach * reach * length
    }
}

/// Draws the shapes of a table. A shape has its kind, its least and largest x and y, half of its thickness, the opacity, and four samples.
/// Of a line the ends follow, and of text the place of its characters in the table, their number and the scale.
#[kernel(map)]
pub(super) fn draw<T: Number>(
    sample: &mut T,
    shapes: &[f32],
    count: u32,
    glyphs: &[u32],
    canvas: Canvas,
    #[at] [row, column]: [usize; 2],
) {
    let channels = canvas.channels as usize;
    let channel = column % channels;
    let x = (column / channels + canvas.first[0] as usize) as f32;
    let y = (row + canvas.first[1] as usize) as f32;
    let mut value = *sample as f32;
    let mut is_drawn = false;
    for i in 0..count as usize {
        let at = i * SHAPE;
        let reach = shapes[at + 5];
        let x0 = shapes[at + 1];
        let y0 = shapes[at + 2];
        let x1 = shapes[at + 3];
        let y1 = shapes[at + 4];
        if x >= x0 - reach && x <= x1 + reach && y >= y0 - reach && y <= y1 + reach {
            let kind = shapes[at];
            let mut is_in = true;
            if kind == BOX {
                is_in = is_in_outline(x, y, x0, y0, x1, y1, reach);
            } else if kind == LINE {
                let from_x = shapes[at + 11];
                let from_y = shapes[at + 12];
                is_in = is_on_line(x, y, from_x, from_y, shapes[at + 13], shapes[at + 14], reach);
            } else if kind == TEXT {
                let scale = shapes[at + 13] as usize;
                let across = (x - x0) as usize / scale;
                let down = (y - y0) as usize / scale;
                let glyph = shapes[shapes[at + 11] as usize + across / WIDTH] as usize;
                is_in = glyphs[glyph * HEIGHT + down] >> (across % WIDTH) as u32 & 1 == 1;
            }
            if is_in {
                value = blended(value, shapes[at + 7 + channel], shapes[at + 6]);
                is_drawn = true;
            }
        }
    }
    if is_drawn {
        *sample = limited(value, canvas.full, canvas.whole) as T;
    }
}

/// Draws the outlines of the first boxes of a table. Boxes that are not finite are left out.
#[kernel(map)]
pub(super) fn draw_boxes<T: Number>(
    sample: &mut T,
    boxes: &[f32],
    count: &[u32],
    pen: Pen,
    canvas: Canvas,
    #[at] [row, column]: [usize; 2],
) {
    let channels = canvas.channels as usize;
    let channel = column % channels;
    let x = (column / channels) as f32;
    let y = row as f32;
    let mut value = *sample as f32;
    let mut is_drawn = false;
    let all = (count[0] as usize).min(boxes.len() / 4);
    for i in 0..all {
        let x0 = boxes[4 * i];
        let y0 = boxes[4 * i + 1];
        let x1 = boxes[4 * i + 2];
        let y1 = boxes[4 * i + 3];
        let is_finite = x0.is_finite() && y0.is_finite() && x1.is_finite() && y1.is_finite();
        let is_in = is_in_outline(x, y, x0.min(x1), y0.min(y1), x0.max(x1), y0.max(y1), pen.reach);
        if is_finite && is_in {
            value = blended(value, pen.colour[channel], pen.opacity);
            is_drawn = true;
        }
    }
    if is_drawn {
        *sample = limited(value, canvas.full, canvas.whole) as T;
    }
}

/// Colours the pixels where a mask is not 0.
#[kernel(map)]
pub(super) fn draw_mask<T: Number>(
    sample: &mut T,
    mask: &[u8],
    pitch: usize,
    pen: Pen,
    canvas: Canvas,
    #[at] [row, column]: [usize; 2],
) {
    let channels = canvas.channels as usize;
    if mask[row * pitch + column / channels] != 0 {
        let value = blended(*sample as f32, pen.colour[column % channels], pen.opacity);
        *sample = limited(value, canvas.full, canvas.whole) as T;
    }
}
