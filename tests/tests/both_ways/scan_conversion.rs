//! Scan conversion: the pixels of a sector, from beams with samples from the tip outwards.

use streamflow::kernel::Strided;
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check};

use super::{check_control, check_near, line_between, noise};

// With one body:

/// The value between two pairs, `u` of the way from one pair to the other, and `v` within each.
#[kernel_fn]
fn bilinear(pairs: [f32; 4], u: f32, v: f32) -> f32 {
    let one = pairs[0] + (pairs[1] - pairs[0]) * v;
    let other = pairs[2] + (pairs[3] - pairs[2]) * v;
    one + (other - one) * u
}

/// The sector's value at each pixel, and 0 beside the sector.
#[kernel(map)]
fn convert(
    out: &mut f32,
    #[at] [row, col]: [usize; 2],
    polar: &[f32],
    beams: usize,
    pitch: f32,
    step: f32,
) {
    let samples = polar.len() / beams;
    let x = (col as f32 - TIP) * step;
    let z = row as f32 * step;
    let beam = x.atan2(z) / pitch + (beams - 1) as f32 * 0.5;
    let sample = (x * x + z * z).sqrt();
    *out = 0.0;
    if beam >= 0.0 && (beam as usize) < beams - 1 && (sample as usize) < samples - 1 {
        let at = beam as usize * samples + sample as usize;
        let next = at + samples;
        let pairs = [polar[at], polar[at + 1], polar[next], polar[next + 1]];
        *out = bilinear(pairs, beam.fract(), sample.fract());
    }
}

fn once(s: &CudaStream, out: &mut Tensor<f32>, polar: &Tensor<f32>, step: f32) -> Result<()> {
    Ok(s.map::<convert>((out, polar, polar.shape()[0], PITCH, step))?)
}

// With two bodies:

/// The sector's value at each pixel, and 0 beside the sector.
#[kernel(unsafe cuda = "
    unsigned long long col = thread_index(), row = thread_index_y();
    if (row < out.shape(0) && col < out.shape(1)) {
        float x = __fmul_rn(col - tip, step), z = __fmul_rn(row, step);
        float beam = atan2f(x, z) / pitch + __fmul_rn(polar.shape(0) - 1, 0.5f);
        float sample = sqrtf(__fmul_rn(x, x) + __fmul_rn(z, z));
        float value = 0;
        if (beam >= 0 && beam < polar.shape(0) - 1 && sample < polar.shape(1) - 1) {
            unsigned long long i = beam, k = sample;
            float u = beam - i, v = sample - k;
            float one = polar(i, k) + __fmul_rn(polar(i, k + 1) - polar(i, k), v);
            float other = polar(i + 1, k) + __fmul_rn(polar(i + 1, k + 1) - polar(i + 1, k), v);
            value = one + __fmul_rn(other - one, u);
        }
        out(row, col) = value;
    }
")]
fn convert_twice(
    out: &mut Strided<f32, 2>,
    polar: &Strided<f32, 2>,
    pitch: f32,
    step: f32,
    tip: f32,
) {
    let ([rows, cols], [beams, samples]) = (out.shape(), polar.shape());
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let (x, z) = ((col as f32 - tip) * step, row as f32 * step);
        let beam = x.atan2(z) / pitch + (beams - 1) as f32 * 0.5;
        let sample = (x * x + z * z).sqrt();
        let mut value = 0.0;
        if beam >= 0.0 && beam < (beams - 1) as f32 && sample < (samples - 1) as f32 {
            let (i, k) = (beam as usize, sample as usize);
            let mix = |i| polar[[i, k]] + (polar[[i, k + 1]] - polar[[i, k]]) * sample.fract();
            value = mix(i) + (mix(i + 1) - mix(i)) * beam.fract();
        }
        out[[row, col]] = value;
    }
}

fn twice(s: &CudaStream, out: &mut Tensor<f32>, polar: &Tensor<f32>, step: f32) -> Result<()> {
    let grid = [out.shape()[1], out.shape()[0]];
    Ok(s.launch::<convert_twice>(grid, (out.view_mut(), polar.view(), PITCH, step, TIP))?)
}

// The test of both:

/// The column of the tip, the radians between two beams, and the samples between two pixels.
const TIP: f32 = 15.5;
const PITCH: f32 = 0.08;
const STEP: f32 = 1.7;
const BEAMS: usize = 22;
const SAMPLES: usize = 40;
const SHAPE: [usize; 2] = [26, 32];

/// The documented errors of `atan2` in CUDA and in Rust are 3 and 1 in the last place: at most 3e-7 radians here, so 5e-6 beams,
/// between which two values differ by at most 2. The places of the samples are rounded by more.
const ERROR: f64 = 1e-4;

pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let sector = noise(4, BEAMS * SAMPLES);
    let polar = uploaded(platform, &sector, &s)?.reshape([BEAMS, SAMPLES])?;
    let poisoned = || uploaded(platform, &[f32::NAN; SHAPE[0] * SHAPE[1]], &s)?.reshape(SHAPE);
    let (mut out, mut other) = (poisoned()?, poisoned()?);
    once(&s, &mut out, &polar, STEP)?;
    twice(&s, &mut other, &polar, STEP)?;
    let (found, wanted) = (s.download_blocking(&out)?, s.download_blocking(&other)?);
    let doubles: Vec<f64> = wanted.iter().map(|x| f64::from(*x)).collect();
    check_near(&found, &doubles, ERROR)?;
    check_near(&found, &plain(&sector)?, ERROR)?;
    let beside = found.iter().filter(|value| **value == 0.0).count();
    check((100..500).contains(&beside), || format!("{beside} pixels are beside the sector"))?;
    once(&s, &mut out, &polar, STEP * 0.9)?;
    let scaled = s.download_blocking(&out)?;
    check(check_near(&scaled, &doubles, ERROR).is_err(), || "another step has no effect".into())?;
    check_control(&scaled, &wanted)
}

/// The pixels, in numbers of 64 bits. Each one is so far from the edge of the sector that rounding does not decide on its side.
fn plain(sector: &[f32]) -> Result<Vec<f64>, Failed> {
    let pixel = |i: usize| {
        let x = ((i % SHAPE[1]) as f64 - f64::from(TIP)) * f64::from(STEP);
        let z = (i / SHAPE[1]) as f64 * f64::from(STEP);
        let beam = x.atan2(z) / f64::from(PITCH) + (BEAMS - 1) as f64 * 0.5;
        let sample = x.hypot(z);
        let edges = [beam, (BEAMS - 1) as f64 - beam, (SAMPLES - 1) as f64 - sample];
        check(edges.iter().all(|edge| edge.abs() > 1e-3), || format!("pixel {i} is on an edge"))?;
        if edges.iter().any(|edge| *edge < 0.0) {
            return Ok(0.0);
        }
        let mut rows =
            sector.chunks(SAMPLES).skip(beam as usize).map(|row| line_between(row, sample));
        let (one, other) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        Ok(one + (other - one) * beam.fract())
    };
    (0..SHAPE[0] * SHAPE[1]).map(pixel).collect()
}
