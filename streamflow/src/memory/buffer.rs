//! Buffers: owned elements in device memory, one after the other, without a shape.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::pooled::OwnedBlock;
use super::slice::Stored;
use super::{DeviceSlice, Element, MemoryPool, PoolHandle, Shape};
use crate::error::Result;
use crate::stream::CudaStream;

/// Owned elements in device memory, one after the other. Made by
/// [`Platform::buffer`](crate::Platform::buffer).
///
/// Dropping a buffer does not wait. The memory is reused after all work that uses it has executed.
pub struct Buffer<T: Element> {
    elements: Stored<T>,
    // The owner of the block that `elements` points into. It is declared after `elements`, and so dropped after it. A move of
    // this value does not change the block's address.
    owner: OwnedBlock<MemoryPool>,
}

impl<T: Element> Buffer<T> {
    #[track_caller]
    pub(crate) fn new(
        pool: &PoolHandle<MemoryPool>,
        stream: &CudaStream,
        shape: &Shape,
    ) -> Result<Self> {
        let mut owner = pool.pool().allocate(stream, shape.bytes::<T>())?;
        let elements = Self::shaped(&mut owner, shape)?;
        Ok(Self { elements, owner })
    }

    /// Creates a buffer whose elements are at the start of this block. `shape` has their number.
    pub(super) fn of(mut owner: OwnedBlock<MemoryPool>, shape: &Shape) -> Result<Self> {
        let elements = Self::shaped(&mut owner, shape)?;
        Ok(Self { elements, owner })
    }

    pub(super) fn owned_block(&self) -> &OwnedBlock<MemoryPool> {
        &self.owner
    }

    fn shaped(owner: &mut OwnedBlock<MemoryPool>, shape: &Shape) -> Result<Stored<T>> {
        owner.block_mut().set_shape(shape);
        Stored::whole(owner, shape)
    }

    pub(super) fn shape(&self) -> &Shape {
        self.owner.shape()
    }

    /// The shape of the buffer as a slice: its number of elements is the only dimension.
    pub(super) fn dims(&self) -> &[usize] {
        self.shape().dims()
    }

    /// Sets another shape with the same number of elements.
    pub(super) fn reshape(&mut self, shape: &Shape) -> Result<()> {
        self.elements = Self::shaped(&mut self.owner, shape)?;
        Ok(())
    }
}

impl<T: Element> Deref for Buffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        &self.elements
    }
}

impl<T: Element> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.elements
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} elements)", T::DTYPE, self.len())
    }
}
