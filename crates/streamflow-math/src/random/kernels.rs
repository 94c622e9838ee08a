//! The kernels that fill memory with random numbers, by the formulas of cuRAND's host generator.
//!
//! A product and a sum that needs it are rounded separately: `nvcc` would fuse them into one operation, and the Rust bodies do
//! not. So the CUDA bodies and the Rust bodies compute the same integers and uniforms, and they compute normals from the same
//! arguments of logarithm, sine and cosine.
//!
//! `place` is the position of the first value within its round, and `counter` is the counter of that round. The sequences with a
//! number below `behind` have a counter that is smaller by 1: [`Philox`](super::Philox) says why.

use super::words::{groups, words};
use streamflow::kernel;

/// Fills memory with 32 random bits per element.
#[kernel(grid_stride, unsafe cuda = concat!("typedef unsigned int T;", include_str!("philox.cuh"), "
    for (unsigned long long i = thread_index(); i < groups; i += thread_count()) {
        const uint4 w = words(counter + rounds(i), sequence(i));
        write(i, w.x, w.y, w.z, w.w);
    }
"))]
pub fn random_u32(out: &mut [u32], seed: u64, counter: u64, place: u32) {
    groups(out, place, |rounds, sequence| words(seed, counter.wrapping_add(rounds), sequence));
}

/// Fills memory with numbers above 0, up to and including 1. Each is made of 32 bits.
#[kernel(grid_stride, unsafe cuda = concat!("typedef float T;", include_str!("philox.cuh"), "
    auto uniform = [](unsigned int w) { return (float)w * 0x1p-32f + 0x1p-33f; };
    for (unsigned long long i = thread_index(); i < groups; i += thread_count()) {
        const uint4 w = words(counter + rounds(i), sequence(i));
        write(i, uniform(w.x), uniform(w.y), uniform(w.z), uniform(w.w));
    }
"))]
pub fn uniform_f32(out: &mut [f32], seed: u64, counter: u64, place: u32) {
    groups(out, place, |rounds, sequence| {
        words(seed, counter.wrapping_add(rounds), sequence).map(unit_f32)
    });
}

/// Fills memory with numbers above 0, up to and including 1. Each is made of 53 bits.
#[kernel(grid_stride, unsafe cuda = concat!("typedef double T;", include_str!("philox.cuh"), "
    auto uniform = [](unsigned int low, unsigned int high) {
        return (double)(low ^ (unsigned long long)high << 21) * 0x1p-53 + 0x1p-54;
    };
    for (unsigned long long i = thread_index(); i < groups; i += thread_count()) {
        const unsigned long long first = counter + 2 * rounds(i) - (sequence(i) < behind);
        const uint4 v = words(first, sequence(i)), w = words(first + 1, sequence(i));
        write(i, uniform(v.x, v.y), uniform(v.z, v.w), uniform(w.x, w.y), uniform(w.z, w.w));
    }
"))]
pub fn uniform_f64(out: &mut [f64], seed: u64, counter: u64, place: u32, behind: u32) {
    groups(out, place, |rounds, sequence| {
        let first = counter_f64(counter, rounds, sequence < behind);
        let [a, b, c, d] = words(seed, first, sequence);
        let [e, f, g, h] = words(seed, first.wrapping_add(1), sequence);
        [(a, b), (c, d), (e, f), (g, h)]
            .map(|(low, high)| bits_53(low, high) * LSB_53 + LSB_53 / 2.0)
    });
}

/// Fills memory with normally distributed numbers, by the method of Box and Muller: two words give two numbers.
#[kernel(
    grid_stride,
    requires(mean.is_finite(), deviation.is_finite(), deviation >= 0.0),
    unsafe cuda = concat!("typedef float T;", include_str!("philox.cuh"), "
    auto normal = [=](unsigned int x, unsigned int y) {
        const float u = (float)x * 0x1p-32f + 0x1p-33f;
        const float v = __fadd_rn(__fmul_rn((float)y, 6.2831855f * 0x1p-32f), 6.2831855f * 0x1p-33f);
        const float size = sqrtf(-2.0f * logf(u));
        return make_float2(__fadd_rn(mean, __fmul_rn(deviation, __fmul_rn(size, sinf(v)))),
                           __fadd_rn(mean, __fmul_rn(deviation, __fmul_rn(size, cosf(v)))));
    };
    for (unsigned long long i = thread_index(); i < groups; i += thread_count()) {
        const uint4 w = words(counter + rounds(i), sequence(i));
        const float2 a = normal(w.x, w.y), b = normal(w.z, w.w);
        write(i, a.x, a.y, b.x, b.y);
    }
"))]
pub fn normal_f32(out: &mut [f32], seed: u64, counter: u64, place: u32, mean: f32, deviation: f32) {
    const UNIT: f32 = std::f32::consts::TAU / 4_294_967_296.0;
    let normal = |x: u32, y: u32| {
        let size = (-2.0 * unit_f32(x).ln()).sqrt();
        let angle = y as f32 * UNIT + UNIT / 2.0;
        [mean + deviation * (size * angle.sin()), mean + deviation * (size * angle.cos())]
    };
    groups(out, place, |rounds, sequence| {
        let [a, b, c, d] = words(seed, counter.wrapping_add(rounds), sequence);
        let ([a, b], [c, d]) = (normal(a, b), normal(c, d));
        [a, b, c, d]
    });
}

/// Fills memory with normally distributed numbers, by the method of Box and Muller: four words give two numbers.
#[kernel(
    grid_stride,
    requires(mean.is_finite(), deviation.is_finite(), deviation >= 0.0),
    unsafe cuda = concat!("typedef double T;", include_str!("philox.cuh"), "
    auto normal = [=](uint4 w) {
        const double u = (double)(w.x ^ (unsigned long long)w.y << 21) * 0x1p-53 + 0x1p-54;
        const double v = (double)(w.z ^ (unsigned long long)w.w << 21) * 0x1p-52 + 0x1p-53;
        const double size = sqrt(-2.0 * log(u)), angle = v * 3.141592653589793;
        return make_double2(__dadd_rn(mean, __dmul_rn(deviation, __dmul_rn(size, sin(angle)))),
                            __dadd_rn(mean, __dmul_rn(deviation, __dmul_rn(size, cos(angle)))));
    };
    for (unsigned long long i = thread_index(); i < groups; i += thread_count()) {
        const unsigned long long first = counter + 2 * rounds(i) - (sequence(i) < behind);
        const double2 a = normal(words(first, sequence(i))), b = normal(words(first + 1, sequence(i)));
        write(i, a.x, a.y, b.x, b.y);
    }
"))]
pub fn normal_f64(
    out: &mut [f64],
    seed: u64,
    counter: u64,
    place: u32,
    behind: u32,
    mean: f64,
    deviation: f64,
) {
    let normal = |[a, b, c, d]: [u32; 4]| {
        let size = (-2.0 * (bits_53(a, b) * LSB_53 + LSB_53 / 2.0).ln()).sqrt();
        let angle = (bits_53(c, d) * (2.0 * LSB_53) + LSB_53) * std::f64::consts::PI;
        [mean + deviation * (size * angle.sin()), mean + deviation * (size * angle.cos())]
    };
    groups(out, place, |rounds, sequence| {
        let first = counter_f64(counter, rounds, sequence < behind);
        let [a, b] = normal(words(seed, first, sequence));
        let [c, d] = normal(words(seed, first.wrapping_add(1), sequence));
        [a, b, c, d]
    });
}

/// Returns the first of the two counters from which a sequence computes its four `f64` of a round.
fn counter_f64(counter: u64, rounds: u64, is_behind: bool) -> u64 {
    counter.wrapping_add(2 * rounds).wrapping_sub(is_behind.into())
}

/// The number 2^-53.
const LSB_53: f64 = f64::EPSILON / 2.0;

/// Returns the number that two words give, of 53 bits. Bits 21 to 31 of the result depend on the two words, which are combined by
/// xor.
fn bits_53(low: u32, high: u32) -> f64 {
    (u64::from(low) ^ u64::from(high) << 21) as f64
}

fn unit_f32(word: u32) -> f32 {
    const LSB: f32 = 1.0 / 4_294_967_296.0;
    word as f32 * LSB + LSB / 2.0
}
