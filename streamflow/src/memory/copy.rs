//! Copies and fills on streams. Each is ordered after earlier work by the uses of the memory that it reads and writes.
//!
//! A download of a whole tensor makes no view and plans no rows, and its host memory comes from the platform's own pool.
//! That saves 600 of 1,010 instructions of a download, counted by callgrind.

use std::iter;
use std::panic::Location;
use std::sync::Arc;

use arrayvec::ArrayVec;

use super::access::{self, Order, Use};
use super::copied::TRUSTED;
use super::copy_plan::CopyPlan;
use super::{
    Block, CopySource, CopyTarget, DeviceSlice, Download, Element, Pinned, PinnedPool, PinnedSlice,
    Shape, Strides, TensorView,
};
use crate::driver::{AccessMode, CopyKind, CopyOp, MemoryRange, Note};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

impl CudaStream {
    /// Queues a copy of page-locked host memory, or of a [part](PinnedSlice::slice) of it, to the device. Does not block.
    /// The documentation of [`Pinned`] has a source operator that uploads the data that it reads.
    ///
    /// In all uploads and downloads, the device memory may have gaps between its rows, like a
    /// [`PitchedTensor`](crate::memory::PitchedTensor) or a part of a tensor, and the host memory has no gaps.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Strided`] for a target with gaps within a row, which is the elements along the last
    /// dimension; the driver's.
    #[track_caller]
    pub fn upload<T: Element>(
        &self,
        source: &PinnedSlice<T>,
        target: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let target = target.copy_target();
        let fits = same_length("upload", source.len(), target.len());
        let target = Side::of(&target.as_view());
        let source = Side::host(Some(source.block()), source.range(), &target);
        self.copy_between::<T>(CopyKind::PinnedToDevice, source, target, fits)
    }

    /// Copies ordinary host memory to the device. Blocks until the host memory may be changed.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn upload_blocking<T: Element>(
        &self,
        source: &[T],
        target: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let target = target.copy_target();
        let fits = same_length("upload", source.len(), target.len());
        let target = Side::of(&target.as_view());
        let source = Side::host(None, ordinary(source.as_ptr()), &target);
        self.copy_between::<T>(CopyKind::PageableToDevice, source, target, fits)
    }

    /// Copies ordinary host memory with padded rows to the device. Blocks until the host memory may be changed. `source`
    /// begins with the first element, and `strides` are its distances, in elements, in each dimension of `target`, as those of
    /// [`Shape::padded_strides`]. The padding is not copied.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if `source` ends before the last element; [`Error::Shape`] for strides of another number of
    /// dimensions; [`Error::Strided`] for a source or a target with gaps within a row; the driver's.
    #[track_caller]
    pub fn upload_rows_blocking<T: Element>(
        &self,
        source: &[T],
        strides: &Strides,
        target: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let target = target.copy_target();
        let target = Side::of(&target.as_view());
        let fits = has_rows(source.len(), strides, &target.shape);
        let host = Side::host(None, ordinary(source.as_ptr()), &target);
        let source = Side { strides: Some(*strides), ..host };
        self.copy_between::<T>(CopyKind::PageableToDevice, source, target, fits)
    }

    /// Queues a copy within the device. Does not block.
    ///
    /// If source and target have no gaps, they must have the same length, and may have different shapes. If one of them has
    /// gaps between its rows, both must have the same shape. Views of more than two dimensions may need several copies of the
    /// driver.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::ShapeMismatch`]; [`Error::Strided`] for a source or target with gaps within a row,
    /// which is the elements along the last dimension, like a transposed view: a kernel can copy it; [`Error::Unwritten`] for a
    /// source that a failed call was to write; the driver's.
    #[track_caller]
    pub fn copy<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        target: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let target = target.copy_target();
        let (source, target) = (Side::of(&source.copy_source()), Side::of(&target.as_view()));
        let fits = same_shape("copy", &source, &target);
        self.copy_between::<T>(CopyKind::DeviceToDevice, source, target, fits)
    }

    /// Queues a copy of another device's memory to this stream's device: a peer copy, which goes directly between the
    /// devices where the hardware can do so. Does not block. `source` may also be on this stream's device.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::WrongDevice`] when `target` is on another device than this
    /// stream; the driver's.
    #[track_caller]
    pub fn copy_peer<T: Element>(
        &self,
        source: &DeviceSlice<T>,
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let from = source.block().device();
        if from == self.device() {
            return self.copy(source, target);
        }
        let fits = same_length("copy", source.len(), target.len());
        let source = Side { peer: true, ..Side::of(&source.copy_source()) };
        let target = Side::of(&target.copy_source());
        self.copy_between::<T>(CopyKind::Peer { from, to: self.device() }, source, target, fits)
    }

    /// Queues a copy to the host, after all writes to `source`, on any stream. Does not block. The returned
    /// [`Download`] can be read when the copy is complete.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let table = platform.upload(&[1.0_f32, 2.0, 3.0])?;
    /// let download = stream.download(&table)?;
    /// assert_eq!(download.wait_blocking()?, [1.0, 2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; [`Error::Unwritten`], as for [`copy`](Self::copy); the driver's.
    #[track_caller]
    pub fn download<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
    ) -> Result<Download<T>> {
        self.download_to_pool(&PinnedPool::of(self), source)
    }

    /// Queues a [`download`](Self::download) to memory of `pool`, which is the pool of the stream's device.
    #[track_caller]
    pub(crate) fn download_to_pool<T: Element>(
        &self,
        pool: &Arc<PinnedPool>,
        source: &(impl CopySource<T> + ?Sized),
    ) -> Result<Download<T>> {
        // The device is bound and checked before the memory is chosen, because the choice may queue a wait on the stream.
        self.timeline().ready()?;
        let download = if let Some((elements, shape)) = source.dense(TRUSTED) {
            let mut pinned = Pinned::for_stream(pool, self, elements.len())?;
            let copy = CopyOp {
                kind: CopyKind::DeviceToPinned,
                target: pinned.range(),
                source: elements.range(),
                rows: None,
            };
            let read = Use::new((elements.block(), elements.range()), AccessMode::Read, WHAT);
            let written = Use::overwriting((pinned.block(), pinned.range()), WHAT);
            self.copy_run(&copy, &[read, written])?;
            match shape {
                Some(shape) => pinned.set_shape(shape),
                None => pinned.set_shape(&Shape::of_slice(elements.len())),
            }
            Download::new(pinned)
        } else {
            let source = source.copy_source();
            let mut pinned = Pinned::for_stream(pool, self, source.len())?;
            self.download_into(&source, &mut pinned)?;
            pinned.set_shape(&source.dims());
            Download::new(pinned)
        };
        // An event is recorded now, so that a wait of the host for the download waits for no later work of the stream.
        self.timeline().close()?;
        Ok(download)
    }

    /// Queues a copy to page-locked host memory, or to a [part](PinnedSlice::slice_mut) of it. Does not block; `target`
    /// can't be read before the copy is complete.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn download_into<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        target: &mut PinnedSlice<T>,
    ) -> Result<()> {
        let source = source.copy_source();
        let fits = same_length("download", source.len(), target.len());
        let source = Side::of(&source);
        let target = Side::host(Some(target.block()), target.range(), &source);
        self.copy_between::<T>(CopyKind::DeviceToPinned, source, target, fits)
    }

    /// Copies to ordinary host memory, and blocks until the copy is complete.
    ///
    /// # Errors
    /// The driver's; an error of earlier work may be reported here.
    #[track_caller]
    pub fn download_blocking<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
    ) -> Result<Vec<T>> {
        let source = source.copy_source();
        let mut target = vec![T::default(); source.len()];
        self.download_to_blocking(&source, &mut target)?;
        Ok(target)
    }

    /// [`download_blocking`](Self::download_blocking) to the given host memory, which has the source's length.
    #[track_caller]
    pub(super) fn download_to_blocking<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        target: &mut [T],
    ) -> Result<()> {
        let source = source.copy_source();
        let fits = same_length("download", source.len(), target.len());
        let source = Side::of(&source);
        let host = Side::host(None, ordinary(target.as_mut_ptr()), &source);
        self.copy_between::<T>(CopyKind::DeviceToPageable, source, host, fits)?;
        self.table().inspect(self.device())
    }

    /// Queues work that sets every byte of `target` to `byte`. Does not block. That work may also set the padding of a
    /// [`PitchedTensor`](crate::memory::PitchedTensor).
    ///
    /// # Errors
    /// [`Error::Strided`] if elements outside of `target` lie between its elements: a kernel can fill such a target; the
    /// driver's.
    #[track_caller]
    pub fn fill_bytes<T: Element>(
        &self,
        target: &mut (impl CopyTarget<T> + ?Sized),
        byte: u8,
    ) -> Result<()> {
        let target = target.copy_target().into_view();
        let memory = (target.elements().block(), target.range());
        let using = Use::overwriting(memory, "the memory to fill");
        access::prepared(self.check_fill(&target), iter::once(using))?;
        let location = Location::caller();
        access::queue(self, Order::ByData, iter::once(using), || {
            if target.is_empty() {
                return Ok(());
            }
            self.table().observe(&Note::At(location));
            let timeline = self.timeline();
            // SAFETY: the range lies in a live block. The fill is noted as a use of the block, and the block is freed after it.
            Ok(unsafe { timeline.driver().fill(timeline.raw(), target.range(), byte) }?)
        })?;
        using.end_mark();
        Ok(())
    }

    fn check_fill<T: Element>(&self, target: &TensorView<'_, T>) -> Result<()> {
        if target.rows(AccessMode::Write).is_some() {
            return Err(Error::Strided {
                shape: target.shape().to_vec(),
                strides: target.strides().to_vec(),
                problem: "has other elements between its own, so it can't be filled at once",
                remedy: "fill it by a kernel, which takes it as a `StridedMut`",
            });
        }
        Ok(self.timeline().ready()?)
    }

    /// Queues a copy of `source` to `target`, if the caller's check of their sizes, `fits`, has succeeded.
    #[track_caller]
    fn copy_between<T: Element>(
        &self,
        kind: CopyKind,
        source: Side<'_>,
        target: Side<'_>,
        fits: Result<()>,
    ) -> Result<()> {
        let uses = uses(&source, &target);
        access::prepared(fits, uses.iter().copied())?;
        if source.strides.is_none() && target.strides.is_none() {
            let bytes = (source.shape.count() * size_of::<T>()) as u64;
            let range = |address| MemoryRange { address, bytes };
            let (to, from) = (range(target.range.address), range(source.range.address));
            let copy = CopyOp { kind, target: to, source: from, rows: None };
            return self.copy_run(&copy, &uses);
        }
        let plan = access::prepared(plan(&source, &target), uses.iter().copied())?;
        access::prepared(self.timeline().ready(), uses.iter().copied())?;
        let location = Location::caller();
        access::queue(self, Order::ByData, uses.iter().copied(), || {
            let timeline = self.timeline();
            let copies =
                plan.copies(kind, size_of::<T>(), source.range.address, target.range.address);
            for mut copy in copies.filter(|copy| copy.source.bytes > 0) {
                if let Some(rows) = &mut copy.rows {
                    rows.target_is_padded = target.has_own_gaps;
                }
                self.table().observe(&Note::At(location));
                // SAFETY: the callers have checked that source and target have the same number of elements. Both are
                // alive: device and page-locked blocks are freed or reused only after the copy, which is noted as a use.
                // Ordinary host memory is borrowed for the call, and its copy returns only when it is complete.
                unsafe { timeline.driver().copy(timeline.raw(), &copy) }?;
            }
            Ok(())
        })?;
        if target.is_alone {
            uses.iter().for_each(Use::end_mark);
        }
        Ok(())
    }

    /// Queues a copy whose source and target have no gaps and have the same length, so that no plan of rows is needed.
    #[inline(never)]
    #[track_caller]
    fn copy_run(&self, copy: &CopyOp, uses: &[Use<'_>]) -> Result<()> {
        let location = Location::caller();
        let timeline = self.timeline();
        access::prepared(timeline.ready(), uses.iter().copied())?;
        access::queue(self, Order::ByData, uses.iter().copied(), || {
            if copy.source.bytes == 0 {
                return Ok(());
            }
            self.table().observe(&Note::At(location));
            // SAFETY: source and target are alive, as in `copy_between`, and the callers have compared their lengths.
            Ok(unsafe { timeline.driver().copy(timeline.raw(), copy) }?)
        })?;
        uses.iter().for_each(Use::end_mark);
        Ok(())
    }
}

/// The range that stands for ordinary host memory, which has no block: an address without a length.
fn ordinary<T>(first: *const T) -> MemoryRange {
    MemoryRange { address: first as u64, bytes: 0 }
}

/// The name of a copy's memory in error texts.
const WHAT: &str = "memory to copy";

/// The uses of the source and of the target of a copy. Ordinary host memory notes no uses.
fn uses<'a>(source: &Side<'a>, target: &Side<'a>) -> ArrayVec<Use<'a>, 2> {
    let both = [source.using(AccessMode::Read), target.using(AccessMode::Write)];
    both.into_iter().flatten().collect()
}

/// A side of a copy: its source or its target.
struct Side<'a> {
    /// The block of the memory. `None` for ordinary host memory: a copy with such memory blocks the host.
    block: Option<&'a Block>,
    /// The bytes from the first element to the last. Empty for ordinary host memory.
    range: MemoryRange,
    /// The shape of the copied elements. Host memory gets the shape of the device side of the copy.
    shape: Shape,
    /// The strides of the elements. `None` if the elements follow each other without gaps.
    strides: Option<Strides>,
    /// Whether the gaps between the elements contain no other elements of the tensor.
    is_alone: bool,
    /// Whether the gaps contain only padding, which a write may write, too.
    has_own_gaps: bool,
    /// Whether the memory may be on another device than the stream.
    peer: bool,
}

impl<'a> Side<'a> {
    fn of<T: Element>(view: &TensorView<'a, T>) -> Self {
        let (address, strides) = (view.address(), view.strides_with_gaps());
        // Fast path: the range of a view without gaps follows from its length, and needs no strides.
        let range = match strides {
            None => MemoryRange { address, bytes: Shape::bytes_of::<T>(view.len()) },
            Some(_) => view.range(),
        };
        Self {
            block: Some(view.elements().block()),
            range,
            shape: view.dims(),
            strides,
            is_alone: view.is_alone(),
            has_own_gaps: view.has_own_gaps(),
            peer: false,
        }
    }

    /// Creates the side of a copy that is host memory. `other` is the device side, whose shape both sides have.
    fn host(block: Option<&'a Block>, range: MemoryRange, other: &Side<'_>) -> Self {
        let (is_alone, has_own_gaps) = (true, true);
        Self {
            block,
            range,
            shape: other.shape,
            strides: None,
            is_alone,
            has_own_gaps,
            peer: false,
        }
    }

    fn using(&self, mode: AccessMode) -> Option<Use<'a>> {
        let memory = (self.block?, self.range);
        Some(match mode {
            AccessMode::Read if self.peer => Use::peer(memory),
            AccessMode::Read => Use::new(memory, mode, WHAT),
            AccessMode::Write => Use::overwriting(memory, WHAT),
        })
    }

    /// The strides of the elements. If the elements have no gaps, these are the dense strides of the shape.
    fn strides(&self) -> Strides {
        self.strides.unwrap_or_else(|| self.shape.dense_strides())
    }

    /// The error for a copy of which this side has gaps within its rows.
    fn refused(&self) -> Error {
        Error::Strided {
            shape: self.shape.dims().to_vec(),
            strides: self.strides().to_vec(),
            problem: "has gaps between the elements of a row, a run of the last dimension",
            remedy: "copy it by a kernel, which takes it as a `Strided`",
        }
    }
}

/// Plans the driver's copies between two sides of the same number of elements, of which at least one has gaps.
fn plan(source: &Side<'_>, target: &Side<'_>) -> Result<CopyPlan> {
    let (from, to) = (source.strides(), target.strides());
    CopyPlan::new(source.shape.dims(), &from, &to).ok_or_else(|| {
        let last = from.last().is_some_and(|&stride| stride != 1);
        if last { source.refused() } else { target.refused() }
    })
}

fn same_length(what: &'static str, source_len: usize, target_len: usize) -> Result<()> {
    if source_len == target_len {
        Ok(())
    } else {
        Err(Error::LengthMismatch { what, source_len, target_len })
    }
}

/// Checks that host memory of `len` elements has all elements of this shape with these strides.
fn has_rows(len: usize, strides: &Strides, shape: &Shape) -> Result<()> {
    if strides.len() != shape.dims().len() {
        let reason = "the strides of the host memory have another number of dimensions";
        return Err(Error::Shape { shape: shape.dims().to_vec(), reason });
    }
    let mut dims = shape.dims().iter().zip(strides.iter());
    let last = dims.try_fold(0_usize, |last, (len, stride)| {
        last.checked_add(len.saturating_sub(1).checked_mul(*stride)?)
    });
    let needed = match shape.count() {
        0 => 0,
        _ => last.map_or(usize::MAX, |last| last.saturating_add(1)),
    };
    if needed <= len {
        return Ok(());
    }
    Err(Error::LengthMismatch { what: "upload", source_len: len, target_len: needed })
}

/// Checks that source and target have the same shape if one of them has gaps, because the shape then decides which element
/// is copied to which. If neither has gaps, checks only that they have the same length.
fn same_shape(what: &'static str, source: &Side<'_>, target: &Side<'_>) -> Result<()> {
    if source.strides.is_none() && target.strides.is_none() {
        return same_length(what, source.shape.count(), target.shape.count());
    }
    if source.shape == target.shape {
        return Ok(());
    }
    let [source_shape, target_shape] = [source, target].map(|side| side.shape.dims().to_vec());
    let remedy = "take a part of the larger one with `view()` and `slice`, or make the target of the source's shape"
        .to_owned();
    Err(Error::ShapeMismatch { what, source_shape, target_shape, remedy })
}
