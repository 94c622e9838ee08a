//! The kernels of the edge finder. A pixel beyond the border has the value of the nearest pixel.

use streamflow::kernel::Window;
use streamflow::prelude::*;

/// The brightness of each pixel by the weights of ITU-R BT.601, 0 to 255.
#[kernel(
    requires(rgb.len() == 3 * out.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
"
)]
pub fn grey(out: &mut [f32], rgb: &[u8]) {
    for (out, p) in out.iter_mut().zip(rgb.chunks_exact(3)) {
        *out = 0.299 * f32::from(p[0]) + 0.587 * f32::from(p[1]) + 0.114 * f32::from(p[2]);
    }
}

/// The mean of five pixels by the weights 1 4 6 4 1, a row of Pascal's triangle: a Gaussian with a standard deviation of one pixel.
#[kernel_fn]
fn gaussian(a: f32, b: f32, c: f32, d: f32, e: f32) -> f32 {
    0.0625 * a + 0.25 * b + 0.375 * c + 0.25 * d + 0.0625 * e
}

/// The first half of a 5x5 Gaussian blur, along each row.
#[kernel(stencil(reach = [0, 2], border = clamp))]
pub fn blur_rows(out: &mut f32, image: Window<f32>) {
    *out =
        gaussian(image.at(0, -2), image.at(0, -1), image.at(0, 0), image.at(0, 1), image.at(0, 2));
}

/// The second half of the blur, along each column.
#[kernel(stencil(reach = [2, 0], border = clamp))]
pub fn blur_columns(out: &mut f32, image: Window<f32>) {
    *out =
        gaussian(image.at(-2, 0), image.at(-1, 0), image.at(0, 0), image.at(1, 0), image.at(2, 0));
}

/// How brightness grows to the right, by Sobel's weights.
#[kernel(stencil(reach = [1, 1], border = clamp))]
pub fn sobel_x(out: &mut f32, image: Window<f32>) {
    *out = (image.at(-1, 1) - image.at(-1, -1))
        + 2.0 * (image.at(0, 1) - image.at(0, -1))
        + (image.at(1, 1) - image.at(1, -1));
}

/// How brightness grows downwards, by Sobel's weights.
#[kernel(stencil(reach = [1, 1], border = clamp))]
pub fn sobel_y(out: &mut f32, image: Window<f32>) {
    *out = (image.at(1, -1) - image.at(-1, -1))
        + 2.0 * (image.at(1, 0) - image.at(-1, 0))
        + (image.at(1, 1) - image.at(-1, 1));
}

/// The length of the gradient, rounded and clamped to a byte.
#[kernel(map)]
pub fn magnitude(out: &mut u8, x: &f32, y: &f32) {
    // The cast with `as` clamps to 0 and 255.
    *out = ((*x * *x + *y * *y).sqrt() + 0.5) as u8;
}
