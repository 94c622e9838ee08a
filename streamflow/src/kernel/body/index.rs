//! The elements of tables and arrays of a body. Each index is checked; one out of range is reported.

use super::KernelArg;
use super::faults::out_of_range;
use crate::kernel::bounds;

/// In place of a table's number: an array of the body.
pub const ARRAY: u32 = bounds::ARRAY;

/// The element at an index, or 0. `of` is the number of the table among the kernel's parameters.
#[inline(always)]
#[track_caller]
pub fn element<T: KernelArg>(values: &[T], index: usize, of: u32) -> T {
    if within(values, index, of) { values[index] } else { T::ZERO }
}

/// Whether an index is one of an element.
#[inline(always)]
#[track_caller]
pub fn within<T: KernelArg>(values: &[T], index: usize, of: u32) -> bool {
    let is_within = index < values.len();
    if !is_within {
        out_of_range(of, index, values.len());
    }
    is_within
}

/// The number of elements.
#[inline(always)]
pub fn len<T: KernelArg>(values: &[T]) -> usize {
    values.len()
}
