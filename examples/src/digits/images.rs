//! Images of digits: a font of 8 x 8 pixels, and noise by a hash.

/// The number of pixels of an image.
pub const PIXELS: usize = 64;

/// The number of classes: the digits 0 to 9.
pub const CLASSES: usize = 10;

/// The largest noise. The pixels of a digit are 1, and those around it 0. A power of 2, so that each noisy pixel is exact.
const NOISE: f32 = 0.5;

/// The font: a byte for each row of a digit, with the leftmost pixel in the highest bit.
const FONT: [[u8; 8]; CLASSES] = [
    [0x3c, 0x66, 0x6e, 0x76, 0x66, 0x66, 0x3c, 0x00],
    [0x18, 0x18, 0x38, 0x18, 0x18, 0x18, 0x7e, 0x00],
    [0x3c, 0x66, 0x06, 0x0c, 0x30, 0x60, 0x7e, 0x00],
    [0x3c, 0x66, 0x06, 0x1c, 0x06, 0x66, 0x3c, 0x00],
    [0x06, 0x0e, 0x1e, 0x66, 0x7f, 0x06, 0x06, 0x00],
    [0x7e, 0x60, 0x7c, 0x06, 0x06, 0x66, 0x3c, 0x00],
    [0x3c, 0x66, 0x60, 0x7c, 0x66, 0x66, 0x3c, 0x00],
    [0x7e, 0x66, 0x0c, 0x18, 0x18, 0x18, 0x18, 0x00],
    [0x3c, 0x66, 0x66, 0x3c, 0x66, 0x66, 0x3c, 0x00],
    [0x3c, 0x66, 0x66, 0x3e, 0x06, 0x66, 0x3c, 0x00],
];

/// The digit that the image with this number shows.
pub fn label(number: u32) -> usize {
    (number * 7 % CLASSES as u32) as usize
}

/// The pixels of the image with this number, row by row.
pub fn pixels(number: u32) -> [f32; PIXELS] {
    let rows = FONT[label(number)];
    std::array::from_fn(|at| {
        let lit = rows[at / 8] >> (7 - at % 8) & 1;
        f32::from(lit) + NOISE * noise(number * PIXELS as u32 + at as u32)
    })
}

/// Returns a number from -1 to 1, made by a hash of 32 bits. The number has only 24 bits, so that an `f32` holds it exactly.
pub(super) fn noise(at: u32) -> f32 {
    let mut hash = at.wrapping_mul(2_654_435_769);
    hash = (hash ^ hash >> 15).wrapping_mul(739_982_445);
    hash ^= hash >> 12;
    (hash >> 8) as f32 / (1 << 23) as f32 - 1.0
}
