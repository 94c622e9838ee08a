//! Owned arrays with a shape, and strided views of them.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};

use super::pooled::OwnedBlock;
use super::{Buffer, DeviceSlice, Element, MemoryPool, PoolHandle, Shape, Strides, View};
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
        TensorView {
            elements: self,
            offset: 0,
            shape: *self.elements.shape(),
            strides: self.strides(),
        }
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

/// Part of a tensor, perhaps with gaps or its dimensions in another order.
///
/// It is not a [`DeviceSlice`]: a kernel that takes a slice would read the wrong elements. A view
/// without gaps becomes a slice by [`as_contiguous`](Self::as_contiguous).
#[derive(Clone, Copy)]
#[must_use = "a view does nothing by itself"]
pub struct TensorView<'a, T: Element> {
    elements: &'a DeviceSlice<T>,
    offset: usize,
    shape: Shape,
    strides: Strides,
}

impl<'a, T: Element> TensorView<'a, T> {
    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.shape.dims()
    }

    /// How far apart, in elements, neighbours in each dimension are.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The dimensions in reverse order.
    pub fn transpose(self) -> Self {
        Self { shape: self.shape.reversed(), strides: self.strides.reversed(), ..self }
    }

    /// A range of one dimension. `None` if there is no such dimension, or if the range is not
    /// within it.
    pub fn slice(self, dimension: usize, range: Range<usize>) -> Option<Self> {
        let from_start = self.shape.narrowed(dimension, range.end)?;
        let shape = from_start.narrowed(dimension, range.end.checked_sub(range.start)?)?;
        let offset = self.offset + range.start * self.strides[dimension];
        Some(Self { offset, shape, ..self })
    }

    /// Whether the elements follow each other without gaps, the last dimension varying fastest.
    pub fn is_contiguous(&self) -> bool {
        let dense = self.shape.dense_strides();
        let dims = self.shape().iter().zip(self.strides().iter().zip(dense.iter()));
        self.shape.count() == 0 || dims.into_iter().all(|(&dim, (a, b))| dim == 1 || a == b)
    }

    /// The elements as a slice, which kernels take.
    ///
    /// # Errors
    /// [`Error::Strided`] when there are gaps between them or they are in another order.
    pub fn as_contiguous(&self) -> Result<View<'a, T>> {
        let strided =
            || Error::Strided { shape: self.shape().to_vec(), strides: self.strides().to_vec() };
        if !self.is_contiguous() {
            return Err(strided());
        }
        let start = self.offset.min(self.elements.len());
        self.elements.slice(start..start + self.shape.count()).ok_or_else(strided)
    }
}

impl<T: Element> fmt::Debug for TensorView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorView<{}>{:?} strides {:?}", T::DTYPE, self.shape(), self.strides())
    }
}
