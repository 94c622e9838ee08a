//! Functions that code expanded from `#[kernel]` calls. They are public only for that code.

use std::fmt::{Display, Write};

use crate::Error;
use crate::driver::HostArgs;

use super::{KernelInfo, Strided};

/// Returns the slice whose address is in parameter `index` and whose length is in the next parameter.
///
/// # Safety
/// `T` is an [`Element`](crate::memory::Element). This function has no bound for that: only `KernelInfo` has one, so that rustc
/// reports a mistake once. Parameters `index` and `index + 1` are the address and the length of a slice of `T`. For as long as
/// the result is used, the slice is allocated and no other code writes it.
pub unsafe fn slice<'a, T>(args: &HostArgs<'_>, index: usize) -> &'a [T] {
    // SAFETY: the caller keeps the same contract.
    unsafe { slice_of(args, [index, index + 1]) }
}

/// Returns the mutable slice whose address is in parameter `index` and whose length is in the next parameter.
///
/// # Safety
/// As for [`slice`]. In addition, no other code reads the slice while the result is used.
pub unsafe fn slice_mut<'a, T>(args: &HostArgs<'_>, index: usize) -> &'a mut [T] {
    // SAFETY: the caller keeps the same contract.
    unsafe { slice_mut_of(args, [index, index + 1]) }
}

/// Returns the slice whose address and length are in these two parameters.
///
/// # Safety
/// As for [`slice`].
pub unsafe fn slice_of<'a, T>(args: &HostArgs<'_>, at: [usize; 2]) -> &'a [T] {
    let (address, len) = range::<T>(args, at);
    // SAFETY: the caller guarantees that a non-empty slice is valid; the address of an empty one is aligned and not null.
    unsafe { std::slice::from_raw_parts(address, len) }
}

/// Returns the mutable slice whose address and length are in these two parameters.
///
/// # Safety
/// As for [`slice_mut`].
pub unsafe fn slice_mut_of<'a, T>(args: &HostArgs<'_>, at: [usize; 2]) -> &'a mut [T] {
    let (address, len) = range::<T>(args, at);
    // SAFETY: as in `slice_of`; the caller guarantees that no other code uses the elements.
    unsafe { std::slice::from_raw_parts_mut(address, len) }
}

/// Returns the view whose address is in parameter `index`.
///
/// # Safety
/// As for [`slice`], but parameters `index` to `index + 2 * N` are the address, the shape and the strides of a view. If the
/// kernel writes the view, no other code reads its elements.
pub unsafe fn strided<T, const N: usize>(args: &HostArgs<'_>, index: usize) -> Strided<T, N> {
    let number = |at: usize| args.params[index + at].get::<u64>() as usize;
    let shape = std::array::from_fn(|dim| number(1 + dim));
    let strides = std::array::from_fn(|dim| number(1 + N + dim));
    // SAFETY: the caller guarantees that the view's elements are valid. A view without elements is never accessed.
    unsafe { Strided::new(std::ptr::with_exposed_provenance_mut(number(0)), shape, strides) }
}

/// The shape of a view, printed for the error of a requirement that does not hold.
#[derive(Debug)]
pub struct Shown<'a>(pub &'a [usize]);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Returns the scalar in parameter `index`.
///
/// # Safety
/// `T` is a [`Scalar`](crate::memory::Scalar), and the parameter was made from one.
pub unsafe fn scalar<T>(args: &HostArgs<'_>, index: usize) -> T {
    const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16) };
    // SAFETY: each parameter has 16 bytes, aligned to 16, and begins with the bytes of the value.
    unsafe { args.params[index].as_ptr().cast::<T>().read() }
}

/// Returns the address and the length of a slice. The address of an empty slice is dangling but aligned, as Rust requires.
fn range<T>(args: &HostArgs<'_>, at: [usize; 2]) -> (*mut T, usize) {
    let [address, len] = at.map(|index| args.params[index].get::<u64>());
    let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
    if len == 0 { (std::ptr::dangling_mut(), 0) } else { (pointer, len as usize) }
}

/// The error for a requirement of a kernel that does not hold.
#[cold]
pub fn requirement(
    info: &KernelInfo,
    requirement: &'static str,
    values: &[(&str, &dyn Display)],
) -> Error {
    let mut list = String::new();
    for (name, value) in values {
        let comma = if list.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(list, "{comma}{name} = {value}");
    }
    Error::KernelRequirement { kernel: info.name, requirement, values: list }
}
