//! Shapes and strides, in fixed space: no allocation when a tensor is made.

use std::fmt;

use crate::error::{Error, Result};

/// The most dimensions that a tensor can have.
pub const MAX_RANK: usize = 8;

/// The lengths of a tensor's dimensions, outermost first; or its strides, in elements.
// In this order, so that what small ones need lies together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Shape {
    rank: u8,
    dims: [usize; MAX_RANK],
}

impl Shape {
    /// From the dimensions, outermost first. None at all is a scalar: one element.
    ///
    /// # Errors
    /// [`Error::Shape`] with more than [`MAX_RANK`] dimensions, or when the number of elements
    /// overflows.
    pub fn new(dims: &[usize]) -> Result<Self> {
        let error = |reason| Error::Shape { shape: dims.to_vec(), reason };
        if dims.len() > MAX_RANK {
            return Err(error("a tensor has at most 8 dimensions"));
        }
        // Strides are products of the dimensions that are not 0, so these must fit, too.
        let count = dims.iter().try_fold(1_usize, |count, &dim| count.checked_mul(dim.max(1)));
        // Sixteen bytes are the largest element.
        if count
            .and_then(|count| count.checked_mul(16))
            .is_none_or(|bytes| bytes > isize::MAX as usize)
        {
            return Err(error("its number of bytes overflows"));
        }
        Ok(Self::of(dims))
    }

    /// Without dimensions: one element.
    pub(super) const SCALAR: Self = Self { rank: 0, dims: [0; MAX_RANK] };

    pub(super) fn of(dims: &[usize]) -> Self {
        let mut all = [0; MAX_RANK];
        all[..dims.len()].copy_from_slice(dims);
        Self { rank: dims.len() as u8, dims: all }
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[usize] {
        &self.dims[..self.rank as usize]
    }

    pub(super) fn dims_mut(&mut self) -> &mut [usize] {
        &mut self.dims[..self.rank as usize]
    }

    /// How many elements an array of this shape has.
    pub fn count(&self) -> usize {
        self.dims().iter().product()
    }

    /// The strides of a dense array of this shape, the last dimension varying fastest.
    pub(super) fn dense_strides(&self) -> Self {
        let mut strides = *self;
        let mut step = 1;
        for (stride, &dim) in strides.dims_mut().iter_mut().zip(self.dims()).rev() {
            *stride = step;
            step *= dim.max(1);
        }
        strides
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dims().fmt(f)
    }
}

/// What can be given as a shape: an array or a slice of lengths, or one length.
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
