//! Slices of device memory: elements one after the other, the type that kernels take.

use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, Range, RangeBounds};
use std::ptr::NonNull;

use super::{Block, Element, Shape};
use crate::driver::{DeviceId, MemoryRange};
use crate::error::{Error, Result};

/// Elements in device memory, one after the other, like `[T]` in host memory.
///
/// [`Buffer`](super::Buffer), [`Tensor`](super::Tensor), [`View`] and [`ViewMut`] deref to it, and
/// kernels take `&DeviceSlice<T>` and `&mut DeviceSlice<T>`. The host can't read a `DeviceSlice`: download it.
///
/// The type is unsized, so that two slices can't be swapped while their owners stay in place:
/// ```compile_fail
/// # use streamflow::Buffer;
/// # use streamflow::memory::DeviceSlice;
/// fn swap(a: &mut DeviceSlice<f32>, b: &mut DeviceSlice<f32>) {
///     std::mem::swap(a, b);
/// }
/// ```
#[repr(C)]
pub struct DeviceSlice<T, U: ?Sized = [()]> {
    block: NonNull<Block>,
    address: u64,
    len: usize,
    _items: PhantomData<T>,
    _unsized: U,
}

/// The sized form of a slice, which owners and views store. A `&Stored<T>` coerces to a `&DeviceSlice<T>`.
pub(super) type Stored<T> = DeviceSlice<T, [(); 0]>;

// SAFETY: the block is `Sync` and outlives the slice, because an owner stores the slice together with the owner of the
// block, and a view borrows from such an owner. The elements themselves are plain data.
unsafe impl<T: Element, U: ?Sized> Send for DeviceSlice<T, U> {}
// SAFETY: the reasons for `Send` hold, and a `&DeviceSlice` only reads.
unsafe impl<T: Element, U: ?Sized> Sync for DeviceSlice<T, U> {}

impl<T: Element> Stored<T> {
    /// Creates a slice of the elements of a shape, from the start of a block. The caller keeps the block alive as long as
    /// the slice.
    ///
    /// All addresses of the slice and of its parts lie in the block. So code that adds an offset to an address can't overflow.
    ///
    /// # Errors
    /// [`Error::Shape`] when the block is smaller than the elements.
    pub(super) fn whole(block: &Block, shape: &Shape) -> Result<Self> {
        fits::<T>(block, shape)?;
        Ok(Self {
            block: NonNull::from(block),
            address: block.range().address,
            len: shape.count(),
            _items: PhantomData,
            _unsized: [],
        })
    }
}

/// Checks that a block is large enough for the elements of a shape, and that its address is aligned for them. Memory safety
/// depends on this check, so every build makes it.
///
/// # Errors
/// [`Error::Shape`] when the block is too small, or not aligned.
#[inline]
pub(super) fn fits<T: Element>(block: &Block, shape: &Shape) -> Result<()> {
    has_room::<T>(block, shape.count(), || *shape)
}

/// Makes the check of [`fits`] for `count` elements. The error shows the shape that `shape` returns.
///
/// # Errors
/// As for [`fits`].
#[inline]
pub(super) fn has_room<T: Element>(
    block: &Block,
    count: usize,
    shape: impl FnOnce() -> Shape,
) -> Result<()> {
    let MemoryRange { address, bytes } = block.range();
    if Shape::bytes_of::<T>(count) > bytes {
        return Err(too_small(&shape()));
    }
    // The device may load an element as one word. Memory of the driver is aligned to 256 bytes.
    if !address.is_multiple_of(size_of::<T>() as u64) {
        return Err(not_aligned(&shape()));
    }
    Ok(())
}

#[cold]
pub(super) fn too_small(shape: &Shape) -> Error {
    Error::Shape { shape: shape.dims().to_vec(), reason: "the memory that it was given is smaller" }
}

#[cold]
fn not_aligned(shape: &Shape) -> Error {
    let reason = "the address of its memory is not a multiple of its element's size; copy it";
    Error::Shape { shape: shape.dims().to_vec(), reason }
}

/// The start and end of a range. `None` if the range is not within `len` elements.
pub(super) fn bounds(range: impl RangeBounds<usize>, len: usize) -> Option<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start > end || end > len {
        return None;
    }
    Some(start..end)
}

impl<T> DeviceSlice<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device of the memory.
    pub fn device(&self) -> DeviceId {
        self.block().device()
    }

    pub(crate) fn block(&self) -> &Block {
        // SAFETY: an owner keeps the block alive as long as `self`: the owner that stores the slice, or the owner that a
        // view borrows from. The block is boxed, so its address is stable.
        unsafe { self.block.as_ref() }
    }

    pub(crate) fn range(&self) -> MemoryRange {
        MemoryRange { address: self.address, bytes: (self.len * size_of::<T>()) as u64 }
    }
}

impl<T: Element> DeviceSlice<T> {
    /// Vouches for the content of memory that a failed call of a hook was to write. Until this call the memory can be
    /// neither used nor sent ([`Error::Unwritten`]), so that a dropped error loses no data. A copy, a fill or a function of
    /// [`library`](crate::library) that overwrites all of the memory has the same effect. Nothing happens if no call
    /// has failed.
    ///
    /// This is for an operator that handles the error, and either goes on with the previous content of the memory or
    /// overwrites all of it by another kernel:
    /// ```
    /// # use streamflow::prelude::*;
    /// # #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < sum_len) sum[i] += 1.0f;")]
    /// # fn add_one(sum: &mut [f32]) { sum.iter_mut().for_each(|sum| *sum += 1.0); }
    /// fn count(sums: &mut Tensor<f32>, stream: &Stream<'_>) {
    ///     if stream.launch::<add_one>(sums.len(), (&mut *sums,)).is_err() {
    ///         // The tick does not count.
    ///         sums.assume_written();
    ///     }
    /// }
    /// ```
    pub fn assume_written(&mut self) {
        self.block().overwritten(self.range());
    }

    /// A part of the slice. `None` if the range is not within it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<View<'_, T>> {
        Some(View { part: self.part(range)?, _source: PhantomData })
    }

    /// A part of the slice, to be written. `None` if the range is not within it.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<ViewMut<'_, T>> {
        Some(ViewMut { part: self.part(range)?, _source: PhantomData })
    }

    /// Two parts that don't overlap, up to `mid` and from `mid` on. One kernel may write both. `None` if `mid` is beyond the
    /// end.
    pub fn split_at_mut(&mut self, mid: usize) -> Option<(ViewMut<'_, T>, ViewMut<'_, T>)> {
        let left = ViewMut { part: self.part(..mid)?, _source: PhantomData };
        let right = ViewMut { part: self.part(mid..)?, _source: PhantomData };
        Some((left, right))
    }

    /// The same memory as bytes.
    pub(super) fn as_bytes(&self) -> View<'_, u8> {
        View { part: self.bytes(), _source: PhantomData }
    }

    /// The same memory as bytes, to be written. Any bytes are valid elements.
    pub(super) fn as_bytes_mut(&mut self) -> ViewMut<'_, u8> {
        ViewMut { part: self.bytes(), _source: PhantomData }
    }

    fn bytes(&self) -> Stored<u8> {
        DeviceSlice {
            block: self.block,
            address: self.address,
            len: self.len * size_of::<T>(),
            _items: PhantomData,
            _unsized: [],
        }
    }

    /// The elements of a range. `None` if the range is not within the slice.
    fn part(&self, range: impl RangeBounds<usize>) -> Option<Stored<T>> {
        let range = bounds(range, self.len)?;
        Some(DeviceSlice {
            block: self.block,
            address: self.address + (range.start * size_of::<T>()) as u64,
            len: range.len(),
            _items: PhantomData,
            _unsized: [],
        })
    }
}

impl<T: Element, U: ?Sized> std::fmt::Debug for DeviceSlice<T, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceSlice<{}>({} elements)", T::DTYPE, self.len)
    }
}

/// A borrowed part of device memory, to be read.
#[derive(Debug)]
#[must_use = "a view does nothing by itself"]
pub struct View<'a, T: Element> {
    part: Stored<T>,
    _source: PhantomData<&'a DeviceSlice<T>>,
}

impl<T: Element> Deref for View<'_, T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        &self.part
    }
}

/// A borrowed part of device memory, to be written.
#[derive(Debug)]
#[must_use = "a view does nothing by itself"]
pub struct ViewMut<'a, T: Element> {
    part: Stored<T>,
    _source: PhantomData<&'a mut DeviceSlice<T>>,
}

impl<T: Element> Deref for ViewMut<'_, T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        &self.part
    }
}

impl<T: Element> DerefMut for ViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.part
    }
}
