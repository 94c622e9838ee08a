//! One allocation and its uses, by which data is ordered (law 7).

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::Shape;
use super::last_write::PackedLastWrite;
use super::points::PointSet;
use crate::driver::{AccessMode, DeviceId, MemoryRange};
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::stream::{CudaStream, PlatformNumber, Point, StreamTable, Timeline};

/// An allocation, of a device or of page-locked host memory.
// In this order, so that everything but large shapes is in two cache lines: a block is mostly not in the cache when it is
// read, since driver calls have used the whole cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Block {
    platform: PlatformNumber,
    device: DeviceId,
    range: MemoryRange,
    last_write: PackedLastWrite,
    uses: Lock<Uses>,
    /// The shape that its owner gave it. It is here so that owners are small: messages are moved often.
    shape: Shape,
}

/// The uses that later work must be ordered after: at most one of each kind on each stream.
#[derive(Debug, Default)]
struct Uses {
    /// The writes that no later write is known to come after: one, unless parts of the memory are
    /// written on several streams.
    writes: PointSet,
    /// The reads that no later write is known to come after: the latest of each stream, in the order in which they were
    /// noted.
    reads: PointSet,
}

impl Block {
    pub(crate) fn new(platform: PlatformNumber, device: DeviceId, range: MemoryRange) -> Self {
        let (last_write, uses, shape) = (PackedLastWrite::none(), Lock::default(), Shape::SCALAR);
        Self { platform, device, range, last_write, uses, shape }
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.device
    }

    /// The whole allocation. The requested size may be a little less.
    pub(crate) fn range(&self) -> MemoryRange {
        self.range
    }

    /// The shape that the owner gave it by [`set_shape`](Self::set_shape).
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn set_shape(&mut self, shape: &Shape) {
        self.shape = *shape;
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

    #[cold]
    fn wrong_device(&self, stream: &CudaStream, what: &str) -> Error {
        let (memory, stream) = (self.device, stream.device());
        Error::WrongDevice { what: what.to_owned(), memory, stream }
    }

    /// Makes `stream` wait for the uses that an access must come after: the writes, and for a write the reads as well.
    #[inline]
    pub(crate) fn order(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        // Fast path: the memory was allocated for this stream, or the message's stream was received.
        if self.last_write.is_before(stream.timeline(), mode) {
            return Ok(());
        }
        self.order_locked(stream, mode)
    }

    #[inline(never)]
    fn order_locked(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        let (timeline, table) = (stream.timeline(), stream.table());
        loop {
            // Copies, so that the lock is not held during driver calls; a few at a time, so that they need no heap.
            let missing = self.missing_waits(timeline, mode);
            missing.iter().try_for_each(|point| timeline.wait(table, *point))?;
            // Rare: the stream's clock has mostly kept all of these waits.
            if missing.is_full() || !missing.iter().all(|point| timeline.implies(*point)) {
                self.uses.lock().mark(&missing, timeline.id());
            }
            if !missing.is_full() {
                return Ok(());
            }
        }
    }

    /// Up to 8 of the uses that an access must come after, and that the stream does not come after yet.
    fn missing_waits(&self, timeline: &Timeline, mode: AccessMode) -> ArrayVec<Point, 8> {
        let uses = self.uses.lock();
        let stream = timeline.id();
        let reads = match mode {
            AccessMode::Read => None,
            AccessMode::Write => Some(uses.reads.not_waited_for_by(stream)),
        };
        let all = reads.into_iter().flatten().chain(uses.writes.not_waited_for_by(stream));
        all.filter(|point| !timeline.implies(*point)).take(8).collect()
    }

    /// Notes an access that was queued on `timeline` just now (rules 1 and 6 of `stream::order`).
    #[inline]
    pub(super) fn note(&self, timeline: &Timeline, mode: AccessMode) {
        // Fast path of a write: the first one since the memory was allocated for its stream.
        if mode == AccessMode::Read || !self.last_write.covers(timeline.open_point()) {
            self.note_locked(timeline, mode);
        }
    }

    #[inline(never)]
    fn note_locked(&self, timeline: &Timeline, mode: AccessMode) {
        let mut uses = self.uses.lock();
        let Uses { writes, reads } = &mut *uses;
        match mode {
            AccessMode::Write => {
                reads.forget(timeline.id(), |read| timeline.implies(read));
                writes.forget(timeline.id(), |write| timeline.implies(write));
                crate::turns::point("uses are forgotten, and the point is not taken yet");
                writes.replace(timeline.open_point());
            }
            AccessMode::Read => reads.replace(timeline.open_point()),
        }
        self.last_write.set(writes.only(), !reads.is_empty());
    }

    /// Whether work queued on `timeline` now already comes after all uses.
    pub(super) fn is_ordered_before(&mut self, timeline: &Timeline) -> bool {
        self.uses.get_mut().all(|point| timeline.implies(point))
    }

    /// Whether each use is known to be complete, or comes earlier on `timeline`.
    pub(super) fn is_known_complete(&mut self, timeline: &Timeline, table: &StreamTable) -> bool {
        let is_known = |point| timeline.implies(point) || table.is_known_complete(point);
        self.uses.get_mut().all(is_known)
    }

    /// The uses that `timeline` does not come after.
    pub(super) fn unordered_uses(&mut self, timeline: &Timeline) -> SmallVec<[Point; 4]> {
        let uses = self.uses.get_mut();
        uses.latest_first().filter(|point| !timeline.implies(*point)).collect()
    }

    /// Makes `timeline` wait for all uses.
    pub(super) fn wait_for_uses(&mut self, timeline: &Timeline, table: &StreamTable) -> Result<()> {
        self.uses.get_mut().try_for_each(|point| timeline.wait(table, point))
    }

    /// Notes that the block has a new owner, allocated on `timeline`, after [`wait_for_uses`](Self::wait_for_uses) if it
    /// had one before: work of the new owner on any stream comes after everything that `timeline` came after.
    pub(super) fn allocated_on(&mut self, timeline: &Timeline) {
        let point = timeline.open_point();
        let Uses { writes, reads } = self.uses.get_mut();
        reads.clear();
        writes.clear();
        writes.replace(point);
        self.last_write.set(Some(point), false);
    }

    /// Records the uses on other streams than `own` that no record covers yet, so that a later wait for them waits for no
    /// later work.
    pub(super) fn close_uses(&mut self, table: &StreamTable, own: u32) -> Result<()> {
        self.uses.get_mut().try_for_each(|point| {
            if point.stream() == own { Ok(()) } else { Ok(table.close(point)?) }
        })
    }

    /// Whether the host may touch the memory now: to read it all writes must be complete, to write
    /// it all reads as well.
    pub(super) fn is_complete(&self, table: &StreamTable, mode: AccessMode) -> Result<bool> {
        for point in self.conflicting_uses(mode) {
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
        for point in self.conflicting_uses(AccessMode::Read) {
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
        self.conflicting_uses(mode).into_iter().try_for_each(|point| Ok(table.synchronize(point)?))
    }

    /// The uses that an access must come after: a copy, so that no lock is held while the host waits.
    fn conflicting_uses(&self, mode: AccessMode) -> SmallVec<[Point; 5]> {
        let uses = self.uses.lock();
        match mode {
            AccessMode::Read => uses.writes.latest_first().collect(),
            AccessMode::Write => uses.latest_first().collect(),
        }
    }
}

impl Uses {
    /// Marks these uses: a stream has waited for them.
    fn mark(&mut self, points: &[Point], stream: u32) {
        self.reads.mark(points, stream);
        self.writes.mark(points, stream);
    }

    /// All uses. In this order a wait for one often implies the wait for the next: a read came after the writes, and
    /// perhaps after earlier reads.
    fn latest_first(&self) -> impl Iterator<Item = Point> {
        self.reads.latest_first().chain(self.writes.latest_first())
    }

    /// Visits all uses in that order, until an error.
    #[inline(always)]
    fn try_for_each<E>(&self, mut visit: impl FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        self.reads.try_for_each(&mut visit)?;
        self.writes.try_for_each(visit)
    }

    #[inline(always)]
    fn all(&self, holds: impl Fn(Point) -> bool) -> bool {
        self.try_for_each(|point| if holds(point) { Ok(()) } else { Err(()) }).is_ok()
    }
}
