//! Owned arrays with padded rows.

use std::fmt;

use super::pitch::Pitch;
use super::pooled::OwnedBlock;
use super::tensor_view::Gaps;
use super::{
    Buffer, CopySource, CopyTarget, DeviceSlice, Element, MemoryPool, PoolHandle, Shape, Strides,
    Tensor, TensorView, TensorViewMut, View, ViewMut,
};
use crate::driver::{DeviceId, MemoryRange, Rows};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

/// An array in device memory with padded rows, like one of `cuMemAllocPitch`, an OpenCV `GpuMat` or a video frame.
/// Made by [`Platform::pitched_tensor`](crate::Platform::pitched_tensor): a row is the elements along the last dimension, and
/// begins at a multiple of [`ALIGNMENT`](Self::ALIGNMENT) bytes.
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
///
/// [`Platform::adopt_pitched`](crate::Platform::adopt_pitched) makes a pitched tensor of memory of other code, without a copy. Its
/// rows begin at the distance that the other code names, and a row may have several dimensions, as the columns and the
/// channels of a picture `[rows, cols, 3]`. After the last row there is no padding. The padding belongs to the other code,
/// as if the array is a part of a wider one: streamflow does not write it, so a fill of such a tensor is refused.
pub struct PitchedTensor<T: Element> {
    /// The elements with their padding.
    elements: Buffer<T>,
    /// The shape without padding.
    shape: Shape,
    pitch: Pitch,
    gaps: Gaps,
}

impl<T: Element> PitchedTensor<T> {
    /// The alignment of a row, in bytes. In memory of other code it may be another one.
    pub const ALIGNMENT: usize = 512;

    #[track_caller]
    pub(crate) fn new(
        pool: &PoolHandle<MemoryPool>,
        stream: &CudaStream,
        shape: &Shape,
    ) -> Result<Self> {
        let error = |reason| Error::Shape { shape: shape.dims().to_vec(), reason };
        if shape.dims().is_empty() {
            return Err(error("a pitched tensor has rows, so at least one dimension"));
        }
        let step = const { Self::ALIGNMENT / size_of::<T>() };
        let Some(pitch) = Pitch::aligned(shape, step) else {
            return Err(error("its number of bytes overflows, with the padding of its rows"));
        };
        let elements = Buffer::new(pool, stream, &pitch.padded(shape)?)?;
        Ok(Self { elements, shape: *shape, pitch, gaps: Gaps::Padding })
    }

    /// Creates a tensor of a block of other code, which begins with the first element.
    ///
    /// # Errors
    /// [`Error::Shape`] when the block is smaller than the elements.
    pub(super) fn adopted(
        block: OwnedBlock<MemoryPool>,
        shape: &Shape,
        pitch: Pitch,
    ) -> Result<Self> {
        let elements = Buffer::of(block, &Shape::of_slice(pitch.span(shape)))?;
        Ok(Self { elements, shape: *shape, pitch, gaps: Gaps::OfOtherCode })
    }

    pub(super) fn owned_block(&self) -> &OwnedBlock<MemoryPool> {
        self.elements.owned_block()
    }

    /// The bytes that work with the tensor touches, and their rows; `None` if that may be all of the bytes.
    pub(super) fn touched(&self) -> (MemoryRange, Option<Rows>) {
        let range = self.owned_block().range();
        match self.gaps {
            Gaps::OfOtherCode => self.pitch.bytes::<T>(&self.shape, range.address),
            Gaps::Padding | Gaps::Elements => (range, None),
        }
    }

    /// The dimensions, outermost first, without padding.
    pub fn shape(&self) -> &[usize] {
        self.shape.dims()
    }

    /// The shape without padding.
    #[cfg(feature = "dlpack")]
    pub(super) fn dims(&self) -> &Shape {
        &self.shape
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub fn strides(&self) -> Strides {
        self.pitch.strides(&self.shape)
    }

    /// The distance between the starts of two padded rows, in bytes: the `step` of an OpenCV `GpuMat`. Without padding, a row is
    /// the elements along the last dimension.
    pub fn pitch(&self) -> usize {
        self.pitch.elements() * size_of::<T>()
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

    /// The number of rows of the last dimension: the product of all other dimensions.
    pub fn row_count(&self) -> usize {
        self.shape().split_last().map_or(0, |(_, outer)| outer.iter().product())
    }

    /// The elements along the last dimension with this index, for example to download them. `None` if there are fewer rows.
    pub fn row(&self, index: usize) -> Option<View<'_, T>> {
        let range = self.row_range(index)?;
        self.elements.slice(range)
    }

    /// The elements along the last dimension with this index, to be written. `None` if there are fewer rows.
    pub fn row_mut(&mut self, index: usize) -> Option<ViewMut<'_, T>> {
        let range = self.row_range(index)?;
        self.elements.slice_mut(range)
    }

    fn row_range(&self, index: usize) -> Option<std::ops::Range<usize>> {
        let start = (index < self.row_count()).then(|| self.pitch.start(&self.shape, index))?;
        Some(start..start + self.shape().last()?)
    }

    /// A view of all elements.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView::with_gaps(&self.elements, self.shape, self.strides(), self.gaps)
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

/// The same memory, whose rows have no padding.
impl<T: Element> From<Tensor<T>> for PitchedTensor<T> {
    fn from(tensor: Tensor<T>) -> Self {
        let shape = *tensor.dims();
        let (elements, pitch) = (tensor.into_elements(), Pitch::dense(&shape));
        Self { elements, shape, pitch, gaps: Gaps::Padding }
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
