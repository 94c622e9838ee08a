//! Envelope: the size of a complex signal, as a logarithm, in 256 levels.

use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check};

use super::{check_control, noise};

// With one body:

/// The level of a sample: 255 for the size 1, and 0 from `-range` decibels down.
#[kernel(map)]
fn envelope(out: &mut u8, re: &f32, im: &f32, range: f32) {
    let decibels = 20.0 * (*re * *re + *im * *im).sqrt().log10();
    *out = (255.0 * (1.0 + decibels / range)) as u8;
}

fn once(
    s: &CudaStream,
    out: &mut Tensor<u8>,
    re: &Tensor<f32>,
    im: &Tensor<f32>,
    range: f32,
) -> Result<()> {
    Ok(s.map::<envelope>((out, re, im, range))?)
}

// With two bodies:

/// The level of a sample: 255 for the size 1, and 0 from `-range` decibels down.
#[kernel(requires(re.len() == out.len(), im.len() == out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) {
        float decibels = 20 * log10f(sqrtf(__fmul_rn(re[i], re[i]) + __fmul_rn(im[i], im[i])));
        out[i] = fminf(fmaxf(255 * (1 + decibels / range), 0), 255);
    }
")]
fn envelope_twice(out: &mut [u8], re: &[f32], im: &[f32], range: f32) {
    for (out, (re, im)) in out.iter_mut().zip(re.iter().zip(im)) {
        let decibels = 20.0 * (re * re + im * im).sqrt().log10();
        *out = (255.0 * (1.0 + decibels / range)) as u8;
    }
}

fn twice(
    s: &CudaStream,
    out: &mut Tensor<u8>,
    re: &Tensor<f32>,
    im: &Tensor<f32>,
    range: f32,
) -> Result<()> {
    Ok(s.launch::<envelope_twice>(out.len(), (out, re, im, range))?)
}

// The test of both:

const N: usize = 3000;
const RANGE: f32 = 45.0;

/// The documented errors of `log10` are 2 in the last place in CUDA and 1 in Rust. So a sum near a whole number is cut to the level
/// beside it: of a hundred levels at most one.
pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let parts = [noise(2, N), noise(3, N)];
    let [re, im] = [uploaded(platform, &parts[0], &s)?, uploaded(platform, &parts[1], &s)?];
    let (mut out, mut other) = (uploaded(platform, &[7; N], &s)?, uploaded(platform, &[9; N], &s)?);
    once(&s, &mut out, &re, &im, RANGE)?;
    twice(&s, &mut other, &re, &im, RANGE)?;
    let (found, wanted) = (s.download_blocking(&out)?, s.download_blocking(&other)?);
    check_levels(&found, &wanted)?;
    check_levels(&found, &plain(&parts))?;
    once(&s, &mut out, &re, &im, RANGE * 0.9)?;
    let found = s.download_blocking(&out)?;
    check(check_levels(&found, &wanted).is_err(), || "another range has the same levels".into())?;
    once(&s, &mut out, &im, &im, RANGE)?;
    check_control(&s.download_blocking(&out)?, &wanted)
}

fn check_levels(found: &[u8], wanted: &[u8]) -> Result<(), Failed> {
    let apart = found.iter().zip(wanted).filter(|(a, b)| a != b).count();
    let is_near = found.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 1);
    check(found.len() == wanted.len() && is_near && apart <= N / 100, || {
        format!("{apart} levels of {} differ, at most by one: {is_near}", wanted.len())
    })
}

/// The levels, in numbers of 64 bits.
fn plain(parts: &[Vec<f32>; 2]) -> Vec<u8> {
    let level = |(re, im): (&f32, &f32)| {
        let decibels = 20.0 * f64::from(*re).hypot(f64::from(*im)).log10();
        (255.0 * (1.0 + decibels / f64::from(RANGE))) as u8
    };
    parts[0].iter().zip(&parts[1]).map(level).collect()
}
