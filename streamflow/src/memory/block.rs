//! A block: one allocation with its uses. The uses of a block order the work on its data (law 7).

use std::cell::Cell;

use super::Shape;
use super::claims::Claims;
use super::unwritten::FailedWrite;
use crate::driver::{AccessMode, DeviceId, DriverResult, MemoryRange};
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::stream::{CudaStream, PlatformNumber, Point, StreamTable, Timeline};
use crate::sync::Mutex;

/// An allocation of device memory or of page-locked host memory, with its uses.
// With this order of the fields, a block fits into two cache lines, except the dimensions of a large shape. A block is
// mostly read from main memory, because driver calls have evicted the block from the cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Block {
    platform: PlatformNumber,
    device: DeviceId,
    range: MemoryRange,
    claims: Claims,
    /// The shape that the block's owner set. The block stores the shape, and not the owner, because an owner is part of a
    /// message, and messages are moved often and should be small.
    shape: Shape,
    /// The mark of a block with a failed write. The mark is valid only while `claims` says that a write has failed. A thread
    /// changes the mark and that statement of `claims` only under this lock, and takes this lock before the lock of `claims`.
    failed: Mutex<Option<Box<FailedWrite>>>,
}

impl Block {
    /// The offset, in bytes, of the end of the last field that a tick uses, if the block's shape has few dimensions.
    #[cfg(not(loom))]
    pub(super) const HOT_END: usize = std::mem::offset_of!(Self, shape) + Shape::FEW_BYTES;

    pub(crate) fn new(platform: PlatformNumber, device: DeviceId, range: MemoryRange) -> Self {
        let (claims, failed) = (Claims::new(), Mutex::new(None));
        Self { platform, device, range, claims, shape: Shape::SCALAR, failed }
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.device
    }

    /// The whole allocation, which may be a little larger than the requested size.
    pub(crate) fn range(&self) -> MemoryRange {
        self.range
    }

    /// The shape that the owner set with [`set_shape`](Self::set_shape).
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn set_shape(&mut self, shape: &Shape) {
        self.shape.set(shape);
    }

    /// Returns an error if `stream` belongs to another platform or device than the block. Error texts name the memory `what`.
    pub(crate) fn check(&self, stream: &CudaStream, what: &str) -> Result<()> {
        self.check_platform(stream)?;
        if self.device == stream.device() { Ok(()) } else { Err(self.wrong_device(stream, what)) }
    }

    pub(super) fn check_platform(&self, stream: &CudaStream) -> Result<()> {
        let is_ours = self.platform == stream.timeline().platform();
        if is_ours { Ok(()) } else { Err(Error::foreign("memory")) }
    }

    /// Whether an access by work on `stream` passes [`check`](Self::check) and needs no wait.
    #[inline]
    pub(super) fn is_ready(&self, stream: &CudaStream, mode: AccessMode) -> bool {
        let timeline = &**stream.timeline();
        self.platform == timeline.platform()
            && self.device == timeline.device()
            && self.claims.is_ordered(timeline, mode)
    }

    #[cold]
    fn wrong_device(&self, stream: &CudaStream, what: &str) -> Error {
        let (memory, stream) = (self.device, stream.device());
        Error::WrongDevice { what: what.to_owned(), memory, stream }
    }

    /// Makes `stream` wait for the earlier uses that an access of this mode must come after: the writes, and if the access
    /// is a write, also the reads.
    #[inline]
    pub(crate) fn order(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        let (timeline, table) = (stream.timeline(), stream.table());
        self.claims.order(&**timeline, mode, |point| timeline.wait(table, point))
    }

    /// Calls [`order`](Self::order) for an access that needs the content of the whole block. Returns an error if a failed
    /// call was to write a part of the block.
    ///
    /// # Errors
    /// [`Error::Unwritten`]; the driver's.
    #[inline]
    pub(crate) fn order_written(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        if self.claims.is_ordered(&**stream.timeline(), mode) {
            return Ok(());
        }
        self.check_written(self.range)?;
        self.order(stream, mode)
    }

    /// Whether the block has a mark: a failed call was to write a part of the block.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        self.claims.has_failed()
    }

    /// Returns an error if a failed call was to write a part of this range.
    ///
    /// # Errors
    /// [`Error::Unwritten`].
    #[inline]
    pub(crate) fn check_written(&self, range: MemoryRange) -> Result<()> {
        if self.claims.has_failed() { self.check_mark(range) } else { Ok(()) }
    }

    #[cold]
    fn check_mark(&self, range: MemoryRange) -> Result<()> {
        // The mark is dropped after the lock is released: its error may be a type of the program, with a drop of its own.
        let _ended = {
            let mut failed = locked(&self.failed);
            match &*failed {
                Some(mark) if !mark.has_ended() => return mark.check(range),
                _ => self.forget_mark(&mut failed),
            }
        };
        Ok(())
    }

    /// Marks this range as not written, because a call that was to write the range has failed.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(&self, range: MemoryRange, error: &Error) {
        let Some(mark) = FailedWrite::new(range, error).map(Box::new) else { return };
        // The mark that the block does not keep is dropped after the lock is released: its error may be a type of the program,
        // with a drop of its own.
        let _other = {
            let mut failed = locked(&self.failed);
            let is_marked = self.claims.has_failed();
            match &mut *failed {
                Some(earlier) if is_marked && !earlier.has_ended() => {
                    earlier.extend_to(range);
                    Some(mark)
                }
                _ => {
                    self.claims.fail();
                    failed.replace(mark)
                }
            }
        };
    }

    /// Notes that work overwrites all of this range. If the marked range lies within this range, the mark is removed.
    #[inline]
    pub(crate) fn overwritten(&self, range: MemoryRange) {
        if self.claims.has_failed() {
            self.end_mark(range);
        }
    }

    /// Notes that a call of a library begins, and that the call overwrites all of this range. If the call succeeds, the mark
    /// ends. If the call fails, the mark stays.
    #[cold]
    pub(crate) fn begin_overwrite(&self, range: MemoryRange) {
        if let Some(mark) = locked(&self.failed).as_mut() {
            mark.begin_overwrite(range);
        }
    }

    /// Ends the mark after the success of a call that has [begun to overwrite](Self::begin_overwrite) this range.
    #[cold]
    pub(crate) fn end_overwrite(&self, range: MemoryRange) {
        // The mark is dropped after the lock is released: its error may be a type of the program, with a drop of its own.
        let _ended = {
            let mut failed = locked(&self.failed);
            let is_over =
                failed.as_ref().is_some_and(|mark| mark.is_overwritten() && mark.is_within(range));
            if is_over { self.forget_mark(&mut failed) } else { None }
        };
    }

    /// Removes the mark of a block that gets a new owner and is allocated for no stream. For a block that is allocated for a
    /// stream, [`allocated_on`](Self::allocated_on) removes the mark.
    #[inline]
    pub(super) fn renew(&self) {
        self.overwritten(self.range);
    }

    #[cold]
    fn end_mark(&self, range: MemoryRange) {
        // The mark is dropped after the lock is released: its error may be a type of the program, with a drop of its own.
        let _ended = {
            let mut failed = locked(&self.failed);
            let is_whole = failed.as_ref().is_none_or(|mark| mark.is_within(range));
            if is_whole { self.forget_mark(&mut failed) } else { None }
        };
    }

    /// Ends the mark and returns it. The caller drops it after unlocking `failed`.
    fn forget_mark(&self, failed: &mut Option<Box<FailedWrite>>) -> Option<Box<FailedWrite>> {
        self.claims.forget_failure();
        failed.take()
    }

    /// Notes an access to the block by work that was queued on `timeline` just now (rules 1 and 4 of `stream::order`).
    #[inline]
    pub(super) fn note(&self, timeline: &Timeline, mode: AccessMode) {
        self.claims.note(timeline, mode);
    }

    /// Whether work that is queued on `timeline` from now on comes after all uses of the block without a wait.
    pub(super) fn is_ordered_before(&mut self, timeline: &Timeline) -> bool {
        self.claims.all(|point| timeline.implies(point))
    }

    /// Whether all uses of the block are on the stream with this number.
    pub(super) fn is_used_only_on(&mut self, stream: u32) -> bool {
        self.claims.all(|point| point.stream() == stream)
    }

    /// The number of the stream of the block's [latest use](Self::last_use).
    pub(super) fn last_stream(&mut self) -> Option<u32> {
        self.claims.latest().map(Point::stream)
    }

    /// The block's latest read, or its latest write if it has no reads. `None` for a block without uses.
    pub(super) fn last_use(&mut self) -> Option<Point> {
        self.claims.latest()
    }

    /// Whether the stream of `known` needs no wait for any use of the block.
    pub(super) fn needs_no_wait(&mut self, known: &KnownOrder<'_>) -> bool {
        self.claims.all(|point| known.has(point))
    }

    /// Tells a layer of the driver that records the order, as the race checker: work on `timeline` relies on the fact that the
    /// host has found the block's uses complete.
    #[inline(never)]
    pub(super) fn rely_on_uses(&mut self, timeline: &Timeline, table: &StreamTable) {
        self.claims.all(|point| {
            timeline.rely_on(table, point);
            true
        });
    }

    /// Adds the block's uses that `timeline` does not come after to the list `to`.
    pub(super) fn add_unordered_uses(&mut self, timeline: &Timeline, to: &mut Vec<Point>) {
        self.claims.add_unordered(timeline, to);
    }

    /// Makes `timeline` wait for all uses of the block.
    pub(super) fn wait_for_uses(&mut self, timeline: &Timeline, table: &StreamTable) -> Result<()> {
        self.claims.try_for_each(|point| timeline.wait(table, point))
    }

    /// Notes that the block has a new owner, and is allocated on `timeline`. If the block had an owner before, the caller has
    /// called [`wait_for_uses`](Self::wait_for_uses). Work of the new owner on any stream then comes after everything that
    /// `timeline` has waited for.
    pub(super) fn allocated_on(&mut self, timeline: &Timeline) {
        self.claims.allocated_on(timeline);
    }

    /// Records an event for each use that no record covers yet, on streams other than `own`. A later wait for these uses then
    /// waits for no later work of their streams. Returns whether all uses are on the stream `own`.
    #[inline]
    pub(super) fn close_uses(&mut self, table: &StreamTable, own: u32) -> DriverResult<bool> {
        let is_on_own = Cell::new(true);
        // Fast path: records cover all uses on other streams already. That is usual, because the end of a hook makes such
        // records.
        let are_closed = self.claims.all(|point| {
            let is_own = point.stream() == own;
            is_on_own.set(is_on_own.get() & is_own);
            is_own || table.is_closed(point)
        });
        if are_closed { Ok(is_on_own.get()) } else { self.close_others(table, own).map(|()| false) }
    }

    #[inline(never)]
    fn close_others(&mut self, table: &StreamTable, own: u32) -> DriverResult<()> {
        self.claims.try_for_each(
            |point| {
                if point.stream() == own { Ok(()) } else { table.close(point) }
            },
        )
    }

    /// Whether the host may access the memory now. A read by the host requires that all writes are complete. A write by the
    /// host requires that all writes and reads are complete.
    pub(super) fn is_complete(&self, table: &StreamTable, mode: AccessMode) -> Result<bool> {
        for point in self.claims.conflicting(mode) {
            if !table.is_complete(point)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first write of the block that is not complete. `None` if all writes are complete.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; the driver's.
    pub(super) fn first_incomplete(&self, table: &StreamTable) -> Result<Option<Point>> {
        if self.platform != table.platform() {
            return Err(Error::foreign("a download"));
        }
        for point in self.claims.conflicting(AccessMode::Read) {
            if !table.is_complete(point)? {
                return Ok(Some(point));
            }
        }
        table.inspect(self.device)?;
        Ok(None)
    }

    /// Blocks until the host may access the memory. Then returns the error that a kernel of the device has reported, if any.
    pub(super) fn synchronize(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.wait(table, mode)?;
        table.inspect(self.device)
    }

    /// Blocks until the host may access the memory.
    pub(super) fn wait(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.claims
            .conflicting(mode)
            .into_iter()
            .try_for_each(|point| Ok(table.synchronize(point)?))
    }

    /// Blocks until the streams of all uses are idle. Callers use this fallback after a wait for the uses has failed.
    #[cold]
    pub(super) fn wait_for_streams(&self, table: &StreamTable) -> Result<()> {
        for point in self.claims.conflicting(AccessMode::Write) {
            let timeline = table.timeline(point.stream());
            timeline.bind()?;
            timeline.synchronize(table)?;
        }
        Ok(())
    }
}

/// A check whether a stream needs no wait for a use, with a cache for checking several blocks in a row.
pub(super) struct KnownOrder<'a> {
    timeline: &'a Timeline,
    table: &'a StreamTable,
    /// Whether a use counts as ordered also if only the host has found the use complete.
    knows: bool,
    /// A cache of the last lookup: the number of a stream, and the stream's latest record that is known to be complete. The
    /// blocks of one free list mostly have their uses on the same streams.
    last: Cell<(u32, u64)>,
}

impl<'a> KnownOrder<'a> {
    pub(super) fn new(timeline: &'a Timeline, table: &'a StreamTable, knows: bool) -> Self {
        Self { timeline, table, knows, last: Cell::new((timeline.id(), u64::MAX)) }
    }

    #[inline]
    fn has(&self, point: Point) -> bool {
        let (stream, record) = self.last.get();
        point.stream() == self.timeline.id()
            || (point.stream() == stream && point.record() <= record)
            || self.look(point)
    }

    #[inline(never)]
    fn look(&self, point: Point) -> bool {
        if self.knows {
            let complete = self.table.latest_known_complete(point);
            if point.record() <= complete {
                self.last.set((point.stream(), complete));
                return true;
            }
        }
        self.timeline.implies(point)
    }
}
