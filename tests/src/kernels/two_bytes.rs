//! Kernels with element types that Rust itself lacks: `f16`, `bf16` and `Bool8`.

use streamflow::f16;
use streamflow::memory::{Bool8, Complex, bf16};
use streamflow::prelude::*;

/// Rounds numbers to two-byte floats: from `f32`, and from `f64`.
#[kernel(
    requires(x.len() == out.len(), y.len() == out.len(), from_doubles.len() == out.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    out[i] = x[i];
    from_doubles[i] = y[i];
")]
pub fn to_bf16(out: &mut [bf16], from_doubles: &mut [bf16], x: &[f32], y: &[f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = bf16::from_f32(*x);
    }
    for (out, y) in from_doubles.iter_mut().zip(y) {
        *out = rounded(*y);
    }
}

/// Rounds an `f64` to `bf16`. `half::bf16::from_f64` ignores the lower four bytes of the number, so it rounds a number
/// just beyond the middle of two `bf16` as if it were the middle.
fn rounded(y: f64) -> bf16 {
    let near = y as f32;
    let bits = near.to_bits();
    if y.is_nan() || f64::from(near) == y {
        return bf16::from_f32(near);
    }
    // An `f32` that was rounded toward zero and then has its last bit set: `bf16` rounds it as it would round `y`.
    let is_beyond = f64::from(near).abs() > y.abs();
    bf16::from_f32(f32::from_bits((bits - u32::from(is_beyond)) | 1))
}

/// Writes `out[i] = mask[i] ? a : b`, and whether `mask[i]` differs from the flag. Any byte other than 0 is true.
#[kernel(
    requires(mask.len() == out.len(), differs.len() == out.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    out[i] = mask[i] ? a : b;
    differs[i] = mask[i] != flag;
")]
pub fn select(
    out: &mut [bf16],
    differs: &mut [Bool8],
    mask: &[Bool8],
    a: bf16,
    b: bf16,
    flag: Bool8,
) {
    for ((out, differs), mask) in out.iter_mut().zip(differs).zip(mask) {
        *out = if mask.get() { a } else { b };
        *differs = *mask ^ flag;
    }
}

/// Writes scalars of the types that are structs in CUDA. Neighbouring parameters have different alignments.
#[kernel(
    partial,
    requires(out.len() == 8),
    unsafe cuda = "
    if (thread_index() != 0) return;
    out[0] = z.re;
    out[1] = z.im;
    out[2] = w.re;
    out[3] = w.im;
    out[4] = (float)b;
    out[5] = yes ? 1 : 0;
    out[6] = u;
    out[7] = (float)h;
")]
#[allow(clippy::too_many_arguments, reason = "one of each type")]
pub fn more_scalars(
    u: u8,
    z: Complex<f32>,
    yes: Bool8,
    w: Complex<f64>,
    b: bf16,
    out: &mut [f64],
    h: f16,
) {
    let yes = if yes.get() { 1.0 } else { 0.0 };
    let (re, im) = (z.re.into(), z.im.into());
    out.copy_from_slice(&[re, im, w.re, w.im, b.into(), yes, u.into(), h.into()]);
}
