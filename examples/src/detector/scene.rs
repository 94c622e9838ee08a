//! The scene: three discs that move over noise, and the boxes around them.

use streamflow::prelude::*;

use super::{HEIGHT, RADIUS, WIDTH};

/// Returns the middle of each disc, `[x, y]`. Each moves in rows of its own.
fn middles(number: u64) -> [[usize; 2]; 3] {
    // To and fro between 0 and `most`.
    let swing = |at: u64, most: u64| (at % (2 * most)).min(2 * most - at % (2 * most)) as usize;
    let across = (WIDTH - 2 * RADIUS - 8) as u64;
    [0, 1, 2].map(|i| {
        let x = RADIUS + 4 + swing((i + 1) * number + 47 * i, across);
        [x, 17 + 40 * i as usize + swing(number + 3 * i, 6)]
    })
}

/// Returns the true boxes of a frame.
pub fn truth(number: u64) -> [[f32; 4]; 3] {
    let edges = |[x, y]: [usize; 2]| [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS];
    middles(number).map(|middle| edges(middle).map(|edge| edge as f32))
}

/// Returns a frame in NV12. The same number gives the same frame.
pub fn frame(number: u64) -> Vec<u8> {
    let middles = middles(number);
    // The middles of discs are at corners of pixels, so that all distances are doubled.
    let squared = |a: usize, b: usize| (2 * a + 1).abs_diff(2 * b).pow(2);
    let is_in = |y: usize, x: usize| {
        middles.iter().any(|m| squared(x, m[0]) + squared(y, m[1]) <= (2 * RADIUS).pow(2))
    };
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut noise = || {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8 % 48
    };
    let luma = (0..WIDTH * HEIGHT).map(|i| match is_in(i / WIDTH, i % WIDTH) {
        true => 170 + noise(),
        false => 40 + noise(),
    });
    // The discs are yellow. Two by two pixels share chroma, blue and red by turns.
    let chroma = (0..WIDTH * HEIGHT / 2).map(|i| match is_in(i / WIDTH * 2, i % WIDTH / 2 * 2) {
        true => [80, 150][i % 2],
        false => 128,
    });
    luma.chain(chroma).collect()
}

/// Returns the area that two boxes share as a part of the area of both.
pub fn overlap(a: [f32; 4], b: [f32; 4]) -> f32 {
    let area = |edges: [f32; 4]| (edges[2] - edges[0]).max(0.0) * (edges[3] - edges[1]).max(0.0);
    let both = area([a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])]);
    both / (area(a) + area(b) - both)
}

/// Checks that there is one box for each disc.
///
/// # Errors
/// An error with both numbers if a disc has none, or if a box has no disc.
pub fn check(number: u64, boxes: &[[f32; 4]]) -> Result<()> {
    let discs = truth(number);
    let hits = discs.iter().filter(|disc| boxes.iter().any(|found| overlap(**disc, *found) > 0.6));
    let hits = hits.count();
    if [hits, boxes.len()] == [discs.len(); 2] {
        return Ok(());
    }
    let (all, found) = (discs.len(), boxes.len());
    Err(Failure::msg(format!("frame {number} has {hits} of {all} discs in {found} boxes")))
}
