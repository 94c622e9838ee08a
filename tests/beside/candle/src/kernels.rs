//! Kernels of streamflow before and after candle's.

use streamflow::prelude::*;

use crate::network::value;

/// Waits `cycles` clock cycles, then writes image `salt`.
#[kernel(unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    unsigned int mixed = (unsigned int)i * 2654435761u + salt * 97003337u;
    if (i < image_len) image[i] = (float)(mixed >> 20) / 4096.0f - 0.5f;
")]
pub fn produce(image: &mut [f32], salt: u32, cycles: u64) {
    let _ = cycles;
    image.iter_mut().enumerate().for_each(|(at, x)| *x = value(at, salt));
}

/// Writes `value` everywhere.
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
pub fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

/// Waits `cycles` clock cycles, then copies.
#[kernel(requires(out.len() == input.len()), unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = input[i];
")]
pub fn slow_copy(out: &mut [f32], input: &[f32], cycles: u64) {
    let _ = cycles;
    out.copy_from_slice(input);
}

/// The work after candle's network: `out = 2 y + 1`.
#[kernel(requires(out.len() == y.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = 2.0f * y[i] + 1.0f;
")]
pub fn finish(out: &mut [f32], y: &[f32]) {
    out.iter_mut().zip(y).for_each(|(out, y)| *out = 2.0 * y + 1.0);
}

/// Counts a result by the row that it equals: `counts[0]` if it is the expected row, else `counts[1 + row]`, and the last count if it
/// equals none. `worst[0]` is the largest difference of a right one. A single thread computes it.
#[kernel(partial, unsafe cuda = "
    if (thread_index() != 0 || out_len == 0 || worst_len == 0) return;
    unsigned long long all = rows_len / out_len;
    if (counts_len < all + 2) return;
    for (unsigned long long turn = 0; turn <= all; turn++) {
        unsigned long long row = turn == 0 ? expected : turn - 1;
        if (row >= all) continue;
        bool same = true;
        float most = 0.0f;
        for (unsigned long long i = 0; i < out_len; i++) {
            float off = fabsf(out[i] - rows[row * out_len + i]);
            same = same && off <= tolerance;
            most = fmaxf(most, off);
        }
        if (same) {
            counts[turn] += 1;
            if (turn == 0) worst[0] = fmaxf(worst[0], most);
            return;
        }
    }
    counts[all + 1] += 1;
")]
pub fn judge(
    counts: &mut [u32],
    worst: &mut [f32],
    out: &[f32],
    rows: &[f32],
    expected: u64,
    tolerance: f32,
) {
    let all: Vec<&[f32]> = rows.chunks(out.len().max(1)).collect();
    let worst_of = |row: &[f32]| -> Option<f32> {
        let off = out.iter().zip(row).map(|(a, b)| (a - b).abs());
        off.map(|off| (off <= tolerance).then_some(off))
            .try_fold(0.0, |most: f32, off| Some(most.max(off?)))
    };
    if let Some(most) = all.get(expected as usize).and_then(|row| worst_of(row)) {
        counts[0] += 1;
        worst[0] = worst[0].max(most);
        return;
    }
    let found = all.iter().position(|row| worst_of(row).is_some());
    counts[found.map_or(all.len() + 1, |row| row + 1)] += 1;
}
