//! Tensors: owned dense arrays in device memory, with a shape.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::pooled::OwnedBlock;
use super::{
    Buffer, DeviceSlice, Element, MemoryPool, PoolHandle, Shape, Strides, TensorView, TensorViewMut,
};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

/// An array in device memory with a shape: owned, dense, the last dimension varying fastest. Made by
/// [`Platform::tensor`](crate::Platform::tensor).
///
/// A tensor derefs to the [`DeviceSlice`] of its elements, so it can be passed to kernels directly. Parts
/// and transposed forms are [`TensorView`]s.
pub struct Tensor<T: Element> {
    /// The elements. Their block also stores the shape of the tensor.
    elements: Buffer<T>,
}

impl<T: Element> Tensor<T> {
    #[track_caller]
    pub(crate) fn new(
        pool: &PoolHandle<MemoryPool>,
        stream: &CudaStream,
        shape: &Shape,
    ) -> Result<Self> {
        Ok(Self { elements: Buffer::new(pool, stream, shape)? })
    }

    pub(super) fn of(elements: Buffer<T>) -> Self {
        Self { elements }
    }

    pub(super) fn into_elements(self) -> Buffer<T> {
        self.elements
    }

    pub(super) fn owned_block(&self) -> &OwnedBlock<MemoryPool> {
        self.elements.owned_block()
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.dims().dims()
    }

    /// The shape.
    pub(super) fn dims(&self) -> &Shape {
        self.elements.shape()
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub fn strides(&self) -> Strides {
        self.elements.shape().dense_strides()
    }

    /// The length of the first dimension; 1 for a scalar.
    pub fn rows(&self) -> usize {
        self.shape().first().copied().unwrap_or(1)
    }

    /// The length of the last dimension; 1 for a scalar.
    pub fn cols(&self) -> usize {
        self.shape().last().copied().unwrap_or(1)
    }

    /// The same elements under another shape.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the new shape has another number of elements;
    /// [`Error::Shape`] for an invalid shape.
    pub fn reshape(mut self, shape: impl super::IntoShape) -> Result<Self> {
        let shape = shape.into_shape()?;
        if self.len() != shape.count() {
            return Err(other_length(self.shape(), shape.dims()));
        }
        self.elements.reshape(&shape)?;
        Ok(self)
    }

    /// A view of the whole tensor.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView::new(self, *self.elements.shape(), self.strides())
    }

    /// A view of the whole tensor, to be written.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.view())
    }
}

/// The error for a reshape to a shape with another number of elements. The error suggests a shape with the right number:
/// `target` with another first dimension if that is possible, or else one dimension.
#[cold]
fn other_length(source: &[usize], target: &[usize]) -> Error {
    let count: usize = source.iter().product();
    let rest: usize = target.iter().skip(1).product();
    let mut right = target.to_vec();
    match right.first_mut() {
        Some(first) if rest > 0 && count.is_multiple_of(rest) => *first = count / rest,
        _ => right = vec![count],
    }
    Error::ShapeMismatch {
        what: "reshape",
        source_shape: source.to_vec(),
        target_shape: target.to_vec(),
        remedy: format!("write a shape of {count} elements, as `reshape({right:?})`"),
    }
}

impl<T: Element> Deref for Tensor<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        &self.elements
    }
}

impl<T: Element> DerefMut for Tensor<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.elements
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}>{:?}", T::DTYPE, self.shape())
    }
}
