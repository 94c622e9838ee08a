//! The device's time of kernels with one body, beside kernels for the same work with a body written in CUDA.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench one_body
//! ```
//!
//! A round has 20 launches of each form, one form after the other. The time is that between two events of the stream. A line has
//! the medians of 9 rounds, as bytes of memory that the work needs by second, and their ratio: one body over by hand. Both forms
//! must give the same results, on memory that was poisoned before.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;

use streamflow::kernel::Strided;
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

/// A launch of one form.
type Launch<'a> = &'a dyn Fn(&mut Tensor<f32>) -> Result<()>;

/// Times the form with one body and that by hand in turns, and prints a line.
fn compare(
    (platform, stream): (&Platform, &CudaStream),
    (name, bytes): (&str, usize),
    shape: [usize; 2],
    forms: [Launch<'_>; 2],
) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    let mut results = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (form, launch) in forms.into_iter().enumerate() {
            let poison = vec![f32::NAN; shape[0] * shape[1]];
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
                results[form] = stream.download_blocking::<f32>(&out)?;
            }
        }
    }
    let [a, b] = &results;
    if a.iter().zip(b).any(|(a, b)| a.to_bits() != b.to_bits() || a.is_nan()) {
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
    compare(
        on,
        ("u8 to f32, with broadcast", 5 * count),
        [n / 3, 3],
        [&|out| Ok(s.map::<normalize>((out, &pixels, &offset, 0.0039))?), &|out| {
            Ok(s.launch::<normalize_by_hand>(count, (out, &pixels, &offset, 0.0039))?)
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
