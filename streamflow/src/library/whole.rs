//! Operands whose layout is known by their shape.

use crate::memory::{CopySource, CopyTarget, DeviceSlice, Element, Shape, TRUSTED};

/// The elements of an operand that is a whole tensor of this shape. No view is made, so this costs a comparison of shapes; an
/// operand of another kind has its [`copy_source`](CopySource::copy_source).
#[inline]
pub fn whole<'a, T: Element>(
    operand: &'a (impl CopySource<T> + ?Sized),
    shape: &Shape,
) -> Option<&'a DeviceSlice<T>> {
    operand.whole(shape, TRUSTED)
}

/// As [`whole`], of an operand that is written.
#[inline]
pub fn whole_mut<'a, T: Element>(
    operand: &'a mut (impl CopyTarget<T> + ?Sized),
    shape: &Shape,
) -> Option<&'a mut DeviceSlice<T>> {
    operand.whole_mut(shape, TRUSTED)
}
