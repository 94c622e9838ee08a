//! The matrix that makes the samples of one format of those of another.

use crate::colour::{Colour, Range};
use crate::format::Format;
use crate::sample::Sample;

/// A matrix of three rows, each with an offset in its last column.
type Affine = [[f64; 4]; 3];

/// The numbers of a sample: that of black and of full brightness of luma, and of no chroma and the width of its range.
struct Scale {
    black: f64,
    white: f64,
    middle: f64,
    width: f64,
}

impl Scale {
    /// The scale of a format with this many bits. Samples of P010 are 64 times as large.
    fn of<F: Format>(range: Range, bits: u32) -> Self {
        if !F::LAYOUT.is_yuv() {
            let full = match F::Sample::IS_WHOLE {
                true => f64::from(2_u32.pow(bits.min(16))) - 1.0,
                false => 1.0,
            };
            return Self { black: 0.0, white: full, middle: 0.0, width: full };
        }
        // Ten bits if the samples have more than eight.
        let times = if F::Sample::FULL > 255.0 { 4.0 } else { 1.0 };
        match range {
            Range::Limited => Self {
                black: 16.0 * times,
                white: 235.0 * times,
                middle: 128.0 * times,
                width: 224.0 * times,
            },
            Range::Full => {
                let full = 256.0 * times - 1.0;
                Self { black: 0.0, white: full, middle: 128.0 * times, width: full }
            }
        }
    }
}

/// The factor between a number and its sample.
pub(super) fn step<F: Format>() -> f32 {
    if F::LAYOUT.is_yuv() && F::Sample::FULL > 255.0 { 64.0 } else { 1.0 }
}

/// The largest number of a sample.
pub(super) fn limit<F: Format>() -> f32 {
    if step::<F>() > 1.0 { 1023.0 } else { F::Sample::FULL }
}

/// The rows that make the numbers of `B` from the samples of `A`. `bits` are those of a sensor's samples.
pub(super) fn matrix<A: Format, B: Format>(from: Colour, to: Colour, bits: u32) -> [[f32; 4]; 3] {
    let source_bits = if A::LAYOUT == crate::format::Layout::Bayer {
        bits
    } else {
        8 * size_of::<A::Sample>() as u32
    };
    let scale = Scale::of::<A>(from.range, source_bits);
    let by = f64::from(step::<A>());
    let mut all = if A::LAYOUT.is_yuv() {
        let luma = 1.0 / (scale.white - scale.black);
        let chroma = 1.0 / scale.width;
        let decoded = [
            [luma / by, 0.0, 0.0, -scale.black * luma],
            [0.0, chroma / by, 0.0, -scale.middle * chroma],
            [0.0, 0.0, chroma / by, -scale.middle * chroma],
        ];
        product(&to_rgb(from), &decoded)
    } else {
        let one = 1.0 / scale.white;
        [[one, 0.0, 0.0, 0.0], [0.0, one, 0.0, 0.0], [0.0, 0.0, one, 0.0]]
    };
    let scale = Scale::of::<B>(to.range, 8 * size_of::<B::Sample>() as u32);
    if B::LAYOUT.is_yuv() || B::LAYOUT == crate::format::Layout::Grey {
        all = product(&to_yuv(to), &all);
    }
    let (luma, chroma) = (scale.white - scale.black, scale.width);
    let is_yuv = B::LAYOUT.is_yuv();
    let encoded = [
        [luma, 0.0, 0.0, scale.black],
        [0.0, chroma, 0.0, if is_yuv { scale.middle } else { 0.0 }],
        [0.0, 0.0, chroma, if is_yuv { scale.middle } else { 0.0 }],
    ];
    product(&encoded, &all).map(|row| row.map(|number| number as f32))
}

/// The matrix from luma and chroma to red, green and blue.
fn to_rgb(colour: Colour) -> Affine {
    let [red, green, blue] = colour.matrix.weights();
    [
        [1.0, 0.0, 2.0 * (1.0 - red), 0.0],
        [1.0, -2.0 * blue * (1.0 - blue) / green, -2.0 * red * (1.0 - red) / green, 0.0],
        [1.0, 2.0 * (1.0 - blue), 0.0, 0.0],
    ]
}

/// The matrix from red, green and blue to luma and chroma.
fn to_yuv(colour: Colour) -> Affine {
    let [red, green, blue] = colour.matrix.weights();
    let (of_blue, of_red) = (0.5 / (1.0 - blue), 0.5 / (1.0 - red));
    [
        [red, green, blue, 0.0],
        [-red * of_blue, -green * of_blue, (1.0 - blue) * of_blue, 0.0],
        [(1.0 - red) * of_red, -green * of_red, -blue * of_red, 0.0],
    ]
}

/// The matrix that applies `first`, and then `second`.
fn product(second: &Affine, first: &Affine) -> Affine {
    second.map(|row| {
        let mut made = [0.0, 0.0, 0.0, row[3]];
        for (weight, from) in row.iter().zip(first) {
            for (made, number) in made.iter_mut().zip(from) {
                *made += weight * number;
            }
        }
        made
    })
}
