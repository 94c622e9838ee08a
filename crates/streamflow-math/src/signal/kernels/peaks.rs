//! The steps of finding peaks. A run is a series of equal samples. A peak is a run between two lower samples, and is marked at the
//! run's last sample.

use streamflow::kernel;

/// The larger of two places: its scan has the beginning of each sample's run.
#[kernel(scan(identity = 0))]
pub fn latest(a: u32, b: u32) -> u32 {
    a.max(b)
}

/// The sum of two counts: its scan has the number of peaks up to each sample.
#[kernel(scan(identity = 0))]
pub fn ranked(a: u32, b: u32) -> u32 {
    a + b
}

/// The scan of `latest`.
pub type Latest = latest;
/// The scan of `ranked`.
pub type Ranked = ranked;

/// The index of each sample within its signal of `len` samples, if a run begins there, and 0 otherwise.
#[kernel(map)]
pub fn run_starts(start: &mut u32, #[at] n: usize, len: usize, signals: &[f32]) {
    let i = n % len;
    *start = 0;
    if i > 0 {
        if signals[n] != signals[n - 1] {
            *start = i as u32;
        }
    }
}

/// 1 for the last sample of each peak with a height from `low` to `high`, and 0 otherwise. `starts` has the beginning of each
/// sample's run.
#[kernel(map)]
pub fn tops(
    top: &mut u32,
    start: &u32,
    #[at] n: usize,
    len: usize,
    low: f32,
    high: f32,
    signals: &[f32],
) {
    let i = n % len;
    let first = *start as usize;
    *top = 0;
    if first > 0 && i + 1 < len {
        let height = signals[n];
        let before = signals[n - (i - first) - 1];
        let after = signals[n + 1];
        if before < height && after < height && height >= low && height <= high {
            *top = 1;
        }
    }
}

/// Peak `k` of each row of `most`: its middle, rounded down, and its height. Beyond the last peak, they are `u32::MAX` and NaN.
/// `ranks` has the number of peaks up to each of `len` samples.
#[kernel(map)]
pub fn pick(
    position: &mut u32,
    height: &mut f32,
    #[at] [row, k]: [usize; 2],
    len: usize,
    signals: &[f32],
    starts: &[u32],
    ranks: &[u32],
) {
    let mut from = row * len;
    let mut beyond = from + len;
    while from < beyond {
        let middle = from + (beyond - from) / 2;
        if ranks[middle] as usize > k {
            beyond = middle;
        } else {
            from = middle + 1;
        }
    }
    *position = u32::MAX;
    *height = f32::NAN;
    if from < (row + 1) * len {
        let end = from - row * len;
        let first = starts[from] as usize;
        *position = (first + (end - first) / 2) as u32;
        *height = signals[from];
    }
}

/// Peak `k` of those that `thin` has kept, as `pick` has it.
#[kernel(map)]
pub fn pick_kept(
    position: &mut u32,
    height: &mut f32,
    #[at] [row, k]: [usize; 2],
    len: usize,
    positions: &[u32],
    heights: &[f32],
    ranks: &[u32],
) {
    let mut from = row * len;
    let mut beyond = from + len;
    while from < beyond {
        let middle = from + (beyond - from) / 2;
        if ranks[middle] as usize > k {
            beyond = middle;
        } else {
            from = middle + 1;
        }
    }
    *position = u32::MAX;
    *height = f32::NAN;
    if from < (row + 1) * len {
        *position = positions[from];
        *height = heights[from];
    }
}

/// The number of peaks of each row: its last rank.
#[kernel(map)]
pub fn counts(count: &mut u32, #[at] row: usize, len: usize, ranks: &[u32]) {
    *count = 0;
    if len > 0 {
        *count = ranks[(row + 1) * len - 1];
    }
}

/// Removes peaks that are nearer than `distance` to a higher one which is kept: `kept` becomes 1 for those that stay, and 0 for
/// all others. Of equal heights, the later one counts as higher. Each row has `most` places for peaks: the first
/// `counts` places have one each, in the order of their positions.
///
/// A row is the work of a block. A peak is decided once all higher ones within the distance are, so the result does not depend on
/// the order of the threads, and each round decides the highest of those that are left.
#[kernel(
    grid_stride,
    threads(256),
    requires(
        most > 0,
        kept.len() == most * counts.len(),
        positions.len() == kept.len(),
        heights.len() == kept.len()
    ),
    unsafe cuda = "
    for (unsigned long long row = blockIdx.x; row < counts_len; row += gridDim.x) {
        volatile unsigned int* states = kept + row * most;
        const unsigned int* at = positions + row * most;
        const float* height = heights + row * most;
        const unsigned long long count = counts[row] < most ? counts[row] : most;
        // 0: removed; 1: kept; 2: not decided.
        for (unsigned long long j = threadIdx.x; j < most; j += blockDim.x) states[j] = j < count ? 2 : 0;
        __syncthreads();
        bool is_open;
        do {
            is_open = false;
            for (unsigned long long j = threadIdx.x; j < count; j += blockDim.x) {
                if (states[j] != 2) continue;
                unsigned int state = 1;
                for (unsigned long long k = j; state != 0 && k-- > 0 && at[j] - at[k] < distance;) {
                    const unsigned int other = states[k];
                    if (other == 1) state = 0;
                    else if (other == 2 && height[k] > height[j]) state = 2;
                }
                for (unsigned long long k = j + 1; state != 0 && k < count && at[k] - at[j] < distance; k++) {
                    const unsigned int other = states[k];
                    if (other == 1) state = 0;
                    else if (other == 2 && height[k] >= height[j]) state = 2;
                }
                if (state == 2) is_open = true;
                else states[j] = state;
            }
        } while (__syncthreads_or(is_open));
    }
"
)]
pub fn thin(
    kept: &mut [u32],
    positions: &[u32],
    heights: &[f32],
    counts: &[u32],
    most: usize,
    distance: u32,
) {
    for (row, count) in counts.iter().enumerate() {
        let kept = &mut kept[row * most..][..most];
        let (at, heights) = (&positions[row * most..][..most], &heights[row * most..][..most]);
        let count = (*count as usize).min(most);
        kept.fill(0);
        kept[..count].fill(1);
        let mut order: Vec<usize> = (0..count).collect();
        // The sort is stable, so of equal heights the later peak is the last.
        order.sort_by(|a, b| heights[*a].total_cmp(&heights[*b]));
        for &j in order.iter().rev() {
            if kept[j] == 0 {
                continue;
            }
            let is_near = |k: &usize| at[*k].abs_diff(at[j]) < distance;
            let before = (0..j).rev().take_while(is_near);
            for k in before.chain((j + 1..count).take_while(is_near)) {
                kept[k] = 0;
            }
        }
    }
}
