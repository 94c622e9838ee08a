//! Memory of other code as tensors of a platform.

use super::Platform;
use crate::error::Result;
use crate::memory::{After, Element, ForeignMemory, IntoShape, Shared, Tensor};

impl Platform {
    /// Adopts memory of other code as a tensor: dense, and writable. Work on the tensor comes after `after`. When the
    /// tensor is dropped and all its uses are complete, the memory goes back to its owner. Does not block.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) when the memory is smaller than the shape;
    /// [`Error::Exchange`](crate::Error::Exchange) when it is not aligned;
    /// [`Error::NoSuchDevice`](crate::Error::NoSuchDevice), [`Error::WrongDevice`](crate::Error::WrongDevice); the
    /// driver's. Then the memory goes back, too.
    #[track_caller]
    pub fn adopt_tensor<T: Element>(
        &self,
        memory: ForeignMemory,
        shape: impl IntoShape,
        after: After<'_>,
    ) -> Result<Tensor<T>> {
        let pool = &self.device(memory.device(), "memory of other code")?.memory;
        pool.pool().adopt_tensor(memory, &shape.into_shape()?, after)
    }

    /// The same as [`adopt_tensor`](Self::adopt_tensor), for memory that may only be read: even the last owner of the
    /// [`Shared`](crate::Shared) can't take the tensor out.
    ///
    /// # Errors
    /// As for [`adopt_tensor`](Self::adopt_tensor).
    #[track_caller]
    pub fn adopt_shared<T: Element>(
        &self,
        memory: ForeignMemory,
        shape: impl IntoShape,
        after: After<'_>,
    ) -> Result<Shared<Tensor<T>>> {
        let pool = &self.device(memory.device(), "memory of other code")?.memory;
        pool.pool().adopt_shared(memory, &shape.into_shape()?, after)
    }
}
