//! Arrays of the crate `ndarray` as host memory.

use ndarray::{ArrayBase, ArrayViewD, ArrayViewMutD, Data, Dimension, IxDyn};

use super::{HostArray, other_shape, other_strides};
use crate::error::Result;
use crate::memory::{Download, Downloaded, Element, IntoShape, PinnedSlice, Shape};

impl<S: Data<Elem: Element>, D: Dimension> HostArray for ArrayBase<S, D> {
    type Element = S::Elem;

    fn elements(&self) -> Result<(&[S::Elem], Shape)> {
        let shape = Shape::new(self.shape())?;
        let elements = self.as_slice().ok_or_else(|| {
            let remedy = "`as_standard_layout()` copies it into that order";
            other_strides("an array", self.shape(), self.strides(), remedy)
        })?;
        Ok((elements, shape))
    }
}

/// The elements as an array of `ndarray` with this shape, without a copy.
fn view<'a, T>(shape: &[usize], elements: &'a [T]) -> Result<ArrayViewD<'a, T>> {
    let len = elements.len();
    // The number of elements is compared, because `from_shape` accepts a slice that has more elements than the shape.
    if shape.iter().product::<usize>() != len {
        return Err(no_view(shape, len));
    }
    ArrayViewD::from_shape(IxDyn(shape), elements).map_err(|_| no_view(shape, len))
}

#[cold]
fn no_view(shape: &[usize], len: usize) -> crate::Error {
    let wanted = format!("a shape of its {len} elements");
    other_shape(
        "an array in host memory",
        shape,
        wanted,
        "take such a shape, or a part of the memory",
    )
}

impl<T: Element> Download<T> {
    /// The elements as an array of the downloaded shape, without a copy; blocks until the download is complete.
    /// `into_dimensionality` fixes the number of dimensions at compile time, and `to_owned` copies the array.
    ///
    /// # Errors
    /// As for [`wait_blocking`](Self::wait_blocking).
    #[track_caller]
    pub fn array_blocking(&self) -> Result<ArrayViewD<'_, T>> {
        view(self.shape(), self.wait_blocking()?)
    }
}

impl<T: Element> Downloaded<T> {
    /// The elements as an array of the downloaded shape, without a copy.
    ///
    /// # Errors
    /// [`Error::HostLayout`](crate::Error::HostLayout) for a shape with a dimension of length 0 whose other dimensions are
    /// too large for `ndarray`.
    pub fn array(&self) -> Result<ArrayViewD<'_, T>> {
        view(self.shape(), self)
    }
}

impl<T: Element> PinnedSlice<T> {
    /// The elements as an array of this shape, without a copy; blocks until all copies to this memory are complete.
    ///
    /// # Errors
    /// [`Error::HostLayout`](crate::Error::HostLayout) for a shape of another number of elements; as for
    /// [`as_slice_blocking`](Self::as_slice_blocking).
    #[track_caller]
    pub fn array_blocking(&self, shape: impl IntoShape) -> Result<ArrayViewD<'_, T>> {
        view(shape.into_shape()?.dims(), self.as_slice_blocking()?)
    }

    /// The elements as an array of this shape, to be written; blocks until all copies from and to this memory are complete.
    /// Its method `assign` copies an array of any layout into this memory, for example before an upload.
    ///
    /// # Errors
    /// As for [`array_blocking`](Self::array_blocking).
    #[track_caller]
    pub fn array_mut_blocking(&mut self, shape: impl IntoShape) -> Result<ArrayViewMutD<'_, T>> {
        let (shape, len) = (shape.into_shape()?, self.len());
        if shape.count() != len {
            return Err(no_view(shape.dims(), len));
        }
        let elements = self.as_mut_slice_blocking()?;
        ArrayViewMutD::from_shape(IxDyn(shape.dims()), elements)
            .map_err(|_| no_view(shape.dims(), len))
    }
}
