//! The kernels. Data is row-major: channels, pulses, samples of a pulse.

use std::f32::consts::TAU;

use streamflow::memory::Complex;
use streamflow::prelude::*;

/// Pulse compression: correlates each pulse with the code that was sent. A sample at the end has fewer after it.
#[kernel(requires(ranges.len() == echoes.len(), samples > 0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= ranges_len) return;
    complex<float> sum(0.0f);
    for (unsigned long long k = 0; k < code_len && i % samples + k < samples; k++) sum += echoes[i + k] * code[k];
    ranges[i] = sum;
")]
pub fn compress(
    ranges: &mut [Complex<f32>],
    echoes: &[Complex<f32>],
    code: &[f32],
    samples: usize,
) {
    for (ranges, echoes) in ranges.chunks_mut(samples).zip(echoes.chunks(samples)) {
        for (r, range) in ranges.iter_mut().enumerate() {
            *range = echoes[r..].iter().zip(code).map(|(echo, code)| echo * code).sum();
        }
    }
}

/// A discrete Fourier transform over the pulses, and the power of each Doppler and range cell in all channels together.
#[kernel(
    requires(power.len() > 0, ranges.len() % power.len() == 0, samples > 0, power.len() % samples == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= power_len) return;
    unsigned long long doppler = i / samples, range = i % samples, pulses = power_len / samples;
    float sum = 0.0f;
    for (unsigned long long first = range; first < ranges_len; first += power_len) {
        complex<float> cell(0.0f);
        for (unsigned long long pulse = 0; pulse < pulses; pulse++) {
            float turns = (float)(doppler * pulse % pulses) / pulses;
            cell += ranges[first + pulse * samples] * polar(1.0f, -6.2831853f * turns);
        }
        sum += norm_sqr(cell);
    }
    power[i] = sum;
"
)]
pub fn doppler(power: &mut [f32], ranges: &[Complex<f32>], samples: usize) {
    let cells = power.len();
    let pulses = cells / samples;
    let mut row = vec![Complex::<f32>::ZERO; samples];
    power.fill(0.0);
    for channel in ranges.chunks(cells) {
        for (doppler, power) in power.chunks_mut(samples).enumerate() {
            row.fill(Complex::ZERO);
            for (pulse, ranges) in channel.chunks(samples).enumerate() {
                let turns = (doppler * pulse % pulses) as f32 / pulses as f32;
                let factor = Complex::from_polar(1.0, -TAU * turns);
                row.iter_mut().zip(ranges).for_each(|(cell, range)| *cell += range * factor);
            }
            power.iter_mut().zip(&row).for_each(|(power, cell)| *power += cell.norm_sqr());
        }
    }
}

/// `mean += weight * (map - mean)`, and `map` becomes a copy of it.
#[kernel(requires(mean.len() == map.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < map_len) map[i] = mean[i] += weight * (map[i] - mean[i]);
")]
pub fn average(mean: &mut [f32], map: &mut [f32], weight: f32) {
    for (mean, map) in mean.iter_mut().zip(map) {
        *mean += weight * (*map - *mean);
        *map = *mean;
    }
}

/// CFAR: 1 where a cell has more than `threshold` times the mean power of its neighbours in range, else 0. They begin
/// `guard` cells away, and there are `training` on each side, or fewer at a border.
#[kernel(requires(found.len() == map.len(), samples > 0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= found_len) return;
    unsigned long long range = i % samples;
    float sum = 0.0f, count = 0.0f;
    for (unsigned long long d = guard; d < guard + training; d++) {
        if (range >= d) { sum += map[i - d]; count += 1.0f; }
        if (range + d < samples) { sum += map[i + d]; count += 1.0f; }
    }
    found[i] = map[i] * count > threshold * sum;
")]
pub fn cfar(
    found: &mut [u8],
    map: &[f32],
    samples: usize,
    guard: usize,
    training: usize,
    threshold: f32,
) {
    for (found, map) in found.chunks_mut(samples).zip(map.chunks(samples)) {
        for (range, found) in found.iter_mut().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            for d in guard..guard + training {
                let near = [range.checked_sub(d), range.checked_add(d)];
                for power in near.into_iter().flatten().filter_map(|i| map.get(i)) {
                    sum += power;
                    count += 1.0;
                }
            }
            *found = u8::from(map[range] * count > threshold * sum);
        }
    }
}
