//! The characters of text.

use embedded_graphics::geometry::{OriginDimensions, Point};
use embedded_graphics::image::GetPixel;
use embedded_graphics::mono_font::ascii::FONT_8X13;
use embedded_graphics::pixelcolor::BinaryColor;

/// The pixels of a character in a row.
pub(super) const WIDTH: u32 = 8;
/// The rows of a character.
pub(super) const HEIGHT: u32 = 13;

/// The number of a character in the font.
pub(super) fn index(char: char) -> Option<u32> {
    matches!(char, ' '..='~').then(|| char as u32 - ' ' as u32)
}

/// The rows of all characters, one after another, each with its first pixel in the lowest bit.
pub(super) fn rows() -> Vec<u32> {
    let image = &FONT_8X13.image;
    let in_row = (image.size().width / WIDTH).max(1);
    let mut rows = Vec::new();
    for char in ' '..='~' {
        let at = FONT_8X13.glyph_mapping.index(char) as u32;
        let (left, upper) = (at % in_row * WIDTH, at / in_row * HEIGHT);
        for y in 0..HEIGHT {
            let is_on = |x: &u32| {
                let place = Point::new((left + x) as i32, (upper + y) as i32);
                image.pixel(place) == Some(BinaryColor::On)
            };
            rows.push((0..WIDTH).filter(is_on).map(|x| 1 << x).sum());
        }
    }
    rows
}
