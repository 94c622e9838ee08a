//! Places along an axis: of indices, which are checked, and of positions between samples.

use streamflow::{kernel, kernel_fn};

/// The place of an index along an axis of `length` elements: an index below 0, which `is_below` says, counts from the end. With
/// `clamps`, an index below 0 is 0 and one beyond the axis is the last.
#[kernel_fn]
fn place_of(index: u64, is_below: bool, length: u64, clamps: bool) -> u64 {
    if clamps {
        if is_below { 0 } else { index.min(length - 1) }
    } else {
        // The sum wraps, so that an index below `-length` is beyond the axis, too.
        if is_below { index + length } else { index }
    }
}

/// The place of each index along an axis of `length` elements, by `place_of`. Without `clamps`, an index beyond the axis is an
/// error of a later call, since `axis` has no such element: it has `length` zeros. With `clamps`, `axis` is not read.
#[kernel(map)]
pub fn gather_i32(place: &mut u64, index: &i32, length: u64, clamps: bool, axis: &[u8]) {
    let from = place_of(*index as u64, *index < 0, length, clamps);
    *place = from;
    if !clamps {
        *place = from + axis[from as usize] as u64;
    }
}

/// `gather_i32` for indices of type `i64`.
#[kernel(map)]
pub fn gather_i64(place: &mut u64, index: &i64, length: u64, clamps: bool, axis: &[u8]) {
    let from = place_of(*index as u64, *index < 0, length, clamps);
    *place = from;
    if !clamps {
        *place = from + axis[from as usize] as u64;
    }
}

/// `gather_i32` for indices of type `u32`.
#[kernel(map)]
pub fn gather_u32(place: &mut u64, index: &u32, length: u64, clamps: bool, axis: &[u8]) {
    let from = place_of(*index as u64, false, length, clamps);
    *place = from;
    if !clamps {
        *place = from + axis[from as usize] as u64;
    }
}

/// `gather_i32` for indices of type `u64`.
#[kernel(map)]
pub fn gather_u64(place: &mut u64, index: &u64, length: u64, clamps: bool, axis: &[u8]) {
    let from = place_of(*index, false, length, clamps);
    *place = from;
    if !clamps {
        *place = from + axis[from as usize] as u64;
    }
}

/// The place of each position among the `length` samples of a signal, and its part of the way to the next sample. The samples
/// are at `knots`, or at 0, 1, 2 and so on if there are none. A position before the first sample or after the last one has the
/// place `u64::MAX`, or that of the sample with `clamps`. A NaN has a NaN as its part of the way.
#[kernel(map)]
pub fn places(
    place: &mut u64,
    part: &mut f32,
    position: &f32,
    length: u64,
    nearest: bool,
    clamps: bool,
    knots: &[f32],
) {
    let x = *position;
    let has_knots = knots.len() > 0;
    let last = length as usize - 1;
    let first_knot = if has_knots { knots[0] } else { 0.0 };
    let last_knot = if has_knots { knots[last] } else { last as f32 };
    let mut from = 0_usize;
    let mut weight = 0.0_f32;
    let mut is_outside = false;
    if x.is_nan() {
        weight = x;
    } else if x < first_knot {
        is_outside = true;
    } else if x >= last_knot {
        from = last;
        is_outside = x > last_knot;
    } else {
        let mut left = x.floor();
        let mut right = left + 1.0;
        if has_knots {
            // The last knot that is not above the position is within `from..beyond`.
            let mut beyond = last;
            while beyond - from > 1 {
                let middle = from + (beyond - from) / 2;
                if knots[middle] <= x {
                    from = middle;
                } else {
                    beyond = middle;
                }
            }
            left = knots[from];
            right = knots[from + 1];
        } else {
            from = x as usize;
        }
        if nearest {
            // In the middle, the sample before is the nearest.
            from = if x - left > right - x { from + 1 } else { from };
        } else {
            weight = (x - left) / (right - left);
        }
    }
    *place = if is_outside && !clamps { u64::MAX } else { from as u64 };
    *part = weight;
}
