//! The preparation of camera images for a network: resized, normalised, and each channel as a plane, from HWC to NCHW.

use streamflow::kernel::Strided;
use streamflow::prelude::*;
use streamflow_tests::Failed;
use streamflow_tests::setup::{stream, uploaded};

use super::{check_bits, check_control, check_near, noisy_bytes};

// With one body:

/// The number between two bytes.
#[kernel_fn]
fn mix(a: u8, b: u8, t: f32) -> f32 {
    a as f32 + (b as f32 - a as f32) * t
}

/// The bilinear value of a channel, less its mean, by its deviation.
#[kernel(map)]
fn prepare(
    out: &mut f32,
    #[at] [n, c, y, x]: [usize; 4],
    images: &[u8],
    size: [usize; 2],
    scale: [f32; 2],
    colour: [[f32; 2]; 3],
) {
    let v = ((y as f32 + 0.5) * scale[0] - 0.5).clamp(0.0, (size[0] - 1) as f32);
    let u = ((x as f32 + 0.5) * scale[1] - 0.5).clamp(0.0, (size[1] - 1) as f32);
    let top = (n * size[0] + v as usize) * size[1];
    let bottom = (n * size[0] + (v as usize + 1).min(size[0] - 1)) * size[1];
    let left = u as usize;
    let right = (left + 1).min(size[1] - 1);
    let t = u.fract();
    let above = mix(images[(top + left) * 3 + c], images[(top + right) * 3 + c], t);
    let below = mix(images[(bottom + left) * 3 + c], images[(bottom + right) * 3 + c], t);
    *out = (above + (below - above) * v.fract() - colour[c][0]) / colour[c][1];
}

fn once(
    s: &CudaStream,
    out: &mut Tensor<f32>,
    images: &Tensor<u8>,
    colour: [[f32; 2]; 3],
) -> Result<()> {
    let (from, to) = ([images.shape()[1], images.shape()[2]], [out.shape()[2], out.shape()[3]]);
    let scale = [from[0] as f32 / to[0] as f32, from[1] as f32 / to[1] as f32];
    Ok(s.map::<prepare>((out, images, from, scale, colour))?)
}

// With two bodies:

/// The bilinear value of a channel, less its mean, by its deviation.
#[kernel(requires(out.shape()[0] == images.shape()[0], out.shape()[1] == images.shape()[3],
    colour.len() == 2 * out.shape()[1]), unsafe cuda = "
    unsigned long long x = thread_index(), y = thread_index_y(), plane = thread_index_z();
    unsigned long long n = plane / out.shape(1), c = plane % out.shape(1);
    if (n < out.shape(0) && y < out.shape(2) && x < out.shape(3)) {
        unsigned long long rows = images.shape(1), cols = images.shape(2);
        float scale_y = (float)rows / out.shape(2), scale_x = (float)cols / out.shape(3);
        float v = fminf(fmaxf(__fmul_rn(y + 0.5f, scale_y) - 0.5f, 0), rows - 1);
        float u = fminf(fmaxf(__fmul_rn(x + 0.5f, scale_x) - 0.5f, 0), cols - 1);
        unsigned long long top = v, bottom = min(top + 1, rows - 1);
        unsigned long long left = u, right = min(left + 1, cols - 1);
        float a = images(n, top, left, c), b = images(n, top, right, c);
        float above = a + __fmul_rn(b - a, u - left);
        a = images(n, bottom, left, c), b = images(n, bottom, right, c);
        float below = a + __fmul_rn(b - a, u - left);
        float value = above + __fmul_rn(below - above, v - top);
        out(n, c, y, x) = (value - colour[2 * c]) / colour[2 * c + 1];
    }
")]
fn prepare_twice(out: &mut Strided<f32, 4>, images: &Strided<u8, 4>, colour: &[f32]) {
    let ([ns, cs, ys, xs], [_, rows, cols, _]) = (out.shape(), images.shape());
    let scale = [rows as f32 / ys as f32, cols as f32 / xs as f32];
    for i in 0..ns * cs * ys * xs {
        let [n, c, y, x] = [i / xs / ys / cs, i / xs / ys % cs, i / xs % ys, i % xs];
        let v = ((y as f32 + 0.5) * scale[0] - 0.5).clamp(0.0, (rows - 1) as f32);
        let u = ((x as f32 + 0.5) * scale[1] - 0.5).clamp(0.0, (cols - 1) as f32);
        let (top, left) = (v as usize, u as usize);
        let (bottom, right) = ((top + 1).min(rows - 1), (left + 1).min(cols - 1));
        let mix = |y| {
            let (a, b) = (f32::from(images[[n, y, left, c]]), f32::from(images[[n, y, right, c]]));
            a + (b - a) * u.fract()
        };
        let value = mix(top) + (mix(bottom) - mix(top)) * v.fract();
        out[[n, c, y, x]] = (value - colour[2 * c]) / colour[2 * c + 1];
    }
}

fn twice(
    s: &CudaStream,
    out: &mut Tensor<f32>,
    images: &Tensor<u8>,
    colour: &Tensor<f32>,
) -> Result<()> {
    let shape = out.shape();
    let grid = [shape[3], shape[2], shape[0] * shape[1]];
    Ok(s.launch::<prepare_twice>(grid, (out.view_mut(), images.view(), colour))?)
}

// The test of both:

const FROM: [usize; 4] = [2, 19, 23, 3];
const TO: [usize; 4] = [2, 3, 12, 31];
/// The mean and the deviation of each channel.
const COLOUR: [[f32; 2]; 3] = [[123.675, 58.395], [116.28, 57.12], [103.53, 57.375]];

pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let bytes = noisy_bytes(5, FROM.iter().product());
    let images = uploaded(platform, &bytes, &s)?.reshape(FROM)?;
    let colour = uploaded(platform, COLOUR.as_flattened(), &s)?;
    let len = TO.iter().product();
    let poisoned = || uploaded(platform, &vec![f32::NAN; len], &s)?.reshape(TO);
    let (mut out, mut other) = (poisoned()?, poisoned()?);
    once(&s, &mut out, &images, COLOUR)?;
    twice(&s, &mut other, &images, &colour)?;
    let (found, wanted) = (s.download_blocking(&out)?, s.download_blocking(&other)?);
    check_bits(&found, &wanted)?;
    let plain: Vec<f64> = (0..len).map(|i| plain(&bytes, i)).collect();
    check_near(&found, &plain, 1e-4)?;
    let [red, green, blue] = COLOUR;
    once(&s, &mut out, &images, [blue, red, green])?;
    check_control(&s.download_blocking(&out)?, &wanted)
}

/// The element of a number, in numbers of 64 bits: each pixel has the weight of a triangle around the place in the source.
fn plain(bytes: &[u8], i: usize) -> f64 {
    let [_, planes, height, width] = TO;
    let [_, rows, cols, _] = FROM;
    let (x, y, plane) = (i % width, i / width % height, i / width / height);
    let (n, c) = (plane / planes, plane % planes);
    let place = |at: usize, from: usize, to: usize| {
        ((at as f64 + 0.5) * from as f64 / to as f64 - 0.5).clamp(0.0, (from - 1) as f64)
    };
    let (v, u) = (place(y, rows, height), place(x, cols, width));
    let weight = |place: f64, at: usize| (1.0 - (place - at as f64).abs()).max(0.0);
    let pixels = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let terms = pixels.map(|(row, col)| {
        let byte = bytes[((n * rows + row) * cols + col) * 3 + c];
        weight(v, row) * weight(u, col) * f64::from(byte)
    });
    (terms.sum::<f64>() - f64::from(COLOUR[c][0])) / f64::from(COLOUR[c][1])
}
