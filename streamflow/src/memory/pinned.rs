//! Page-locked host memory: the only host memory from and to which copies run without blocking the host.

use std::fmt;
use std::ops::{Deref, DerefMut, RangeBounds};
use std::sync::Arc;

use super::pinned_pool::PinnedPool;
use super::pinned_slice::{PinnedSlice, StoredPinned};
use super::pooled::{OwnedBlock, PoolHandle};
use super::{Element, Shape};
use crate::error::Result;
use crate::stream::CudaStream;

/// Elements in page-locked host memory. Made by [`Platform::pinned`](crate::Platform::pinned).
///
/// Copies from and to a `Pinned` run on a stream while the host goes on. The host reads the memory only when all copies *to*
/// it are complete, and writes it only when all copies from and to it are complete. Dropping a `Pinned` does not wait.
///
/// A `Pinned` derefs to [`PinnedSlice`], as a [`Buffer`](super::Buffer) does to a [`DeviceSlice`](super::DeviceSlice):
/// a part of a `Pinned` has the same methods.
///
/// # A source that uploads
/// A source of frames on the host, for example of a camera, takes new memory in each tick. The memory comes from a pool: a
/// block that an earlier tick dropped is reused after its copy is complete, and the host does not wait for a copy.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
///
/// /// Stands in for a camera's library.
/// struct Device(f32);
///
/// impl Device {
///     fn read_into(&mut self, frame: &mut [f32]) -> Result<()> {
///         self.0 += 1.0;
///         frame.fill(self.0);
///         Ok(())
///     }
/// }
///
/// /// Sends the frames of a device.
/// #[operator(streams(upload))]
/// struct Camera {
///     #[output] frame: Tensor<f32>,
///     device: Device,
///     rows: usize,
///     cols: usize,
/// }
///
/// impl Compute for Camera {
///     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let stream = cx.allocate_cuda_stream(io.upload)?;
///         let mut pinned = cx.pinned(self.rows * self.cols)?;
///         // No copy uses it yet, so this does not block.
///         self.device.read_into(pinned.as_mut_slice_blocking()?)?;
///         let mut frame = cx.tensor([self.rows, self.cols], &stream)?;
///         stream.upload(&pinned, &mut frame)?; // is queued; `pinned` may be dropped
///         io.frame.set_cuda_stream(&stream).emit(frame)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let mut camera = OperatorHarness::new(&platform, Camera::new(Device(0.0), 2, 3))?;
/// for value in [1.0, 2.0, 3.0] {
///     camera.tick()?;
///     let sent = camera.take(|ports| &mut ports.frame).expect("it sends a frame in each tick");
///     let frame = platform.download(&sent.message, camera.stream())?;
///     assert_eq!((frame.shape(), frame.wait_blocking()?), (&[2, 3][..], &[value; 6][..]));
/// }
/// camera.stop()?;
/// # Ok(())
/// # }
/// ```
pub struct Pinned<T: Element> {
    elements: StoredPinned<T>,
    // The owner of the block that `elements` points into. It is declared after `elements`, and so dropped after it. A move of
    // this value does not change the block's address.
    owner: OwnedBlock<PinnedPool>,
}

impl<T: Element> Pinned<T> {
    #[track_caller]
    pub(crate) fn for_host(pool: &PoolHandle<PinnedPool>, len: usize) -> Result<Self> {
        let shape = Shape::new(&[len])?;
        let owner = pool.pool().for_host(shape.bytes::<T>())?;
        Self::with_block(owner, len)
    }

    /// Allocates memory that a copy on `stream` may write. `len` is the length of device memory, so the number of bytes does
    /// not overflow.
    pub(super) fn for_stream(
        pool: &Arc<PinnedPool>,
        stream: &CudaStream,
        len: usize,
    ) -> Result<Self> {
        let owner = pool.for_stream(stream, Shape::bytes_of::<T>(len))?;
        Self::with_block(owner, len)
    }

    /// Creates a value with `len` elements at the start of a block.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) when the block is smaller than the elements.
    fn with_block(owner: OwnedBlock<PinnedPool>, len: usize) -> Result<Self> {
        Ok(Self { elements: StoredPinned::whole(&owner, len)?, owner })
    }

    /// Returns a `Pinned` that has only one part of this memory, for example to fill a buffer of the largest size and send
    /// the filled part as a message. The other parts can't be reached any more. When the returned value is dropped, the whole
    /// memory returns to its pool. `None` if the range is not within the memory: the memory then returns to its pool at once.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let mut packet = platform.pinned::<u8>(device(0), 9000)?;
    /// packet.as_mut_slice_blocking()?[..3].copy_from_slice(&[1, 2, 3]);
    /// let packet = packet.into_part(..3).expect("3 bytes of 9000");
    /// assert_eq!(packet.as_slice_blocking()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_part(self, range: impl RangeBounds<usize>) -> Option<Self> {
        let elements = self.part(range)?;
        Some(Self { elements, owner: self.owner })
    }

    /// Stores the shape of a download.
    pub(super) fn set_shape(&mut self, shape: &Shape) {
        self.owner.block_mut().set_shape(shape);
    }
}

impl<T: Element> Deref for Pinned<T> {
    type Target = PinnedSlice<T>;

    fn deref(&self) -> &PinnedSlice<T> {
        &self.elements
    }
}

impl<T: Element> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut PinnedSlice<T> {
        &mut self.elements
    }
}

impl<T: Element> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned<{}>({} elements)", T::DTYPE, self.len())
    }
}
