//! The kernels of the edge finder. Images are row-major. A pixel beyond the border has the value of the nearest pixel.

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

/// The first half of a 5x5 Gaussian blur: the weights 1 4 6 4 1 along each row.
#[kernel(
    requires(image.len() == out.len(), width > 0, image.len() % width as usize == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    long long x = i % width, row = i - x;
    float sum = 0.0f;
    for (int d = -2; d <= 2; d++) {
        long long at = x + d;
        at = at < 0 ? 0 : at >= width ? (long long)width - 1 : at;
        sum += weights[d + 2] * image[row + at];
    }
    out[i] = sum;
"
)]
pub fn blur_rows(out: &mut [f32], image: &[f32], width: u32) {
    let width = width as usize;
    for (out, row) in out.chunks_exact_mut(width).zip(image.chunks_exact(width)) {
        for (x, out) in out.iter_mut().enumerate() {
            *out = (0..5).map(|d| WEIGHTS[d] * row[clamped(x + d, 2, width)]).sum();
        }
    }
}

/// The second half of the blur: the weights 1 4 6 4 1 along each column.
#[kernel(
    requires(image.len() == out.len(), width > 0, image.len() % width as usize == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    long long x = i % width, y = i / width, height = out_len / width;
    float sum = 0.0f;
    for (int d = -2; d <= 2; d++) {
        long long at = y + d;
        at = at < 0 ? 0 : at >= height ? height - 1 : at;
        sum += weights[d + 2] * image[at * width + x];
    }
    out[i] = sum;
"
)]
pub fn blur_columns(out: &mut [f32], image: &[f32], width: u32) {
    let width = width as usize;
    let height = image.len() / width;
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        for (x, out) in out.iter_mut().enumerate() {
            *out = (0..5).map(|d| WEIGHTS[d] * image[clamped(y + d, 2, height) * width + x]).sum();
        }
    }
}

/// How brightness grows to the right, by Sobel's weights.
#[kernel(
    requires(image.len() == out.len(), width > 0, image.len() % width as usize == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    long long x = i % width, y = i / width, height = out_len / width;
    long long left = x > 0 ? x - 1 : 0, right = x + 1 < width ? x + 1 : x;
    long long above = (y > 0 ? y - 1 : 0) * width, here = y * width, below = (y + 1 < height ? y + 1 : y) * width;
    out[i] = (image[above + right] - image[above + left])
           + 2.0f * (image[here + right] - image[here + left])
           + (image[below + right] - image[below + left]);
"
)]
pub fn sobel_x(out: &mut [f32], image: &[f32], width: u32) {
    each_pixel(out, image, width, |p| {
        (p[0][2] - p[0][0]) + 2.0 * (p[1][2] - p[1][0]) + (p[2][2] - p[2][0])
    });
}

/// How brightness grows downwards, by Sobel's weights.
#[kernel(
    requires(image.len() == out.len(), width > 0, image.len() % width as usize == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    long long x = i % width, y = i / width, height = out_len / width;
    long long left = x > 0 ? x - 1 : 0, right = x + 1 < width ? x + 1 : x;
    long long above = (y > 0 ? y - 1 : 0) * width, below = (y + 1 < height ? y + 1 : y) * width;
    out[i] = (image[below + left] - image[above + left])
           + 2.0f * (image[below + x] - image[above + x])
           + (image[below + right] - image[above + right]);
"
)]
pub fn sobel_y(out: &mut [f32], image: &[f32], width: u32) {
    each_pixel(out, image, width, |p| {
        (p[2][0] - p[0][0]) + 2.0 * (p[2][1] - p[0][1]) + (p[2][2] - p[0][2])
    });
}

/// The length of the gradient, rounded and clamped to a byte.
#[kernel(
    requires(x.len() == out.len(), y.len() == out.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = (unsigned char)fminf(sqrtf(x[i] * x[i] + y[i] * y[i]) + 0.5f, 255.0f);
"
)]
pub fn magnitude(out: &mut [u8], x: &[f32], y: &[f32]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        // The cast with `as` clamps to 0 and 255.
        *out = ((x * x + y * y).sqrt() + 0.5) as u8;
    }
}

/// The weights of the blur: a row of Pascal's triangle over 16, a Gaussian with a standard deviation of one pixel.
const WEIGHTS: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Returns `at - back`, clamped to `0..len`.
fn clamped(at: usize, back: usize, len: usize) -> usize {
    at.saturating_sub(back).min(len - 1)
}

/// Sets each pixel to `f` of its 3x3 neighbourhood in `image`.
fn each_pixel(out: &mut [f32], image: &[f32], width: u32, f: impl Fn([[f32; 3]; 3]) -> f32) {
    let width = width as usize;
    let height = image.len() / width;
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        let rows = [0, 1, 2].map(|d| &image[clamped(y + d, 1, height) * width..][..width]);
        for (x, out) in out.iter_mut().enumerate() {
            let columns = [0, 1, 2].map(|d| clamped(x + d, 1, width));
            *out = f(rows.map(|row| columns.map(|c| row[c])));
        }
    }
}
