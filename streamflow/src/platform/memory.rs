//! The methods of a platform for memory: allocations, page-locked memory, and copies of whole tensors.

use super::Platform;
use crate::driver::DeviceId;
use crate::error::Result;
use crate::memory::{
    Allocator, Buffer, CopySource, Download, Element, IntoShape, MemoryLimits, Pinned,
    PitchedTensor, Pools, Tensor, Trimmed,
};
use crate::stream::{CudaStream, CudaStreamPool};

#[allow(unused_imports, reason = "links of the documentation")]
use crate::error::Error;
#[allow(unused_imports, reason = "links of the documentation")]
use crate::memory::MemoryOptions;

impl Platform {
    /// Creates a tensor on the stream's device. Its content is undefined; on the simulator it is poison. Other streams may use
    /// the tensor, too: they are made to wait for its allocation.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::OutOfMemory`]; errors of the driver.
    #[track_caller]
    pub fn tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &CudaStream,
    ) -> Result<Tensor<T>> {
        Tensor::new(&self.of(stream)?.memory, stream, &shape.into_shape()?)
    }

    /// Creates a tensor with padded rows on the stream's device, in other respects as [`tensor`](Self::tensor) does.
    /// [`PitchedTensor`] shows how to write, read and crop such a tensor.
    ///
    /// # Errors
    /// The errors of [`tensor`](Self::tensor).
    #[track_caller]
    pub fn pitched_tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &CudaStream,
    ) -> Result<PitchedTensor<T>> {
        PitchedTensor::new(&self.of(stream)?.memory, stream, &shape.into_shape()?)
    }

    /// Creates a buffer on the stream's device: `len` elements without a shape. In other respects this is as
    /// [`tensor`](Self::tensor).
    ///
    /// # Errors
    /// The errors of [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &CudaStream) -> Result<Buffer<T>> {
        Buffer::new(&self.of(stream)?.memory, stream, &len.into_shape()?)
    }

    /// Makes an allocator on a device, with limits of its own. `name` is the allocator's name in error messages. Before any
    /// allocation on the device is refused for lack of memory, the free memory of this allocator is given back.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; [`Error::PoolDescription`] for a [mistake](MemoryLimits#mistakes) in the limits; errors of the
    /// driver if it can't allocate the initial memory.
    pub fn allocator(
        &self,
        name: &str,
        device: DeviceId,
        limits: MemoryLimits,
    ) -> Result<Allocator> {
        self.device(device, name)?;
        Allocator::new(&self.0.table, device, self.0.memory, name, limits)
    }

    /// Allocates page-locked host memory, which the host may access at once. Its content is undefined. Parts of it can be
    /// [uploaded and downloaded into](crate::memory::PinnedSlice), and [sent](Pinned::into_part).
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; [`Error::Shape`]; [`Error::PinnedExhausted`] if [`MemoryOptions::pinned_limit`] would be
    /// exceeded; errors of the driver, when memory is exhausted.
    #[track_caller]
    pub fn pinned<T: Element>(&self, device: DeviceId, len: usize) -> Result<Pinned<T>> {
        Pinned::for_host(&self.device(device, "`pinned`")?.pinned, len)
    }

    /// Gives the free memory of all devices back to the system: memory of dropped tensors and buffers, in the platform's own
    /// pools and in those of its [allocators](Self::allocator), and page-locked memory. Returns the number of bytes. Memory in
    /// use is not given back, nor is memory of other platforms.
    ///
    /// The call blocks until the device has completed the work that uses this memory, and giving page-locked memory back
    /// synchronises the device. So call it in a pause, and not in a tick. The call is not needed to avoid errors: an allocation
    /// itself gives free memory back before it fails.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// drop(platform.upload(&[1.0_f32; 1000])?);
    /// let given_back = platform.trim()?;
    /// assert_eq!((given_back.device, given_back.pinned), (4096, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An error of the driver if some memory can't be freed. All other free memory is given back nevertheless.
    pub fn trim(&self) -> Result<Trimmed> {
        Pools::trim(&self.0.table)
    }

    /// Queues a copy of device memory to the host on `stream`. The copy comes after all writes to `source`, on any stream. Does
    /// not block.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; errors of the driver.
    #[track_caller]
    pub fn download<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        stream: &CudaStream,
    ) -> Result<Download<T>> {
        stream.download_to_pool(self.of(stream)?.pinned.pool(), source)
    }

    /// Copies host memory to device 0, as a tensor of one dimension: for a table of constants, or for the input of a test. Any
    /// stream may use the tensor. Blocks until the host memory may be changed.
    ///
    /// In an operator, [`ExecutionContext::upload`](crate::ExecutionContext::upload) copies to the operator's device, and a
    /// [`Table`](crate::Table) stores the values there. [`CudaStream::upload`] does not block.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let matrix = platform.upload(&[1.0_f32, 2.0, 3.0, 4.0])?.reshape([2, 2])?;
    /// # assert_eq!(matrix.rows(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`tensor`](Self::tensor).
    #[track_caller]
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Tensor<T>> {
        self.upload_to(DeviceId(0), values)
    }

    /// Copies an array of `ndarray` or an image of `image` to device 0, as a tensor of the same shape. As
    /// [`upload`](Self::upload), it makes no other copy on the host. This method needs the feature `ndarray` or `image`.
    ///
    /// # Errors
    /// [`Error::HostLayout`](crate::Error::HostLayout) if the elements are not row-major and dense;
    /// [`Error::Shape`](crate::Error::Shape) for more than eight dimensions; the errors of [`tensor`](Self::tensor).
    #[cfg(any(feature = "image", feature = "ndarray"))]
    #[track_caller]
    pub fn upload_array<A: crate::memory::HostArray>(
        &self,
        array: &A,
    ) -> Result<Tensor<A::Element>> {
        let (elements, shape) = array.elements()?;
        self.upload(elements)?.reshape(shape)
    }

    /// Copies host memory to a device as [`upload`](Self::upload) does, but to any device.
    #[track_caller]
    pub(crate) fn upload_to<T: Element>(
        &self,
        device: DeviceId,
        values: &[T],
    ) -> Result<Tensor<T>> {
        // The stream is one of the platform's idle streams, and is returned to them after the upload.
        let pool = self.stream_pool("an upload", &CudaStreamPool::new().device(device))?;
        let stream = pool.allocate("an upload")?;
        let mut tensor = self.tensor([values.len()], &stream)?;
        stream.upload_blocking(values, &mut tensor)?;
        // Record the copy now, so that a wait for the tensor does not wait for later work of another user of the stream.
        stream.timeline().close()?;
        Ok(tensor)
    }
}
