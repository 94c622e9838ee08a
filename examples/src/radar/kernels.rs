//! The kernels of the radar. Data is row-major.

use streamflow::memory::Complex;
use streamflow::prelude::*;

/// Pulse compression: correlates the samples after each pulse with the code. For a sample near the end, fewer samples follow than
/// the code has. `echoes` has the dimensions channel, pulse and sample; `ranges` has pulse, channel and range cell.
#[kernel(
    requires(ranges.len() == echoes.len(), samples > 0, pulses > 0, echoes.len() % (samples * pulses) == 0),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= echoes_len) return;
    unsigned long long row = i / samples, channels = echoes_len / samples / pulses;
    complex<float> sum(0.0f);
    for (unsigned long long k = 0; k < code_len && i % samples + k < samples; k++) sum += echoes[i + k] * code[k];
    ranges[(row % pulses * channels + row / pulses) * samples + i % samples] = sum;
"
)]
pub fn compress(
    ranges: &mut [Complex<f32>],
    echoes: &[Complex<f32>],
    code: &[f32],
    samples: usize,
    pulses: usize,
) {
    let channels = echoes.len() / samples / pulses;
    for (row, echoes) in echoes.chunks(samples).enumerate() {
        let first = (row % pulses * channels + row / pulses) * samples;
        for (r, range) in ranges[first..][..samples].iter_mut().enumerate() {
            *range = echoes[r..].iter().zip(code).map(|(echo, code)| echo * code).sum();
        }
    }
}

/// Averages the power of each Doppler and range cell over time, summed over all channels: `mean += weight * (power - mean)`.
/// `map` becomes a copy of `mean`. `cells` has the dimensions Doppler cell, channel and range cell.
#[kernel(
    requires(mean.len() == map.len(), map.len() > 0, samples > 0, cells.len() >= map.len(), cells.len() % map.len() == 0),
    unsafe cuda = "
    unsigned long long i = thread_index(), row = cells_len / map_len * samples;
    if (i >= map_len) return;
    float power = 0.0f;
    for (unsigned long long at = i % samples; at < row; at += samples) power += norm_sqr(cells[i / samples * row + at]);
    map[i] = mean[i] += weight * (power - mean[i]);
"
)]
pub fn average(
    mean: &mut [f32],
    map: &mut [f32],
    cells: &[Complex<f32>],
    samples: usize,
    weight: f32,
) {
    let row = cells.len() / map.len() * samples;
    for (i, (mean, map)) in mean.iter_mut().zip(map).enumerate() {
        let channels = cells[i / samples * row..][..row].iter().skip(i % samples).step_by(samples);
        let power: f32 = channels.map(Complex::norm_sqr).sum();
        *mean += weight * (power - *mean);
        *map = *mean;
    }
}

/// CFAR: 1 where a cell has more than `threshold` times the mean power of its neighbours in range, else 0. The neighbours begin
/// `guard` cells away from the cell. There are `training` of them on each side, or fewer at a border.
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
