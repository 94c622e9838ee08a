//! Memory of other code as tensors of a platform.

use super::Platform;
use crate::error::Result;
use crate::memory::{After, Element, ForeignMemory, IntoShape, PitchedTensor, Shared, Tensor};

impl Platform {
    /// Adopts memory of other code as a tensor that is dense and may be written. Work on the tensor comes after the work that
    /// `after` names. After the tensor is dropped and all its uses are complete, the memory is given back to its owner. Does not
    /// block.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the memory is smaller than the shape; [`Error::Exchange`](crate::Error::Exchange)
    /// if the memory is not aligned; [`Error::NoSuchDevice`](crate::Error::NoSuchDevice);
    /// [`Error::WrongDevice`](crate::Error::WrongDevice); errors of the driver. After an error the memory is given back to its
    /// owner, too.
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

    /// Adopts memory as [`adopt_tensor`](Self::adopt_tensor) does, for memory that may only be read: even the last owner of the
    /// [`Shared`](crate::Shared) can't take the tensor out of it.
    ///
    /// # Errors
    /// The errors of [`adopt_tensor`](Self::adopt_tensor).
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

    /// Adopts memory with padded rows as [`adopt_tensor`](Self::adopt_tensor) does. `strides` are the distances in bytes between
    /// neighbours in each dimension: for an OpenCV `GpuMat` of three channels of bytes, `[step, 3, 1]` with the shape
    /// `[rows, cols, 3]`. [`Shape::padded_strides`](crate::memory::Shape::padded_strides) says which strides are right. The padding
    /// is neither read nor written, and the memory may end with the last element.
    ///
    /// # Errors
    /// The errors of [`adopt_tensor`](Self::adopt_tensor); [`Error::Exchange`](crate::Error::Exchange), with the strides, for
    /// other strides, and with both numbers of bytes if the memory is smaller than the array.
    #[track_caller]
    pub fn adopt_pitched<T: Element>(
        &self,
        memory: ForeignMemory,
        shape: impl IntoShape,
        strides: &[i64],
        after: After<'_>,
    ) -> Result<PitchedTensor<T>> {
        let pool = &self.device(memory.device(), "memory of other code")?.memory;
        pool.pool().adopt_pitched(memory, &shape.into_shape()?, strides, after)
    }

    /// Adopts memory as [`adopt_pitched`](Self::adopt_pitched) does, for memory that may only be read, as
    /// [`adopt_shared`](Self::adopt_shared).
    ///
    /// # Errors
    /// The errors of [`adopt_pitched`](Self::adopt_pitched).
    #[track_caller]
    pub fn adopt_pitched_shared<T: Element>(
        &self,
        memory: ForeignMemory,
        shape: impl IntoShape,
        strides: &[i64],
        after: After<'_>,
    ) -> Result<Shared<PitchedTensor<T>>> {
        Ok(Shared::read_only(self.adopt_pitched(memory, shape, strides, after)?))
    }
}
