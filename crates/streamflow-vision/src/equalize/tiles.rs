//! The tiles of an adaptive equalization, and their tables.

use streamflow::Failure;
use streamflow::prelude::*;

use super::TileGrid;

/// The tiles of an image, by OpenCV's rules.
pub(super) struct Tiles {
    pub(super) across: usize,
    down: usize,
    /// The pixels of a tile, across and down.
    pub(super) size: [usize; 2],
    /// The most that a bin counts; `u32::MAX` without a limit.
    pub(super) clip: u32,
    /// The factor between a number of pixels and a value.
    pub(super) scale: f32,
}

impl Tiles {
    /// Returns the tiles of an image with this width and height, both above 0.
    pub(super) fn of(size: [usize; 2], tiles: [usize; 2], clip_limit: f64) -> Result<Self> {
        let [across, down] = tiles;
        let divide = size[0].is_multiple_of(across) && size[1].is_multiple_of(down);
        // If one side does not divide, OpenCV adds 1 to `tiles` pixels to both.
        let length = |size: usize, tiles: usize| size / tiles + usize::from(!divide);
        let size = [length(size[0], across), length(size[1], down)];
        let Some(area) = size[0].checked_mul(size[1]).filter(|area| *area < u32::MAX as usize)
        else {
            return Err(Failure::msg(format!(
                "`Equalize` counts in 32 bits, and its tiles have {} × {} pixels; make it for more tiles",
                size[0], size[1]
            )));
        };
        let clip = match clip_limit {
            0.0 => u32::MAX,
            limit => ((limit * area as f64 / 256.0) as u32).max(1),
        };
        Ok(Self { across, down, size, clip, scale: 255.0 / area as f32 })
    }

    pub(super) fn count(&self) -> usize {
        self.across * self.down
    }

    pub(super) fn grid(&self) -> TileGrid {
        let each = self.size.map(|size| 1.0 / size as f32);
        TileGrid { across: self.across as u32, down: self.down as u32, each }
    }
}

/// The pixel of an image of `len` that stands at `at`, from 0 on: it is mirrored, without the last one twice.
fn mirrored(at: usize, len: usize) -> usize {
    let period = (2 * len - 2).max(1);
    let at = at % period;
    at.min(period - at).min(len - 1)
}

/// The tables of tiles, one block each: the histogram, the limit, the running sums, and their values.
#[kernel(
    threads(256),
    partial,
    requires(
        width > 0 && height > 0 && width <= pitch && across > 0,
        height.checked_mul(pitch).is_some_and(|all| all <= image.len()),
        tables.len() % 256 == 0
    ),
    unsafe cuda = "
    __shared__ unsigned int counts[256], sums[256], above;
    const unsigned int value = threadIdx.x;
    counts[value] = 0;
    if (value == 0) above = 0;
    __syncthreads();
    auto mirrored = [](unsigned long long at, unsigned long long len) -> unsigned long long {
        const unsigned long long period = len > 1 ? 2 * len - 2 : 1;
        if (at < len) return at;
        at %= period;
        at = at < period - at ? at : period - at;
        return at < len ? at : len - 1;
    };
    const unsigned long long x0 = blockIdx.x % across * tile_width, y0 = blockIdx.x / across * tile_height;
    // A warp has 32 columns at a time, and the warps have rows by turns.
    for (unsigned long long y = value / 32; y < tile_height; y += 8) {
        const unsigned char* const row = image + mirrored(y0 + y, height) * pitch;
        for (unsigned long long x = value % 32; x < tile_width; x += 32) {
            atomicAdd(&counts[row[mirrored(x0 + x, width)]], 1u);
        }
    }
    __syncthreads();
    unsigned int count = counts[value];
    if (count > clip) {
        atomicAdd(&above, count - clip);
        count = clip;
    }
    __syncthreads();
    const unsigned int rest = above % 256, step = rest > 0 ? 256 / rest : 256;
    count += above / 256;
    if (value % step == 0 && value / step < rest) ++count;
    sums[value] = count;
    __syncthreads();
    for (unsigned int d = 1; d < 256; d *= 2) {
        const unsigned int before = value >= d ? sums[value - d] : 0;
        __syncthreads();
        sums[value] += before;
        __syncthreads();
    }
    tables[blockIdx.x * 256ull + value] = (unsigned char)fminf(rintf(__fmul_rn((float)sums[value], scale)), 255.0f);
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub(super) fn tile_tables(
    tables: &mut [u8],
    image: &[u8],
    width: usize,
    height: usize,
    pitch: usize,
    across: usize,
    tile_width: usize,
    tile_height: usize,
    clip: u32,
    scale: f32,
) {
    for (tile, table) in tables.chunks_exact_mut(256).enumerate() {
        let (x0, y0) = (tile % across * tile_width, tile / across * tile_height);
        let mut counts = [0_u32; 256];
        for y in 0..tile_height {
            let row = &image[mirrored(y0 + y, height) * pitch..];
            for x in 0..tile_width {
                counts[usize::from(row[mirrored(x0 + x, width)])] += 1;
            }
        }
        let above: u32 = counts.iter().map(|count| count.saturating_sub(clip)).sum();
        let rest = above as usize % 256;
        let step = 256_usize.checked_div(rest).unwrap_or(256);
        let mut sum = 0;
        for (value, (count, out)) in counts.iter().zip(table).enumerate() {
            let is_more = value % step == 0 && value / step < rest;
            sum += count.min(&clip) + above / 256 + u32::from(is_more);
            *out = (sum as f32 * scale).round_ties_even() as u8;
        }
    }
}
