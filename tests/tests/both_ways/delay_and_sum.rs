//! Delay and sum: an image of the echoes of a plane wave, from the signals of a row of elements.

use streamflow::kernel::Strided;
use streamflow::prelude::*;
use streamflow_tests::Failed;
use streamflow_tests::setup::{stream, uploaded};

use super::{check_bits, check_control, check_near, line_between, noise};

// With one body:

/// The sum of the channels, each at the time of the echo from the pixel.
#[kernel(map)]
fn focus(
    out: &mut f32,
    #[at] [row, col]: [usize; 2],
    rf: &[f32],
    elements: &[f32],
    step: f32,
    rate: f32,
) {
    let samples = rf.len() / elements.len();
    let x = col as f32 * step;
    let z = row as f32 * step;
    let mut sum = 0.0;
    for channel in 0..elements.len() {
        let away = x - elements[channel];
        let time = (z + (z * z + away * away).sqrt()) * rate;
        if (time as usize) < samples - 1 {
            let at = channel * samples + time as usize;
            sum += rf[at] + (rf[at + 1] - rf[at]) * time.fract();
        }
    }
    *out = sum;
}

fn once(
    s: &CudaStream,
    out: &mut Tensor<f32>,
    rf: &Tensor<f32>,
    elements: &Tensor<f32>,
) -> Result<()> {
    Ok(s.map::<focus>((out, rf, elements, STEP, RATE))?)
}

// With two bodies:

/// The sum of the channels, each at the time of the echo from the pixel.
#[kernel(requires(rf.shape()[0] == elements.len()), unsafe cuda = "
    unsigned long long col = thread_index(), row = thread_index_y();
    if (row < out.shape(0) && col < out.shape(1)) {
        float x = __fmul_rn(col, step), z = __fmul_rn(row, step), sum = 0;
        for (unsigned long long channel = 0; channel < elements_len; channel++) {
            float away = x - elements[channel];
            float time = __fmul_rn(z + sqrtf(__fmul_rn(z, z) + __fmul_rn(away, away)), rate);
            unsigned long long at = time;
            if (at + 1 < rf.shape(1)) {
                float a = rf(channel, at), b = rf(channel, at + 1);
                sum += a + __fmul_rn(b - a, time - truncf(time));
            }
        }
        out(row, col) = sum;
    }
")]
fn focus_twice(
    out: &mut Strided<f32, 2>,
    rf: &Strided<f32, 2>,
    elements: &[f32],
    step: f32,
    rate: f32,
) {
    let [rows, cols] = out.shape();
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let (x, z) = (col as f32 * step, row as f32 * step);
        let mut sum = 0.0;
        for (channel, element) in elements.iter().enumerate() {
            let away = x - element;
            let time = (z + (z * z + away * away).sqrt()) * rate;
            let at = time as usize;
            if at + 1 < rf.shape()[1] {
                let (a, b) = (rf[[channel, at]], rf[[channel, at + 1]]);
                sum += a + (b - a) * time.fract();
            }
        }
        out[[row, col]] = sum;
    }
}

fn twice(
    s: &CudaStream,
    out: &mut Tensor<f32>,
    rf: &Tensor<f32>,
    elements: &Tensor<f32>,
) -> Result<()> {
    let grid = [out.shape()[1], out.shape()[0]];
    Ok(s.launch::<focus_twice>(grid, (out.view_mut(), rf.view(), elements, STEP, RATE))?)
}

// The test of both:

/// Metres between two pixels, and samples in a metre of sound.
const STEP: f32 = 2.5e-4;
const RATE: f32 = 13_000.0;
const CHANNELS: usize = 12;
/// Too few for the pixels that are far away.
const SAMPLES: usize = 150;
const SHAPE: [usize; 2] = [22, 17];

pub(super) fn test(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let signals = noise(1, CHANNELS * SAMPLES);
    let places: Vec<f32> = (0..CHANNELS).map(|i| i as f32 * 3.1e-4 + 1e-4).collect();
    let rf = uploaded(platform, &signals, &s)?.reshape([CHANNELS, SAMPLES])?;
    let elements = uploaded(platform, &places, &s)?;
    let poisoned = || uploaded(platform, &[f32::NAN; SHAPE[0] * SHAPE[1]], &s)?.reshape(SHAPE);
    let (mut out, mut other) = (poisoned()?, poisoned()?);
    once(&s, &mut out, &rf, &elements)?;
    twice(&s, &mut other, &rf, &elements)?;
    let (found, wanted) = (s.download_blocking(&out)?, s.download_blocking(&other)?);
    check_bits(&found, &wanted)?;
    check_near(&found, &plain(&signals, &places), 1e-3)?;
    let moved: Vec<f32> = places.iter().map(|x| x + 1e-4).collect();
    once(&s, &mut out, &rf, &uploaded(platform, &moved, &s)?)?;
    check_control(&s.download_blocking(&out)?, &wanted)
}

/// The image, in numbers of 64 bits.
fn plain(signals: &[f32], places: &[f32]) -> Vec<f64> {
    let pixel = |i: usize| {
        let step = f64::from(STEP);
        let (z, x) = ((i / SHAPE[1]) as f64 * step, (i % SHAPE[1]) as f64 * step);
        let channels = signals.chunks(SAMPLES).zip(places);
        let heard = channels.map(|(signal, place)| {
            let time = (z + z.hypot(x - f64::from(*place))) * f64::from(RATE);
            let is_heard = time < (SAMPLES - 1) as f64;
            if is_heard { line_between(signal, time) } else { 0.0 }
        });
        heard.sum()
    };
    (0..SHAPE[0] * SHAPE[1]).map(pixel).collect()
}
