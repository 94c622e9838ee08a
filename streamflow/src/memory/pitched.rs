//! Owned arrays with padded rows.

use std::fmt;

use super::{
    Buffer, CopySource, CopyTarget, DeviceSlice, Element, MemoryPool, PoolHandle, Shape, Strides,
    TensorView, TensorViewMut, View, ViewMut,
};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::stream::CudaStream;

/// An array in device memory with padded rows. A row is the elements along the last dimension, and begins at a multiple of
/// [`ALIGNMENT`](Self::ALIGNMENT) bytes, like a row of `cuMemAllocPitch`, of an OpenCV `GpuMat` or of a video frame.
/// Made by [`Platform::pitched_tensor`](crate::Platform::pitched_tensor).
///
/// The elements don't follow each other, so a pitched tensor does not deref to a [`DeviceSlice`], as a
/// [`Tensor`](super::Tensor) does. Kernels take its [`view`](Self::view). Copies, uploads, downloads and fills of a
/// [`CudaStream`] take the tensor itself, or a part of it:
///
/// ```
/// # use streamflow::prelude::*;
/// # fn main() -> Result<()> {
/// # let platform = Platform::detect()?;
/// # let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
/// let mut frame = platform.pitched_tensor::<u8>([480, 640], &stream)?;
/// stream.upload_blocking(&vec![7; 480 * 640], &mut frame)?;
///
/// // The rows 100 to 200 and the columns 50 to 90, as a tensor without gaps.
/// let part = frame.view().slice(0, 100..200).and_then(|rows| rows.slice(1, 50..90));
/// let mut crop = platform.tensor([100, 40], &stream)?;
/// stream.copy(&part.expect("it is within the frame"), &mut crop)?;
/// assert_eq!(stream.download_blocking::<u8>(&crop)?, [7; 4000]);
/// # Ok(())
/// # }
/// ```
///
/// On a GPU each such copy is a `cuMemcpy2DAsync`. The padding is not copied.
pub struct PitchedTensor<T: Element> {
    /// The elements with their padding. The block's shape is that of the padded array.
    elements: Buffer<T>,
    /// The shape without padding.
    shape: Shape,
}

impl<T: Element> PitchedTensor<T> {
    /// The alignment of a row, in bytes.
    pub const ALIGNMENT: usize = 512;

    #[track_caller]
    pub(crate) fn new(
        pool: &PoolHandle<MemoryPool>,
        stream: &CudaStream,
        shape: &Shape,
    ) -> Result<Self> {
        let error = |reason| Error::Shape { shape: shape.dims().to_vec(), reason };
        let Some((&cols, _)) = shape.dims().split_last() else {
            return Err(error("a pitched tensor has rows, so at least one dimension"));
        };
        let step = const { Self::ALIGNMENT / size_of::<T>() };
        let pitch = cols.checked_next_multiple_of(step);
        let Some(padded) = pitch.and_then(|pitch| shape.with_last(pitch).ok()) else {
            return Err(error("its number of bytes overflows, with the padding of its rows"));
        };
        Ok(Self { elements: Buffer::new(pool, stream, &padded)?, shape: *shape })
    }

    /// The dimensions, outermost first, without padding.
    pub fn shape(&self) -> &[usize] {
        self.shape.dims()
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub fn strides(&self) -> Strides {
        self.elements.shape().dense_strides()
    }

    /// The distance between the starts of two rows, in bytes.
    pub fn pitch(&self) -> usize {
        self.elements.shape().dims().last().map_or(0, |len| len * size_of::<T>())
    }

    /// The number of elements, without padding.
    pub fn len(&self) -> usize {
        self.shape.count()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device of the memory.
    pub fn device(&self) -> DeviceId {
        self.elements.device()
    }

    /// The number of rows: the product of all dimensions but the last.
    pub fn row_count(&self) -> usize {
        self.shape().split_last().map_or(0, |(_, outer)| outer.iter().product())
    }

    /// The row with this index, for example to download it. `None` if there are fewer rows.
    pub fn row(&self, index: usize) -> Option<View<'_, T>> {
        let range = self.row_range(index)?;
        self.elements.slice(range)
    }

    /// The row with this index, to be written. `None` if there are fewer rows.
    pub fn row_mut(&mut self, index: usize) -> Option<ViewMut<'_, T>> {
        let range = self.row_range(index)?;
        self.elements.slice_mut(range)
    }

    fn row_range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        let start = (index < self.row_count()).then(|| index * (self.pitch() / size_of::<T>()))?;
        Some(start..start + self.shape().last()?)
    }

    /// A view of all elements.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView::new(&self.elements, self.shape, self.strides())
    }

    /// A view of all elements, to be written.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.view())
    }

    /// The elements and the padding, to be written.
    pub(super) fn padded_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.elements
    }

    /// The elements and the padding.
    pub(crate) fn padded(&self) -> &DeviceSlice<T> {
        &self.elements
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopySource<T> for PitchedTensor<T> {
    fn copy_source(&self) -> TensorView<'_, T> {
        self.view()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element> CopyTarget<T> for PitchedTensor<T> {
    fn copy_target(&mut self) -> TensorViewMut<'_, T> {
        self.view_mut()
    }
}

impl<T: Element> fmt::Debug for PitchedTensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PitchedTensor<{}>{:?} of {} bytes a row", T::DTYPE, self.shape(), self.pitch())
    }
}
