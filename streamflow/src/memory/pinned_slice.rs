//! Slices of page-locked memory: copies take them as source or target, and the host reads and writes their elements.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, RangeBounds};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::pinned_pool::PinnedPool;
use super::pooled::{OwnedBlock, PooledBlock};
use super::slice::{bounds, has_room};
use super::{Block, Element, Shape};
use crate::driver::{AccessMode, MemoryRange, SourceLocation};
use crate::error::Result;
use crate::stream::{Awaited, StreamTable};

/// Elements in page-locked host memory, one after the other: the counterpart of [`DeviceSlice`](super::DeviceSlice).
///
/// [`Pinned`](super::Pinned), [`PinnedView`] and [`PinnedViewMut`] deref to it.
/// [`CudaStream::upload`](crate::CudaStream::upload) reads a `PinnedSlice` and
/// [`CudaStream::download_into`](crate::CudaStream::download_into) writes one, so one buffer of the largest size serves
/// messages of all sizes:
///
/// ```
/// # use streamflow::prelude::*;
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
/// let mut staging = platform.pinned::<u8>(device(0), 9000)?;
/// staging.as_mut_slice_blocking()?[..1400].fill(7);
/// let mut packet = platform.tensor::<u8>([1400], &stream)?;
/// stream.upload(&staging.slice(..1400).expect("1400 bytes of 9000"), &mut packet)?;
/// let mut back = staging.slice_mut(2000..3400).expect("a part of 9000 bytes");
/// stream.download_into(&packet, &mut back)?;
/// assert_eq!(back.as_slice_blocking()?, [7; 1400]);
/// # Ok(())
/// # }
/// ```
///
/// Uses are noted for the memory as a whole. So the host also waits for copies from or to other parts, and copies of several
/// parts on several streams come one after the other, unless all of them only read the memory.
///
/// The type is unsized, so that two slices can't be swapped while their owners stay in place.
#[repr(C)]
pub struct PinnedSlice<T, U: ?Sized = [()]> {
    block: NonNull<PooledBlock<PinnedPool>>,
    address: u64,
    len: usize,
    _items: PhantomData<T>,
    _unsized: U,
}

/// The sized form of a slice, which owners and views store. A `&StoredPinned<T>` coerces to a `&PinnedSlice<T>`.
pub(super) type StoredPinned<T> = PinnedSlice<T, [(); 0]>;

// SAFETY: the block is `Sync` and outlives the slice, because an owner stores the slice together with the owner of the
// block, and a view borrows from such an owner. The elements themselves are plain data.
unsafe impl<T: Element, U: ?Sized> Send for PinnedSlice<T, U> {}
// SAFETY: the reasons for `Send` hold, and a `&PinnedSlice` only reads.
unsafe impl<T: Element, U: ?Sized> Sync for PinnedSlice<T, U> {}

impl<T: Element> StoredPinned<T> {
    /// Creates a slice of `len` elements at the start of a block. The caller keeps the block's owner alive as long as the
    /// slice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) when the block is smaller than the elements.
    pub(super) fn whole(owner: &OwnedBlock<PinnedPool>, len: usize) -> Result<Self> {
        has_room::<T>(owner, len, || Shape::of_slice(len))?;
        let address = owner.range().address;
        Ok(Self { block: owner.place(), address, len, _items: PhantomData, _unsized: [] })
    }
}

impl<T: Element> PinnedSlice<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// [`DeviceSlice::assume_written`](super::DeviceSlice::assume_written) for memory that a
    /// [`download_into`](crate::CudaStream::download_into) was to write.
    pub fn assume_written(&mut self) {
        self.block().overwritten(self.range());
    }

    /// A part of the memory. `None` if the range is not within it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<PinnedView<'_, T>> {
        Some(PinnedView { part: self.part(range)?, _source: PhantomData })
    }

    /// A part of the memory, to be written. `None` if the range is not within it.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Option<PinnedViewMut<'_, T>> {
        Some(PinnedViewMut { part: self.part(range)?, _source: PhantomData })
    }

    /// The elements, if all copies to this memory are complete. `None` while a copy is not complete. Does not block.
    ///
    /// # Errors
    /// The driver's, when the query fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn try_as_slice(&self) -> Result<Option<&[T]>> {
        self.block().check_written(self.range())?;
        let complete = self.block().is_complete(self.table(), AccessMode::Read)?;
        if complete {
            self.table().inspect(self.block().device())?;
            self.touched(AccessMode::Read, Location::caller());
        }
        Ok(complete.then(|| self.elements()))
    }

    /// The elements; blocks until all copies to this memory are complete.
    ///
    /// # Errors
    /// The driver's, when the wait fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn as_slice_blocking(&self) -> Result<&[T]> {
        self.block().check_written(self.range())?;
        self.block().synchronize(self.table(), AccessMode::Read)?;
        self.touched(AccessMode::Read, Location::caller());
        Ok(self.elements())
    }

    /// The elements, to be written; blocks until all copies from and to this memory are complete.
    ///
    /// # Errors
    /// As for [`as_slice_blocking`](Self::as_slice_blocking).
    #[track_caller]
    pub fn as_mut_slice_blocking(&mut self) -> Result<&mut [T]> {
        self.block().check_written(self.range())?;
        self.block().synchronize(self.table(), AccessMode::Write)?;
        self.touched(AccessMode::Write, Location::caller());
        let start = self.address as *mut T;
        // SAFETY: the block has these elements, aligned and initialised. No queued work uses them, and `&mut self`
        // keeps the program from queuing more work while the slice lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, self.len) })
    }

    /// The elements. The caller has found that all copies to this memory are complete.
    pub(super) fn complete_elements(&self) -> &[T] {
        self.elements()
    }

    pub(super) fn table(&self) -> &Arc<StreamTable> {
        self.pooled().pool_handle().table()
    }

    pub(super) fn awaited(&self) -> &Arc<Awaited> {
        self.pooled().pool_handle().awaited()
    }

    fn elements(&self) -> &[T] {
        let start = self.address as *const T;
        // SAFETY: the block has these elements, aligned and initialised. No queued work writes them. A copy to this
        // memory takes `&mut self`, so no such copy can be queued while the slice lives.
        unsafe { std::slice::from_raw_parts(start, self.len) }
    }

    /// Tells the driver's layers, such as the race checker, that the host accesses the elements from now on.
    fn touched(&self, mode: AccessMode, location: SourceLocation) {
        self.pooled().pool_handle().touched(self.range(), mode, location);
    }

    fn pooled(&self) -> &PooledBlock<PinnedPool> {
        // SAFETY: an owner keeps the block alive as long as `self`: the owner that stores the slice, or the owner that a
        // view borrows from. The block is boxed, so its address is stable.
        unsafe { self.block.as_ref() }
    }

    pub(crate) fn block(&self) -> &Block {
        self.pooled()
    }

    pub(super) fn range(&self) -> MemoryRange {
        MemoryRange { address: self.address, bytes: Shape::bytes_of::<T>(self.len) }
    }

    /// The elements of a range. `None` if the range is not within the slice.
    pub(super) fn part(&self, range: impl RangeBounds<usize>) -> Option<StoredPinned<T>> {
        let range = bounds(range, self.len)?;
        Some(PinnedSlice {
            block: self.block,
            address: self.address + Shape::bytes_of::<T>(range.start),
            len: range.len(),
            _items: PhantomData,
            _unsized: [],
        })
    }
}

impl<T: Element, U: ?Sized> fmt::Debug for PinnedSlice<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedSlice<{}>({} elements)", T::DTYPE, self.len)
    }
}

/// A borrowed part of page-locked memory, to be read.
#[derive(Debug)]
#[must_use = "a view does nothing by itself"]
pub struct PinnedView<'a, T: Element> {
    part: StoredPinned<T>,
    _source: PhantomData<&'a PinnedSlice<T>>,
}

impl<T: Element> Deref for PinnedView<'_, T> {
    type Target = PinnedSlice<T>;

    fn deref(&self) -> &PinnedSlice<T> {
        &self.part
    }
}

/// A borrowed part of page-locked memory, to be written.
#[derive(Debug)]
#[must_use = "a view does nothing by itself"]
pub struct PinnedViewMut<'a, T: Element> {
    part: StoredPinned<T>,
    _source: PhantomData<&'a mut PinnedSlice<T>>,
}

impl<T: Element> Deref for PinnedViewMut<'_, T> {
    type Target = PinnedSlice<T>;

    fn deref(&self) -> &PinnedSlice<T> {
        &self.part
    }
}

impl<T: Element> DerefMut for PinnedViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut PinnedSlice<T> {
        &mut self.part
    }
}
