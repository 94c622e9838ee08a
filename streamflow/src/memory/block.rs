//! An allocation and its uses. The order of work on the same data follows from the uses (law 7).

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
// The order of the fields puts all but large shapes into two cache lines. A block is mostly read from main memory,
// because driver calls have evicted it from the cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Block {
    platform: PlatformNumber,
    device: DeviceId,
    range: MemoryRange,
    claims: Claims,
    /// The shape that the block's owner set. The block stores it in the owner's place, because messages are moved often
    /// and should be small.
    shape: Shape,
    /// The mark of a block with a failed write. It is valid only while `claims` says that a write has failed. Both change
    /// only under this lock, and a thread takes this lock before that of the claims.
    failed: Mutex<Option<Box<FailedWrite>>>,
}

impl Block {
    /// The offset at which the fields end that a tick uses, for a block with few dimensions.
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

    /// Rejects a stream of another platform or device. `what` is for messages.
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

    /// Makes `stream` wait for the uses that an access must come after: the writes, and for a write the reads as well.
    #[inline]
    pub(crate) fn order(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        let (timeline, table) = (stream.timeline(), stream.table());
        self.claims.order(&**timeline, mode, |point| timeline.wait(table, point))
    }

    /// [`order`](Self::order) for an access that needs the content of the whole block.
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

    /// Whether a failed call was to write a part of the block.
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

    /// Marks this range as not written: a call that was to write it has failed.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(&self, range: MemoryRange, error: &Error) {
        let Some(mark) = FailedWrite::new(range, error).map(Box::new) else { return };
        // The other mark is dropped after the lock is released, as in `check_written`.
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

    /// Notes that all of this range is overwritten. That removes the mark if the marked range lies within this range.
    #[inline]
    pub(crate) fn overwritten(&self, range: MemoryRange) {
        if self.claims.has_failed() {
            self.end_mark(range);
        }
    }

    /// Notes that a library's call begins that overwrites all of this range. The mark ends if that call succeeds, and
    /// stays if it fails.
    #[cold]
    pub(crate) fn begin_overwrite(&self, range: MemoryRange) {
        if let Some(mark) = locked(&self.failed).as_mut() {
            mark.begin_overwrite(range);
        }
    }

    /// Ends the mark after the success of a call that has [begun to overwrite](Self::begin_overwrite) this range.
    #[cold]
    pub(crate) fn end_overwrite(&self, range: MemoryRange) {
        // The mark is dropped after the lock is released, as in `check_written`.
        let _ended = {
            let mut failed = locked(&self.failed);
            let is_over =
                failed.as_ref().is_some_and(|mark| mark.is_overwritten() && mark.is_within(range));
            if is_over { self.forget_mark(&mut failed) } else { None }
        };
    }

    /// Removes the mark for a new owner of a block that is allocated for no stream. [`allocated_on`](Self::allocated_on)
    /// does the same for the others.
    #[inline]
    pub(super) fn renew(&self) {
        self.overwritten(self.range);
    }

    #[cold]
    fn end_mark(&self, range: MemoryRange) {
        // The mark is dropped after the lock is released, as in `check_written`.
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

    /// Notes an access that was queued on `timeline` just now (rules 1 and 4 of `stream::order`).
    #[inline]
    pub(super) fn note(&self, timeline: &Timeline, mode: AccessMode) {
        self.claims.note(timeline, mode);
    }

    /// Whether work queued on `timeline` now already comes after all uses.
    pub(super) fn is_ordered_before(&mut self, timeline: &Timeline) -> bool {
        self.claims.all(|point| timeline.implies(point))
    }

    /// Whether all uses of the block are on the stream with this number.
    pub(super) fn is_used_only_on(&mut self, stream: u32) -> bool {
        self.claims.all(|point| point.stream() == stream)
    }

    /// The stream of one of the latest uses.
    pub(super) fn last_stream(&mut self) -> Option<u32> {
        self.claims.latest().map(Point::stream)
    }

    /// One of the latest uses.
    pub(super) fn last_use(&mut self) -> Option<Point> {
        self.claims.latest()
    }

    /// Whether the stream of `known` needs no wait for any use.
    pub(super) fn needs_no_wait(&mut self, known: &KnownOrder<'_>) -> bool {
        self.claims.all(|point| known.has(point))
    }

    /// Notifies a driver that records the order: work on `timeline` relies on the uses that the host has found complete.
    #[inline(never)]
    pub(super) fn rely_on_uses(&mut self, timeline: &Timeline, table: &StreamTable) {
        self.claims.all(|point| {
            timeline.rely_on(table, point);
            true
        });
    }

    /// Adds the uses that `timeline` does not come after to a list.
    pub(super) fn add_unordered_uses(&mut self, timeline: &Timeline, to: &mut Vec<Point>) {
        self.claims.add_unordered(timeline, to);
    }

    /// Makes `timeline` wait for all uses.
    pub(super) fn wait_for_uses(&mut self, timeline: &Timeline, table: &StreamTable) -> Result<()> {
        self.claims.try_for_each(|point| timeline.wait(table, point))
    }

    /// Notes that the block has a new owner, allocated on `timeline`. If there was an owner before, the caller has called
    /// [`wait_for_uses`](Self::wait_for_uses): work of the new owner on any stream comes after everything that `timeline`
    /// came after.
    pub(super) fn allocated_on(&mut self, timeline: &Timeline) {
        self.claims.allocated_on(timeline);
    }

    /// Records an event for each use on a stream other than `own` that no record covers yet, so that a later wait for
    /// these uses waits for no later work. Returns whether there are no uses on other streams.
    #[inline]
    pub(super) fn close_uses(&mut self, table: &StreamTable, own: u32) -> DriverResult<bool> {
        let is_on_own = Cell::new(true);
        // Fast path: the hooks that used the other streams have ended, and the end of a hook makes the record.
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

    /// Whether the host may touch the memory now. A read requires that all writes are complete, a write that all reads
    /// are, too.
    pub(super) fn is_complete(&self, table: &StreamTable, mode: AccessMode) -> Result<bool> {
        for point in self.claims.conflicting(mode) {
            if !table.is_complete(point)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first write that is not complete, on a stream of `table`.
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

    /// Blocks until the host may touch the memory, and returns an error that a kernel has reported.
    pub(super) fn synchronize(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.wait(table, mode)?;
        table.inspect(self.device)
    }

    /// Blocks until the host may touch the memory.
    pub(super) fn wait(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.claims
            .conflicting(mode)
            .into_iter()
            .try_for_each(|point| Ok(table.synchronize(point)?))
    }

    /// Blocks until the streams of all uses are idle: the fallback when waiting for the uses themselves has failed.
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

/// What a stream and the host know about the order of work, for checking several blocks in a row.
pub(super) struct KnownOrder<'a> {
    timeline: &'a Timeline,
    table: &'a StreamTable,
    /// Whether a use that the host has found complete counts as ordered, too.
    knows: bool,
    /// A cache of the last lookup: a stream, and its latest record that is known to be complete. The blocks of one list
    /// mostly have their uses on the same streams.
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
