//! Strided views of tensors.

use std::fmt;
use std::ops::Range;

use super::{DeviceSlice, Element, Shape, Strides, View};
use crate::driver::{AccessMode, MemoryRange, RowLevel, Rows};
use crate::error::{Error, Result};

/// A part of a tensor, perhaps with gaps or with the dimensions in another order.
///
/// A view is not a [`DeviceSlice`], because a kernel that takes a slice would read the wrong elements. A kernel takes a view
/// as a [`Strided`](crate::kernel::Strided). [`as_contiguous`](Self::as_contiguous) makes a slice of a view without gaps.
#[derive(Clone, Copy)]
#[must_use = "a view does nothing by itself"]
pub struct TensorView<'a, T> {
    elements: &'a DeviceSlice<T>,
    offset: usize,
    shape: Shape,
    strides: Strides,
    gaps: Gaps,
}

/// What lies in the gaps between the elements of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    /// Only padding: no other view uses it, so a write may write it, too.
    Padding,
    /// Bytes that may be in use by other code, as the rest of a wider array. They are neither read nor written.
    OfOtherCode,
    /// Elements of the same tensor, which another view may use.
    Elements,
}

// Most methods have no bound `Element`. So if a kernel takes a view of a type that is no element, rustc reports the error
// only once.
impl<'a, T> TensorView<'a, T> {
    /// Creates a view of all elements of a tensor. The gaps between the elements are padding. The caller ensures that the
    /// elements of this shape with these strides are within the slice.
    pub(super) fn new(elements: &'a DeviceSlice<T>, shape: Shape, strides: Strides) -> Self {
        Self::with_gaps(elements, shape, strides, Gaps::Padding)
    }

    /// [`new`](Self::new) for a tensor with these gaps between its elements.
    pub(super) fn with_gaps(
        elements: &'a DeviceSlice<T>,
        shape: Shape,
        strides: Strides,
        gaps: Gaps,
    ) -> Self {
        Self { elements, offset: 0, shape, strides, gaps }
    }

    /// The elements of a slice, as one dimension.
    pub(crate) fn of_slice(elements: &'a DeviceSlice<T>) -> Self {
        let shape = Shape::of_slice(elements.len());
        Self::new(elements, shape, shape.dense_strides())
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.shape.dims()
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.count()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dimensions in reverse order.
    pub fn transpose(self) -> Self {
        Self { shape: self.shape.reversed(), strides: self.strides.reversed(), ..self }
    }

    /// The part with this range of one dimension. `None` if there is no such dimension, or if the range is not
    /// within it.
    pub fn slice(self, dimension: usize, range: Range<usize>) -> Option<Self> {
        let from_start = self.shape.narrowed(dimension, range.end)?;
        let shape = from_start.narrowed(dimension, range.end.checked_sub(range.start)?)?;
        let stride = self.strides[dimension];
        let offset = self.offset + range.start * stride;
        // If the range is of the outermost dimension, the tensor's other elements lie before and after the part, and not
        // between the elements of the part.
        let is_outermost = self
            .shape()
            .iter()
            .zip(self.strides())
            .all(|(&len, &other)| len <= 1 || other <= stride);
        let gaps = if is_outermost || shape == self.shape { self.gaps } else { Gaps::Elements };
        Some(Self { offset, shape, gaps, ..self })
    }

    /// Whether the elements follow each other without gaps, the last dimension varying fastest.
    pub fn is_contiguous(&self) -> bool {
        let dense = self.shape.dense_strides();
        let dims = self.shape().iter().zip(self.strides().iter().zip(dense.iter()));
        self.shape.count() == 0 || dims.into_iter().all(|(&dim, (a, b))| dim == 1 || a == b)
    }

    /// The shape.
    pub(super) fn dims(&self) -> Shape {
        self.shape
    }

    /// The strides, if the view has gaps or another order of dimensions. `None` if the view is contiguous.
    pub(super) fn strides_with_gaps(&self) -> Option<Strides> {
        (!self.is_contiguous()).then_some(self.strides)
    }

    /// Whether the gaps between the elements contain no other elements of the tensor.
    pub(crate) fn is_alone(&self) -> bool {
        self.gaps != Gaps::Elements
    }

    /// Whether the gaps between the elements contain only padding, so that a write of the elements may write the gaps, too.
    pub(super) fn has_own_gaps(&self) -> bool {
        self.gaps == Gaps::Padding
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> u64 {
        self.elements.range().address + (self.offset * size_of::<T>()) as u64
    }

    /// The slice that this view is a part of.
    pub(crate) fn elements(&self) -> &'a DeviceSlice<T> {
        self.elements
    }

    /// The bytes from the first element to the last; empty if there is no element.
    pub(crate) fn range(&self) -> MemoryRange {
        let address = self.address();
        let last: usize = self
            .shape()
            .iter()
            .zip(self.strides())
            .map(|(len, stride)| len.saturating_sub(1) * stride)
            .sum();
        let elements = if self.is_empty() { 0 } else { 1 + last };
        MemoryRange { address, bytes: (elements * size_of::<T>()) as u64 }
    }

    /// The bytes of [`range`](Self::range) that an access of this mode uses, as rows. `None` if the access uses the whole range.
    /// A write counts as using the padding. A read does not, because the padding may never have been written.
    pub(crate) fn rows(&self, mode: AccessMode) -> Option<Rows> {
        if self.has_own_gaps() && mode == AccessMode::Write || self.is_empty() {
            return None;
        }
        let size = size_of::<T>();
        // The levels go from the innermost dimension outwards, because in most views the strides rise in this order.
        let dims = self.shape().iter().zip(self.strides()).rev();
        let levels = dims.map(|(&len, &stride)| {
            let (count, pitch) = (len as u64, (stride * size) as u64);
            RowLevel { count, pitch }
        });
        Rows::new(size as u64, levels)
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    /// The elements as a slice, for kernels that take one.
    ///
    /// # Errors
    /// [`Error::Strided`] when there are gaps between the elements, or when the elements are in another order.
    pub fn as_contiguous(&self) -> Result<View<'a, T>> {
        let strided = || Error::Strided {
            shape: self.shape().to_vec(),
            strides: self.strides().to_vec(),
            problem: "is not contiguous",
            remedy: "copy it into a tensor of its own first",
        };
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

/// A [`TensorView`] to be written.
#[must_use = "a view does nothing by itself"]
pub struct TensorViewMut<'a, T> {
    view: TensorView<'a, T>,
}

impl<'a, T> TensorViewMut<'a, T> {
    /// Creates a view that may be written. The caller has exclusive access to the elements for `'a`, and no two positions of
    /// the view are the same element.
    pub(super) fn new(view: TensorView<'a, T>) -> Self {
        Self { view }
    }

    /// The elements of a slice, as one dimension.
    pub(crate) fn of_slice(elements: &'a mut DeviceSlice<T>) -> Self {
        Self::new(TensorView::of_slice(elements))
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        self.view.shape()
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub fn strides(&self) -> &[usize] {
        self.view.strides()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// The dimensions in reverse order.
    pub fn transpose(self) -> Self {
        Self { view: self.view.transpose() }
    }

    /// The part with this range of one dimension. `None` if there is no such dimension, or if the range is not within it.
    pub fn slice(self, dimension: usize, range: Range<usize>) -> Option<Self> {
        Some(Self { view: self.view.slice(dimension, range)? })
    }

    /// The view without the permission to write, for the code that queues launches and copies.
    pub(crate) fn into_view(self) -> TensorView<'a, T> {
        self.view
    }
}

impl<T: Element> TensorViewMut<'_, T> {
    /// The view, to be read. The result borrows `self`.
    pub fn as_view(&self) -> TensorView<'_, T> {
        self.view
    }

    /// The same view for a shorter time, for example for one launch.
    pub fn reborrow(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut { view: self.view }
    }

    /// Two parts that don't overlap: in this dimension, the first ends before `mid` and the second begins at `mid`. One
    /// kernel may write both. `None` if there is no such dimension, or if `mid` is beyond its end.
    pub fn split_at(self, dimension: usize, mid: usize) -> Option<(Self, Self)> {
        let len = *self.view.shape().get(dimension)?;
        let left = self.view.slice(dimension, 0..mid)?;
        Some((Self { view: left }, Self { view: self.view.slice(dimension, mid..len)? }))
    }
}

impl<T: Element> fmt::Debug for TensorViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view.fmt(f)
    }
}
