//! A test of slices (invariant 15 of `streamflow/src/memory/README.md`). Only one thread makes a slice, so the test tries
//! all short shapes instead of interleavings.

use super::slice::{Stored, fits};
use super::{Block, Element, Shape};
use crate::driver::{DeviceId, MemoryRange};
use crate::explore::execute;
use crate::stream::PlatformNumber;

/// Tries every shape of up to two dimensions on blocks of about the shape's size. If a shape is accepted, it must lie
/// within the block.
fn try_shapes<T: Element>() {
    for rows in 0..4 {
        for cols in 0..4 {
            let shape = Shape::new(&[rows, cols]).unwrap();
            let needed = (rows * cols * size_of::<T>()) as u64;
            for bytes in needed.saturating_sub(2)..needed + 3 {
                let range = MemoryRange { address: 0x1000, bytes };
                let block = Block::new(PlatformNumber::MIN, DeviceId(0), range);
                let accepted = Stored::<T>::whole(&block, &shape);
                assert_eq!(
                    fits::<T>(&block, &shape).is_ok(),
                    needed <= bytes,
                    "a slice is larger than its block"
                );
                assert_eq!(accepted.is_ok(), needed <= bytes, "a slice is larger than its block");
                if let Ok(whole) = &accepted {
                    try_parts(whole, range);
                }
            }
        }
    }
}

/// Checks that every part of a slice lies within the block, and that a part beyond the slice's end is refused.
fn try_parts<T: Element>(whole: &Stored<T>, block: MemoryRange) {
    let whole: &super::DeviceSlice<T> = whole;
    let len = whole.len();
    for from in 0..len + 2 {
        for to in 0..len + 2 {
            let part = whole.slice(from..to);
            assert_eq!(part.is_some(), from <= to && to <= len, "a part is larger than its slice");
            if let Some(part) = part {
                let (range, size) = (part.range(), size_of::<T>());
                assert_eq!(range.address, block.address + (from * size) as u64);
                assert!(range.end() <= block.end(), "a part is larger than its block");
            }
        }
    }
}

#[test]
pub(crate) fn slices_of_all_short_shapes() {
    execute(|| {
        try_shapes::<u8>();
        try_shapes::<f32>();
        try_shapes::<f64>();
    });
}
