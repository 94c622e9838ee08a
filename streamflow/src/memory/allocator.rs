//! Memory with limits of its own, for operators that are given it.

use std::fmt;
use std::sync::Arc;

use super::{Buffer, Element, IntoShape, MemoryLimits, MemoryOptions, MemoryPool, Tensor};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::stream::{CudaStream, StreamTable};

/// Device memory with [limits](MemoryLimits) of its own. Holoscan's `Allocator`. Made by
/// [`Platform::allocator`](crate::Platform::allocator); an operator that shall use one keeps a clone,
/// which is another handle of the same.
///
/// Its tensors and buffers are like all others, and outlive it.
#[derive(Clone)]
pub struct Allocator(Arc<MemoryPool>);

impl Allocator {
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
        name: &str,
        limits: MemoryLimits,
    ) -> Result<Self> {
        Ok(Self(MemoryPool::limited(table, device, options, name, limits)?))
    }

    /// A tensor on the stream's device, as [`Platform::tensor`](crate::Platform::tensor).
    ///
    /// # Errors
    /// [`Error::BlocksExhausted`], [`Error::BlockSize`], [`Error::MemoryExhausted`];
    /// [`Error::WrongDevice`] for a stream of another device; [`Error::Shape`]; the driver's, when the
    /// device's memory is exhausted.
    #[track_caller]
    pub fn tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &CudaStream,
    ) -> Result<Tensor<T>> {
        self.check(stream)?;
        Tensor::new(&self.0, stream, &shape.into_shape()?)
    }

    /// A run of elements on the stream's device, as [`tensor`](Self::tensor).
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &CudaStream) -> Result<Buffer<T>> {
        self.check(stream)?;
        Buffer::new(&self.0, stream, &len.into_shape()?)
    }

    /// The name it was made with.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The device of its memory.
    pub fn device(&self) -> DeviceId {
        self.0.device()
    }

    /// How many bytes its tensors and buffers have that were not dropped yet. Sizes are rounded up to
    /// 512 bytes, in a block pool to the block.
    pub fn used(&self) -> u64 {
        self.0.used()
    }

    /// How many bytes it has from its device, in use or free; at least the initial size. Holoscan's
    /// `pool_size`.
    pub fn reserved(&self) -> u64 {
        self.0.reserved()
    }

    fn check(&self, stream: &CudaStream) -> Result<()> {
        if stream.table().platform() != self.0.platform() {
            return Err(Error::ForeignPlatform { what: "a stream" });
        }
        if stream.device() != self.device() {
            return Err(Error::WrongDevice {
                what: format!("allocator `{}`", self.name()),
                memory: self.device(),
                stream: stream.device(),
            });
        }
        Ok(())
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocator")
            .field("name", &self.name())
            .field("device", &self.device())
            .finish_non_exhaustive()
    }
}
