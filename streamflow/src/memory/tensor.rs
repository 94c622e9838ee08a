//! Owned arrays with a shape.

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
/// It derefs to the [`DeviceSlice`] of its elements, so it can be passed to kernels directly. Parts
/// and transposed forms are [`TensorView`]s.
pub struct Tensor<T: Element> {
    /// Their block has the shape, too.
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

    pub(super) fn owned_block(&self) -> &OwnedBlock<MemoryPool> {
        self.elements.owned_block()
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.elements.shape().dims()
    }

    /// How far apart, in elements, neighbours in each dimension are.
    pub fn strides(&self) -> Strides {
        self.elements.shape().dense_strides()
    }

    /// The first dimension; 1 for a scalar.
    pub fn rows(&self) -> usize {
        self.shape().first().copied().unwrap_or(1)
    }

    /// The last dimension; 1 for a scalar.
    pub fn cols(&self) -> usize {
        self.shape().last().copied().unwrap_or(1)
    }

    /// The same elements under another shape.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] when the new shape has another number of elements;
    /// [`Error::Shape`] for an invalid shape.
    pub fn reshape(mut self, shape: impl super::IntoShape) -> Result<Self> {
        let shape = shape.into_shape()?;
        let (source_len, target_len) = (self.len(), shape.count());
        if source_len != target_len {
            return Err(Error::LengthMismatch { what: "reshape", source_len, target_len });
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
