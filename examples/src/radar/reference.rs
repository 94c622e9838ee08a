//! The maps of the radar computed in `f64`, from their definitions.

use std::f64::consts::TAU;

use streamflow::memory::Complex;

use super::{CHANNELS, CODE, GUARD, PULSES, SAMPLES, TARGETS, TRAINING};

/// The maximum distance of a cell from the reference, relative to the cell. A cell is a sum of thousands of products, whose
/// roundings add up to a few ε, like the steps of a random walk. The tolerance is ten times the distance that was measured.
pub const TOLERANCE: f64 = 3e-5;

/// The map of one tick: the power of each Doppler and range cell.
pub fn power(tick: u64) -> Vec<f64> {
    let turned = |part: usize| Complex::cis(-TAU * part as f64 / PULSES as f64);
    let factors: Vec<Complex<f64>> = (0..PULSES).map(turned).collect();
    let mut power = vec![0.0; PULSES * SAMPLES];
    for channel in 0..CHANNELS {
        let compress = |pulse| compressed(&received(channel, pulse, tick));
        let pulses: Vec<Vec<Complex<f64>>> = (0..PULSES).map(compress).collect();
        for (i, power) in power.iter_mut().enumerate() {
            let (doppler, range) = (i / SAMPLES, i % SAMPLES);
            let terms = pulses.iter().enumerate();
            let cell: Complex<f64> =
                terms.map(|(p, row)| row[range] * factors[doppler * p % PULSES]).sum();
            *power += cell.norm_sqr();
        }
    }
    power
}

/// The samples that a channel receives after a pulse: the echoes and the noise.
fn received(channel: usize, pulse: usize, tick: u64) -> Vec<Complex<f64>> {
    let sample = |s: usize| {
        let i = 2 * ((channel * PULSES + pulse) * SAMPLES + s) as u64;
        let noise = Complex::new(noise(i, tick), noise(i + 1, tick));
        let echoes = TARGETS.iter().filter_map(|target| {
            let chip = f64::from(*CODE.get(s.checked_sub(target.range)?)?);
            let turns = (target.doppler * pulse) as f64 / PULSES as f64
                + f64::from(target.bearing) * channel as f64 / CHANNELS as f64;
            Some(Complex::from_polar(f64::from(target.amplitude) * chip, TAU * turns))
        });
        noise + echoes.sum::<Complex<f64>>()
    };
    (0..SAMPLES).map(sample).collect()
}

/// Returns the noise with this index in this tick, a number from -1 to 1.
fn noise(i: u64, tick: u64) -> f64 {
    let modulus = 1_u64 << 32;
    let mut h = (i * 2_654_435_769 + tick * 40_503) % modulus;
    h ^= h >> 15;
    h = h * 739_982_445 % modulus;
    h ^= h >> 12;
    (h >> 8) as f64 / (1_u64 << 23) as f64 - 1.0
}

/// The correlation of samples with the code.
fn compressed(samples: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let range = |r: usize| samples[r..].iter().zip(CODE).map(|(x, c)| x * f64::from(c)).sum();
    (0..samples.len()).map(range).collect()
}

/// Returns the cells of a map that have more than `threshold` times the mean of the cells around them.
pub fn detections(map: &[f64], threshold: f64) -> Vec<usize> {
    let is_found = |&i: &usize| {
        let (range, row) = (i % SAMPLES, &map[i - i % SAMPLES..][..SAMPLES]);
        let is_near = |r: &usize| (GUARD..GUARD + TRAINING).contains(&r.abs_diff(range));
        let near: Vec<f64> = (0..SAMPLES).filter(is_near).map(|r| row[r]).collect();
        map[i] > threshold * near.iter().sum::<f64>() / near.len() as f64
    };
    (0..map.len()).filter(is_found).collect()
}
