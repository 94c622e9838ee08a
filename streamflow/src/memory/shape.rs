//! Shapes and strides. Their types have a fixed size, so that making a tensor allocates no host memory.
//!
//! A shape is copied and compared number by number, and only up to its rank. With the marks in a list of their own
//! (`memory::points`), a tick uses only two cache lines of a block. This saves 1.25 of 1.69 misses of a cache of 1 MiB for a
//! task of a chain of 500, counted by cachegrind on `overhead -- chains`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::Element;
use crate::error::{Error, Result};

/// The most dimensions that a tensor can have.
pub const MAX_RANK: usize = 8;

/// The lengths of a tensor's dimensions, outermost first.
///
/// The number of bytes of an array of this shape fits into an `isize`, for every element type, and so does each stride.
/// Each function that makes a shape ensures that.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Shape(Numbers);

/// One number for each dimension of a shape.
// With this order, the rank and the first numbers are adjacent, so a small shape uses few cache lines.
#[derive(Clone, Copy)]
#[repr(C)]
struct Numbers {
    rank: u8,
    /// The numbers by dimension. Only the first `rank` of them have a meaning.
    each: [usize; MAX_RANK],
}

/// How many numbers a copy always copies, whatever the rank. Most shapes have no more dimensions.
const FEW: usize = 2;

impl Numbers {
    /// Creates a value from at most [`MAX_RANK`] numbers.
    fn of(numbers: &[usize]) -> Self {
        let mut each = [0; MAX_RANK];
        each[..numbers.len()].copy_from_slice(numbers);
        Self { rank: numbers.len() as u8, each }
    }

    /// Copies `from`. For a small rank this writes only the first [`FEW`] numbers.
    fn set(&mut self, from: &Self) {
        self.rank = from.rank;
        self.each[..FEW].copy_from_slice(&from.each[..FEW]);
        if from.rank as usize > FEW {
            self.each[FEW..].copy_from_slice(&from.each[FEW..]);
        }
    }

    fn get(&self) -> &[usize] {
        &self.each[..self.rank as usize]
    }

    fn get_mut(&mut self) -> &mut [usize] {
        &mut self.each[..self.rank as usize]
    }
}

impl PartialEq for Numbers {
    /// Compares number by number: most shapes have few numbers, and a call of `memcmp` would take longer. Shapes of two or
    /// three dimensions are compared without a loop.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let is_same = |at: usize| self.each[at] == other.each[at];
        if self.rank != other.rank {
            return false;
        }
        match self.rank {
            2 => is_same(0) && is_same(1),
            3 => is_same(0) && is_same(1) && is_same(2),
            _ => self.is_same_of_any_rank(other),
        }
    }
}

impl Numbers {
    #[inline(never)]
    fn is_same_of_any_rank(&self, other: &Self) -> bool {
        self.get().iter().zip(other.get()).all(|(own, other)| own == other)
    }
}

impl Eq for Numbers {}

impl Hash for Numbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl Shape {
    /// The size of the largest element type, in bytes.
    const ELEMENT: usize = 16;

    /// Creates a shape of these dimensions, outermost first. A shape without dimensions is that of a scalar: one
    /// element.
    ///
    /// # Errors
    /// [`Error::Shape`] with more than [`MAX_RANK`] dimensions, or when the number of elements
    /// overflows.
    pub fn new(dims: &[usize]) -> Result<Self> {
        let error = |reason| Error::Shape { shape: dims.to_vec(), reason };
        if dims.len() > MAX_RANK {
            return Err(error("a tensor has at most 8 dimensions"));
        }
        // A stride is a product of dimensions that are not 0. So the product of all dimensions that are not 0 must fit.
        let count = dims.iter().try_fold(1_usize, |count, &dim| count.checked_mul(dim.max(1)));
        if count
            .and_then(|count| count.checked_mul(Self::ELEMENT))
            .is_none_or(|bytes| bytes > isize::MAX as usize)
        {
            return Err(error("its number of bytes overflows"));
        }
        Ok(Self(Numbers::of(dims)))
    }

    /// Copies `shape`. For a shape with few dimensions this writes only few numbers, and so few cache lines.
    pub(super) fn set(&mut self, shape: &Self) {
        self.0.set(&shape.0);
    }

    /// The number of bytes at the start of a `Shape` that a shape of at most [`FEW`] dimensions uses.
    #[cfg(not(loom))]
    pub(super) const FEW_BYTES: usize =
        std::mem::offset_of!(Numbers, each) + FEW * size_of::<usize>();

    /// The shape without dimensions: one element.
    pub(super) const SCALAR: Self = Self(Numbers { rank: 0, each: [0; MAX_RANK] });

    /// The shape of a slice with `len` elements: one dimension. A slice has no more elements than the checked shape for which
    /// its memory was allocated, so no overflow check is needed.
    pub(super) fn of_slice(len: usize) -> Self {
        Self(Numbers::of(&[len]))
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[usize] {
        self.0.get()
    }

    /// The number of elements of an array of this shape.
    pub fn count(&self) -> usize {
        self.dims().iter().product()
    }

    /// The number of bytes of an array of this shape.
    pub(super) fn bytes<T: Element>(&self) -> u64 {
        Self::bytes_of::<T>(self.count())
    }

    /// The number of bytes of `count` elements, where `count` is the number of elements of a shape and so can't overflow.
    #[inline]
    pub(super) fn bytes_of<T: Element>(count: usize) -> u64 {
        const { assert!(size_of::<T>() <= Self::ELEMENT, "`Shape::new` assumes smaller elements") };
        (count * size_of::<T>()) as u64
    }

    /// The dimensions in reverse order.
    pub(super) fn reversed(mut self) -> Self {
        self.0.get_mut().reverse();
        self
    }

    /// The shape with the length `to` in this dimension. `None` if there is no such dimension, or if its length is less than
    /// `to`.
    pub(super) fn narrowed(mut self, dimension: usize, to: usize) -> Option<Self> {
        let length = self.0.get_mut().get_mut(dimension).filter(|length| to <= **length)?;
        *length = to;
        Some(self)
    }

    /// The first `outer` dimensions, and then one dimension of this length. `outer` is less than [`MAX_RANK`]. The new shape
    /// is checked by [`new`](Self::new).
    pub(super) fn with_row(&self, outer: usize, len: usize) -> Result<Self> {
        let mut each = [0; MAX_RANK];
        each[..outer].copy_from_slice(&self.dims()[..outer]);
        each[outer] = len;
        Self::new(&each[..=outer])
    }

    /// The strides of an array of this shape whose first `outer` dimensions repeat dense rows at a distance of `pitch`
    /// elements.
    pub(super) fn pitched_strides(&self, outer: usize, pitch: usize) -> Strides {
        let mut strides = self.dense_strides();
        let mut step = pitch.max(1);
        for (stride, &dim) in strides.0.get_mut()[..outer].iter_mut().zip(self.dims()).rev() {
            *stride = step;
            step *= dim.max(1);
        }
        strides
    }

    /// The strides of a dense array of this shape. The last dimension varies fastest.
    pub(super) fn dense_strides(&self) -> Strides {
        let mut strides = self.0;
        let mut step = 1;
        for (stride, &dim) in strides.get_mut().iter_mut().zip(self.dims()).rev() {
            *stride = step;
            step *= dim.max(1);
        }
        Strides(strides)
    }
}

/// The distances, in elements, between neighbours in each dimension of a tensor, outermost first. Derefs to a slice of
/// these numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Strides(Numbers);

impl Strides {
    /// The dimensions in reverse order.
    pub(super) fn reversed(mut self) -> Self {
        self.0.get_mut().reverse();
        self
    }
}

impl Deref for Strides {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        self.0.get()
    }
}

impl fmt::Debug for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dims().fmt(f)
    }
}

/// A value that can be passed as a shape: an array or a slice of lengths, or one length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape",
    label = "not a list of lengths",
    note = "write the lengths as `usize`, as `[rows, cols]`, or one length; another tensor's is `other.shape()`"
)]
pub trait IntoShape {
    /// The shape.
    ///
    /// # Errors
    /// As for [`Shape::new`].
    fn into_shape(self) -> Result<Shape>;
}

impl IntoShape for Shape {
    fn into_shape(self) -> Result<Shape> {
        Ok(self)
    }
}

/// Takes the numbers of the strides as the lengths of a shape, and checks them like other lengths.
impl IntoShape for Strides {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(&self)
    }
}

impl<const N: usize> IntoShape for [usize; N] {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(&self)
    }
}

impl IntoShape for &[usize] {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(self)
    }
}

impl IntoShape for usize {
    fn into_shape(self) -> Result<Shape> {
        Shape::new(&[self])
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// After `set`, a shape equals the shape that was copied, whatever the shape was before.
    #[test]
    fn a_shape_that_is_set_is_equal_to_its_source() {
        let dims = [2, 3, 5, 7, 11, 13, 17, 19];
        for before in 0..=MAX_RANK {
            for rank in 0..=MAX_RANK {
                let mut shape = Shape::new(&[4; MAX_RANK][..before]).unwrap();
                let from = Shape::new(&dims[..rank]).unwrap();
                shape.set(&from);
                assert_eq!((shape, shape.dims()), (from, &dims[..rank]));
                assert_eq!(shape.dense_strides(), from.dense_strides());
                assert!(rank == 0 || shape != Shape::new(&dims[..rank - 1]).unwrap());
            }
        }
    }
}
