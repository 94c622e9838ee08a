//! The device's time of kernels with one body, beside kernels for the same work with a body written in CUDA.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench one_body
//! ```
//!
//! A round has 20 launches of each form, one form after the other. The time is that between two events of the stream. A line has
//! the medians of 9 rounds, as bytes of memory that the work needs by second, and their ratio: one body over by hand. Both forms
//! must give the same results, on memory that was poisoned before.
//!
//! `libraries/cub.cu` measures the reduction and the scan of CUB on as many elements, in the same unit.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::cell::RefCell;
use std::process::ExitCode;

use streamflow::kernel::reductions::Sum;
use streamflow::kernel::{Strided, Window};
use streamflow::memory::TensorView;
use streamflow::prelude::*;

const LAUNCHES: u32 = 20;
const ROUNDS: usize = 9;

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
}

#[kernel(requires(a.len() == out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = a[i] * factor;
")]
fn scale_by_hand(out: &mut [f32], a: &[f32], factor: f32) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = a * factor);
}

#[kernel(map)]
fn add(out: &mut f32, a: &f32, b: &f32) {
    *out = *a + *b;
}

#[kernel(requires(a.len() == out.len(), b.len() == out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = __fadd_rn(a[i], b[i]);
")]
fn add_by_hand(out: &mut [f32], a: &[f32], b: &[f32]) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b);
}

/// Colours as bytes to floats, each colour with its own offset, which is broadcast.
#[kernel(map)]
fn normalize(out: &mut f32, pixel: &u8, offset: &f32, gain: f32) {
    *out = *pixel as f32 * gain - *offset;
}

#[kernel(requires(pixels.len() == out.len(), offset.len() == 3), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = __fsub_rn(__fmul_rn((float)pixels[i], gain), offset[i % 3]);
")]
fn normalize_by_hand(out: &mut [f32], pixels: &[u8], offset: &[f32], gain: f32) {
    for (i, (out, pixel)) in out.iter_mut().zip(pixels).enumerate() {
        *out = f32::from(*pixel) * gain - offset[i % 3];
    }
}

/// A copy of a transposed view.
#[kernel(map)]
fn copy(out: &mut f32, a: &f32) {
    *out = *a;
}

#[kernel(unsafe cuda = "
    unsigned long long x = thread_index(), y = thread_index_y();
    if (y < out.shape(0) && x < out.shape(1)) out(y, x) = a(y, x);
")]
fn copy_by_hand(out: &mut Strided<f32, 2>, a: &Strided<f32, 2>) {
    out.indices().for_each(|at| out[at] = a[at]);
}

/// A few operators in one launch.
#[kernel(requires(a.len() == out.len(), b.len() == out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    float x = __fadd_rn(__fmul_rn(a[i], gain), b[i]);
    out[i] = __fsub_rn(x > 0 ? __fsqrt_rn(x) : 0.0f, __fmul_rn(a[i], 0.25f));
")]
fn fused_by_hand(out: &mut [f32], a: &[f32], b: &[f32], gain: f32) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        let x = a * gain + b;
        *out = (if x > 0.0 { x.sqrt() } else { 0.0 }) - a * 0.25;
    }
}

/// `scale`, with loads of 16 bytes.
#[kernel(requires(a.len() == out.len(), out.len() % 4 == 0), partial, unsafe cuda = "
    unsigned long long i = thread_index();
    if (4 * i >= out_len) return;
    float4 x = reinterpret_cast<const float4*>(a)[i];
    x.x = __fmul_rn(x.x, factor);
    x.y = __fmul_rn(x.y, factor);
    x.z = __fmul_rn(x.z, factor);
    x.w = __fmul_rn(x.w, factor);
    reinterpret_cast<float4*>(out)[i] = x;
")]
fn scale_by_four(out: &mut [f32], a: &[f32], factor: f32) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = a * factor);
}

/// The part of an image without its borders, as a launch in two dimensions.
fn part(tensor: &Tensor<f32>) -> Result<TensorView<'_, f32>> {
    let [rows, cols] = [0, 1].map(|dim| tensor.shape()[dim] - 32);
    let part = tensor.view().slice(0, 16..16 + rows).and_then(|part| part.slice(1, 16..16 + cols));
    part.ok_or_else(|| Failure::msg("the image is smaller than its borders"))
}

/// Steps of z² + c: arithmetic alone.
#[kernel(map)]
fn iterate(out: &mut f32, re: &f32, im: &f32, steps: u32) {
    let mut x = 0.0;
    let mut y = 0.0;
    let mut count = 0.0;
    for _ in 0..steps {
        let next = x * x - y * y + *re;
        y = 2.0 * x * y + *im;
        x = next;
        count += if x * x + y * y < 4.0 { 1.0 } else { 0.0 };
    }
    *out = count;
}

#[kernel(requires(re.len() == out.len(), im.len() == out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    float x = 0, y = 0, count = 0, cr = re[i], ci = im[i];
    for (unsigned int step = 0; step < steps; ++step) {
        float next = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), cr);
        y = __fadd_rn(__fmul_rn(__fmul_rn(2, x), y), ci);
        x = next;
        count += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 4 ? 1.0f : 0.0f;
    }
    out[i] = count;
")]
fn iterate_by_hand(out: &mut [f32], re: &[f32], im: &[f32], steps: u32) {
    for ((out, re), im) in out.iter_mut().zip(re).zip(im) {
        iterate(out, re, im, steps);
    }
}

/// The weighted mean of three by three elements.
#[kernel(stencil(reach = [1, 1], border = clamp))]
fn smooth(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let weight = (2 - dy * dy) * (2 - dx * dx);
            sum += weight as f32 * a.at(dy, dx);
        }
    }
    *out = sum * 0.0625;
}

#[kernel(requires(a.len() == out.len(), out.len() == width as usize * height as usize), unsafe cuda = "
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
        int row = min(max(y + dy, 0), height - 1) * width;
        for (int dx = -1; dx <= 1; ++dx) {
            float weight = (2 - dy * dy) * (2 - dx * dx);
            sum = __fadd_rn(sum, __fmul_rn(weight, a[row + min(max(x + dx, 0), width - 1)]));
        }
    }
    out[y * width + x] = __fmul_rn(sum, 0.0625f);
")]
fn smooth_by_hand(out: &mut [f32], a: &[f32], width: i32, height: i32) {
    let at = |y: i32, x: i32| a[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize];
    for (i, out) in out.iter_mut().enumerate() {
        let (y, x) = (i as i32 / width, i as i32 % width);
        let mut sum = 0.0;
        for (dy, dx) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx))) {
            sum += ((2 - dy * dy) * (2 - dx * dx)) as f32 * at(y + dy, x + dx);
        }
        *out = sum * 0.0625;
    }
}

/// The sum of both parts of the gradient, by Sobel's operator.
#[kernel(stencil(reach = [1, 1], border = clamp))]
fn sobel(out: &mut u8, image: Window<u8>) {
    let mut x = 0;
    let mut y = 0;
    for d in -1..=1 {
        let weight = 2 - d * d;
        x += weight * (image.at(d, 1) as i32 - image.at(d, -1) as i32);
        y += weight * (image.at(1, d) as i32 - image.at(-1, d) as i32);
    }
    *out = (x.abs() + y.abs()).min(255) as u8;
}

#[kernel(requires(image.len() == out.len(), out.len() == width as usize * height as usize), unsafe cuda = "
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int above = max(y - 1, 0) * width, here = y * width, below = min(y + 1, height - 1) * width;
    int a = image[above + left], b = image[above + x], c = image[above + right];
    int d = image[here + left], f = image[here + right];
    int g = image[below + left], h = image[below + x], i = image[below + right];
    int across = (c - a) + 2 * (f - d) + (i - g), down = (g - a) + 2 * (h - b) + (i - c);
    out[here + x] = min(abs(across) + abs(down), 255);
")]
fn sobel_by_hand(out: &mut [u8], image: &[u8], width: i32, height: i32) {
    let at = |y: i32, x: i32| {
        i32::from(image[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize])
    };
    for (i, out) in out.iter_mut().enumerate() {
        let (y, x) = (i as i32 / width, i as i32 % width);
        let (mut across, mut down) = (0, 0);
        for d in -1..=1 {
            across += (2 - d * d) * (at(y + d, x + 1) - at(y + d, x - 1));
            down += (2 - d * d) * (at(y + 1, x + d) - at(y - 1, x + d));
        }
        *out = (across.abs() + down.abs()).min(255) as u8;
    }
}

/// The sum.
#[kernel(reduce(identity = 0.0))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

/// The sums of parts, by the tree of the reduction, so that both forms have one result.
#[kernel(threads(256), partial, requires(parts.len() * chunk as usize == a.len(), chunk % 4 == 0), unsafe cuda = "
    __shared__ float warps[8];
    const float4* words = (const float4*)(&a[0] + blockIdx.x * chunk);
    unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float x = 0, y = 0, z = 0, w = 0;
#pragma unroll 4
    for (unsigned long long i = threadIdx.x; i < chunk / 4; i += 256) {
        float4 word = words[i];
        x += word.x; y += word.y; z += word.z; w += word.w;
    }
    float sum = (x + y) + (z + w);
    for (unsigned int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    sum = lane < 8 ? warps[lane] : 0;
    for (unsigned int by = 4; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (lane == 0) parts[blockIdx.x] = sum;
")]
fn sum_parts_by_hand(parts: &mut [f32], a: &[f32], chunk: u64) {
    for (to, part) in parts.iter_mut().zip(a.chunks(chunk as usize)) {
        *to = lanes_by_hand::<256>(part);
    }
}

/// The sum of at least 17 and at most 1024 parts, or of one.
#[kernel(threads(32), partial, unsafe cuda = "
    float sums[4] = {0, 0, 0, 0};
    for (unsigned long long i = 4 * threadIdx.x; i < parts_len; i += 128) {
        for (int c = 0; c < 4; ++c) {
            if (i + c < parts_len) sums[c] += parts[i + c];
        }
    }
    float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (unsigned int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
    if (threadIdx.x == 0) out[0] = sum;
")]
fn sum_by_hand(out: &mut [f32], parts: &[f32]) {
    out[0] = lanes_by_hand::<32>(parts);
}

fn lanes_by_hand<const W: usize>(values: &[f32]) -> f32 {
    let mut sums = [[0.0; 4]; W];
    values.iter().enumerate().for_each(|(i, value)| sums[i / 4 % W][i % 4] += value);
    let mut values = sums.map(|[x, y, z, w]| (x + y) + (z + w)).to_vec();
    let halved = |values: &[f32]| {
        let mut values = values.to_vec();
        while values.len() > 1 {
            let (low, high) = values.split_at(values.len() / 2);
            values = low.iter().zip(high).map(|(low, high)| low + high).collect();
        }
        values[0]
    };
    values = values.chunks(32).map(halved).collect();
    halved(&values)
}

/// A launch of one form.
type Launch<'a, T> = &'a dyn Fn(&mut Tensor<T>) -> Result<()>;

/// An element whose bits are compared, and the value that no form may leave.
trait Compared: Element {
    const POISON: Self;

    fn is_same(self, other: Self) -> bool;
}

impl Compared for f32 {
    const POISON: Self = Self::NAN;

    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits() && !self.is_nan()
    }
}

impl Compared for u8 {
    // Both forms leave results of this value, too.
    const POISON: Self = 173;

    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

/// Times the form with one body and that by hand in turns, and prints a line.
fn compare<T: Compared>(
    (platform, stream): (&Platform, &CudaStream),
    (name, bytes): (&str, usize),
    shape: [usize; 2],
    forms: [Launch<'_, T>; 2],
) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    let mut results = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (form, launch) in forms.into_iter().enumerate() {
            let poison = vec![T::POISON; shape[0] * shape[1]];
            let mut out = platform.upload(&poison)?.reshape(shape)?;
            let begin = stream.record_timing()?;
            for _ in 0..LAUNCHES {
                launch(&mut out)?;
            }
            let time = begin.elapsed_blocking(&stream.record_timing()?)?.duration();
            // The first round compiles.
            if round > 0 {
                times[form].push(time);
            } else {
                results[form] = stream.download_blocking::<T>(&out)?;
            }
        }
    }
    let [a, b] = &results;
    if a.iter().zip(b).any(|(a, b)| !a.is_same(*b)) {
        return Err(Failure::msg(format!("{name}: the results of both forms differ")));
    }
    let rates = times.map(|mut times| {
        times.sort_unstable();
        let median = times[ROUNDS / 2] / LAUNCHES;
        bytes as f64 / median.as_secs_f64() / 1e9
    });
    println!("{name:<28} {:>10.1} {:>10.1} {:>8.3}", rates[0], rates[1], rates[0] / rates[1]);
    Ok(())
}

fn run() -> Result<()> {
    let platform = Platform::detect()?;
    println!("platform: {} ({})", platform.name(), platform.why());
    let is_simulated = platform.name() == "host";
    // Long enough that a launch's begin and end do not count.
    let side = if is_simulated { 64 } else { 8192 };
    let n = side * side;
    let s = platform.default_stream(device(0))?;
    let noise = |seed: u64| {
        let mixed = move |i: usize| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..n).map(move |i| mixed(i) as f32 / 8e6 - 1.0)
    };
    let a = platform.upload(&noise(1).collect::<Vec<f32>>())?.reshape([side, side])?;
    let b = platform.upload(&noise(2).collect::<Vec<f32>>())?.reshape([side, side])?;
    let pixels: Vec<u8> = noise(3).take(n / 3 * 3).map(|x| (x * 100.0 + 100.0) as u8).collect();
    let pixels = platform.upload(&pixels)?.reshape([n / 3, 3])?;
    let offset = platform.upload(&[0.5_f32, 0.25, 0.125])?;
    let (on, square, count) = ((&platform, &s), [side, side], n / 3 * 3);
    println!("{:<28} {:>10} {:>10} {:>8}", "GB/s", "one body", "by hand", "ratio");
    compare(
        on,
        ("scale f32", 8 * n),
        square,
        [&|out| Ok(s.map::<scale>((out, &a, 1.5))?), &|out| {
            Ok(s.launch::<scale_by_hand>(n, (out, &a, 1.5))?)
        }],
    )?;
    compare(
        on,
        ("scale f32, by hand float4", 8 * n),
        square,
        [&|out| Ok(s.map::<scale>((out, &a, 1.5))?), &|out| {
            Ok(s.launch::<scale_by_four>(n / 4, (out, &a, 1.5))?)
        }],
    )?;
    let gain = 0.75_f32;
    compare(
        on,
        ("an expression of two f32", 12 * n),
        square,
        [
            &|out| {
                let sum = expr!({
                    let x = a * gain + b;
                    (if x > 0.0 { x.sqrt() } else { 0.0 }) - a * 0.25
                });
                Ok(s.evaluate(out, sum)?)
            },
            &|out| Ok(s.launch::<fused_by_hand>(n, (out, &a, &b, gain))?),
        ],
    )?;
    compare(
        on,
        ("add two f32", 12 * n),
        square,
        [&|out| Ok(s.map::<add>((out, &a, &b))?), &|out| {
            Ok(s.launch::<add_by_hand>(n, (out, &a, &b))?)
        }],
    )?;
    compare(
        on,
        ("copy of a transposed view", 8 * n),
        square,
        [&|out| Ok(s.map::<copy>((out, a.view().transpose()))?), &|out| {
            Ok(s.launch::<copy_by_hand>(square, (out.view_mut(), a.view().transpose()))?)
        }],
    )?;
    let small = [side - 32, side - 32];
    compare(
        on,
        ("copy of a part", 8 * small[0] * small[1]),
        small,
        [&|out| Ok(s.map::<copy>((out, part(&a)?))?), &|out| {
            Ok(s.launch::<copy_by_hand>(small, (out.view_mut(), part(&a)?))?)
        }],
    )?;
    compare(
        on,
        ("200 steps of z² + c", 12 * n),
        square,
        [&|out| Ok(s.map::<iterate>((out, &a, &b, 200))?), &|out| {
            Ok(s.launch::<iterate_by_hand>(n, (out, &a, &b, 200))?)
        }],
    )?;
    let parts = (n / 4096).min(512);
    let scratch = RefCell::new(platform.tensor::<f32>([parts], &s)?);
    compare(
        on,
        ("sum of f32", 4 * n),
        [1, 1],
        [&|out| Ok(s.reduce::<sum>(out, &a)?), &|out| {
            let mut scratch = scratch.borrow_mut();
            let grid = Grid::blocks(parts).threads(256);
            s.launch::<sum_parts_by_hand>(grid, (&mut scratch, &a, (n / parts) as u64))?;
            Ok(s.launch::<sum_by_hand>(Grid::blocks(1).threads(32), (out, &scratch))?)
        }],
    )?;
    // The second form is the sum that comes with the library.
    compare(
        on,
        ("running sum of f32", 8 * n),
        square,
        [&|out| Ok(s.scan::<sum>(out, &a)?), &|out| Ok(s.scan::<Sum<f32>>(out, &a)?)],
    )?;
    compare(
        on,
        ("u8 to f32, with broadcast", 5 * count),
        [n / 3, 3],
        [&|out| Ok(s.map::<normalize>((out, &pixels, &offset, 0.0039))?), &|out| {
            Ok(s.launch::<normalize_by_hand>(count, (out, &pixels, &offset, 0.0039))?)
        }],
    )?;
    stencils(on, if is_simulated { 64 } else { 4096 })?;
    stencils(on, side)
}

/// Windows of three by three elements, on a square image.
fn stencils(on: (&Platform, &CudaStream), side: usize) -> Result<()> {
    let (platform, s) = on;
    let (n, square, length) = (side * side, [side, side], side as i32);
    let noise = (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 24);
    let bytes: Vec<u8> = noise.map(|n| n as u8).collect();
    let floats: Vec<f32> = bytes.iter().map(|n| f32::from(*n) / 7.0).collect();
    let image = platform.upload(&bytes)?.reshape(square)?;
    let a = platform.upload(&floats)?.reshape(square)?;
    compare(
        on,
        (&format!("3x3 of f32, {side} squared"), 8 * n),
        square,
        [&|out| Ok(s.map::<smooth>((out, &a))?), &|out| {
            Ok(s.launch::<smooth_by_hand>(square, (out, &a, length, length))?)
        }],
    )?;
    compare(
        on,
        (&format!("sobel of u8, {side} squared"), 2 * n),
        square,
        [&|out| Ok(s.map::<sobel>((out, &image))?), &|out| {
            Ok(s.launch::<sobel_by_hand>(square, (out, &image, length, length))?)
        }],
    )
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
