//! The support of kernels with one body: their operators, their types in CUDA, and the elements of a thread.
//!
//! The items are public for the expansion of `#[kernel(map)]` and `#[kernel(stencil(…))]` alone, but for `Window`.

mod argument;
mod cast;
mod faults;
mod index;
mod number;
mod ops;
mod text;
mod types;
mod window;

pub use argument::KernelArg;
pub use cast::cast;
pub use faults::Faults;
pub use index::{ARRAY, element, len, within};
pub use number::{Float, Integer, Number, Signed, Value};
pub use ops::*;
pub use text::{
    Called, CudaText, KernelFn, Mapped, Unary, Witness, elements, elements_at_a_time, per_thread,
    reduction, typed,
};
pub use types::{Types, alignment, braces, offsets, parts, size};
pub use window::{Border, Window, distance, window_at};

use std::marker::PhantomData;
use std::ptr;

use crate::driver::HostArgs;

/// A value that is never made: the type of an argument in code that does not run.
pub fn any<T>() -> T {
    unreachable!("the expansion of `#[kernel]` has this call in code that does not run")
}

/// The number of dimensions of a strided launch.
pub const RANK: usize = 4;

/// The elements of an argument of a strided launch.
#[derive(Debug)]
pub struct Elements<T> {
    first: *mut T,
    strides: [usize; RANK],
    _elements: PhantomData<T>,
}

impl<T> Clone for Elements<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Elements<T> {}

impl<T> Elements<T> {
    /// The argument whose address is parameter `index`.
    pub fn of(args: &HostArgs<'_>, index: usize) -> Self {
        let number = |at: usize| args.params[index + at].get::<u64>() as usize;
        let first = ptr::with_exposed_provenance_mut(number(0));
        Self { first, strides: std::array::from_fn(|dim| number(1 + dim)), _elements: PhantomData }
    }

    /// The argument without gaps whose address is parameter `index`.
    pub(super) fn without_gaps(args: &HostArgs<'_>, index: usize) -> Self {
        let first = ptr::with_exposed_provenance_mut(args.params[index].get::<u64>() as usize);
        Self { first, strides: [0, 0, 0, 1], _elements: PhantomData }
    }

    /// The element at these coordinates.
    ///
    /// # Safety
    /// The coordinates are within the shape that the strides belong to.
    #[inline(always)]
    pub unsafe fn at(&self, at: [usize; RANK]) -> *mut T {
        let offset: usize = at.iter().zip(self.strides).map(|(at, stride)| at * stride).sum();
        // SAFETY: the coordinates are within the shape, as the caller vouches, so the offset is that of an element.
        unsafe { self.first.add(offset) }
    }
}

/// All coordinates of a strided launch, in row-major order. Its shape is the first parameters, packed for the
/// flat code, as `kernel/places.rs` has it.
pub fn places(args: &HostArgs<'_>, is_flat: bool) -> impl Iterator<Item = [usize; RANK]> + use<> {
    let mask = if is_flat { u64::from(u32::MAX) } else { u64::MAX };
    let [a, b, c, d] = std::array::from_fn(|dim| (args.params[dim].get::<u64>() & mask) as usize);
    let rows = (0..a).flat_map(move |a| (0..b).flat_map(move |b| (0..c).map(move |c| [a, b, c])));
    rows.flat_map(move |[a, b, c]| (0..d).map(move |d| [a, b, c, d]))
}

/// All coordinates of a launch without gaps, whose length is the second parameter.
pub(super) fn places_of_line(args: &HostArgs<'_>) -> impl Iterator<Item = [usize; RANK]> + use<> {
    (0..args.params[1].get::<u64>() as usize).map(|i| [0, 0, 0, i])
}
