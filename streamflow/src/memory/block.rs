//! One allocation and who uses it: the place where ordering by data (law 7) is kept.

use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::Shape;
use super::points::Points;
use crate::driver::{AccessMode, DeviceId, MemoryRange};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock};
use crate::stream::{CudaStream, PlatformNumber, Point, StreamTable, Timeline};

/// An allocation, of a device or of page-locked host memory.
// In this order, so that all but large shapes lies in two lines of the cache: when a block is looked at, the driver
// has used the whole cache since.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Block {
    platform: PlatformNumber,
    device: DeviceId,
    range: MemoryRange,
    /// The [only write](Sole), if there is one. It changes under the lock.
    ///
    /// It is read without, where nobody can change it. A write takes the memory by `&mut` until it is noted, also
    /// a write of a part, past the driver, or without an order, and reads of it are over by then; who sends the memory
    /// has it by value. In between lies whatever handed it over, and that orders threads. Of other parts of the memory
    /// an access may be noted meanwhile: what that means stands where it is read.
    sole: AtomicU64,
    uses: Lock<Uses>,
    /// What its owner takes it for. Here, so that owners are small: messages are moved often.
    shape: Shape,
}

/// The only write of a block, and whether something has read the memory since, in one word: 0 if there is none,
/// or if its numbers are too large for that, which only costs a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sole(u64);

impl Sole {
    const NONE: Self = Self(0);
    const EPOCH_BITS: u32 = 40;
    const READ: u64 = 1 << (Self::EPOCH_BITS - 1);

    #[inline]
    fn write(point: Point) -> Self {
        let stream = u64::from(point.stream()) + 1;
        let fits = stream < 1 << (64 - Self::EPOCH_BITS) && point.epoch() < Self::READ;
        if fits { Self(stream << Self::EPOCH_BITS | point.epoch()) } else { Self::NONE }
    }

    /// Whether it is this one, and nothing has read the memory since.
    #[inline]
    fn is(self, point: Point) -> bool {
        self == Self::write(point) && self != Self::NONE
    }

    /// Whether it is on this stream.
    #[inline]
    fn is_on(self, stream: u32) -> bool {
        self.0 >> Self::EPOCH_BITS == u64::from(stream) + 1
    }

    fn and_read(self) -> Self {
        if self == Self::NONE { self } else { Self(self.0 | Self::READ) }
    }
}

/// The uses that later work must be ordered after.
#[derive(Debug, Default)]
struct Uses {
    /// The writes that no other use is known to come after: one, unless parts of the memory are
    /// written on several streams.
    writes: Points,
    /// Likewise the reads, the latest of each stream, in the order in which they were noted.
    reads: Points,
}

impl Block {
    pub(crate) fn new(platform: PlatformNumber, device: DeviceId, range: MemoryRange) -> Self {
        Self {
            platform,
            device,
            range,
            sole: AtomicU64::new(Sole::NONE.0),
            uses: Lock::default(),
            shape: Shape::SCALAR,
        }
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.device
    }

    /// All of it: what was asked for may be a little less.
    pub(crate) fn range(&self) -> MemoryRange {
        self.range
    }

    /// What the owner takes it for, who said so by [`set_shape`](Self::set_shape).
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn set_shape(&mut self, shape: &Shape) {
        self.shape = *shape;
    }

    /// Makes `stream` wait for what reading must come after: the last write. `what` is for messages.
    pub(crate) fn order(&self, stream: &CudaStream, what: &str) -> Result<()> {
        self.check(stream, what)?;
        // Nearly always: who sends memory has written it.
        if self.sole().is_on(stream.timeline().id()) {
            return Ok(());
        }
        self.lock().order(stream, AccessMode::Read)
    }

    /// Makes `stream` wait for what an access must come after (the last write, and for a write the
    /// reads as well) and notes the access, under one lock. `what` is for messages.
    ///
    /// `point` is the stream's [open point](Timeline::open_point). The work is queued after this call,
    /// and then told by [`queued`](Self::queued), whether or not that succeeded.
    #[inline]
    pub(crate) fn claim(
        &self,
        stream: &CudaStream,
        mode: AccessMode,
        point: Point,
        what: &str,
    ) -> Result<()> {
        self.check(stream, what)?;
        self.claim_checked(stream, mode, point)
    }

    /// As [`claim`](Self::claim), for a stream of any device.
    pub(super) fn claim_peer(
        &self,
        stream: &CudaStream,
        mode: AccessMode,
        point: Point,
    ) -> Result<()> {
        self.check_platform(stream)?;
        self.claim_checked(stream, mode, point)
    }

    #[inline]
    fn claim_checked(&self, stream: &CudaStream, mode: AccessMode, point: Point) -> Result<()> {
        crate::turns::point("a claim");
        if mode == AccessMode::Write && self.sole().is(point) {
            // Nearly always: who writes it has just had it allocated. It stands there already, and there is
            // nothing to wait for. Another thread that writes another part, and now waits for this point, has
            // recorded it then; so `queued` sees that, as after any claim.
            return Ok(());
        }
        self.claim_locked(stream, mode, point)
    }

    #[inline(never)]
    fn claim_locked(&self, stream: &CudaStream, mode: AccessMode, point: Point) -> Result<()> {
        let mut uses = self.lock();
        uses.order(stream, mode)?;
        crate::turns::point("a claim that is ordered and not noted");
        match mode {
            AccessMode::Write => {
                uses.only(point);
                self.set_sole(Sole::write(point));
            }
            AccessMode::Read => {
                uses.reads.replace(point);
                self.set_sole(self.sole().and_read());
            }
        }
        Ok(())
    }

    #[inline]
    fn sole(&self) -> Sole {
        Sole(self.sole.load(Ordering::Relaxed))
    }

    /// To be called under the lock.
    #[inline]
    fn set_sole(&self, sole: Sole) {
        self.sole.store(sole.0, Ordering::Relaxed);
    }

    /// The work of an access that was [claimed](Self::claim) is queued. If another thread has recorded
    /// on the stream meanwhile, `point` may not cover it, and it is noted once more.
    #[inline]
    pub(crate) fn queued(&self, stream: &CudaStream, mode: AccessMode, point: Point) {
        crate::turns::point("queued work before its claim is looked at");
        if !stream.timeline().is_open(point) {
            self.note(stream, mode);
        }
    }

    /// Notes an access that was queued on `stream` just now, without an order or after a claim whose
    /// point may not cover it.
    ///
    /// Only uses that this access comes after are forgotten for it: parts of the memory may be used
    /// on other streams at the same time, and were not waited for.
    #[cold]
    pub(crate) fn note(&self, stream: &CudaStream, mode: AccessMode) {
        crate::turns::point("a note of queued work");
        let timeline = stream.timeline();
        let mut uses = self.lock();
        // Under the lock, so that of two uses on one stream the later point is noted last.
        let point = timeline.open_point();
        match mode {
            AccessMode::Write => {
                uses.reads.retain(|read| !timeline.implies(*read));
                uses.writes.retain(|write| !timeline.implies(*write));
                uses.writes.push(point);
                let is_sole = uses.writes.len() == 1;
                let sole = if is_sole { Sole::write(point) } else { Sole::NONE };
                self.set_sole(if uses.reads.is_empty() { sole } else { sole.and_read() });
            }
            AccessMode::Read => {
                uses.reads.replace(point);
                self.set_sole(self.sole().and_read());
            }
        }
    }

    fn check_platform(&self, stream: &CudaStream) -> Result<()> {
        if self.platform == stream.timeline().platform() {
            return Ok(());
        }
        Err(Error::foreign("memory"))
    }

    /// Refuses a stream of another platform or device.
    pub(crate) fn check(&self, stream: &CudaStream, what: &str) -> Result<()> {
        self.check_platform(stream)?;
        if self.device == stream.device() { Ok(()) } else { Err(self.elsewhere(stream, what)) }
    }

    #[cold]
    fn elsewhere(&self, stream: &CudaStream, what: &str) -> Error {
        let (memory, stream) = (self.device, stream.device());
        Error::WrongDevice { what: what.to_owned(), memory, stream }
    }

    /// Whether work queued on `timeline` now comes after all uses anyway.
    pub(super) fn is_ordered_before(&mut self, timeline: &Timeline) -> bool {
        let is_implied = |point| timeline.implies(point);
        let Uses { writes, reads } = self.uses_mut();
        reads.all(is_implied) && writes.all(is_implied)
    }

    /// Whether each use is known to be complete, or comes earlier on `timeline`.
    pub(super) fn is_known_complete(&mut self, timeline: &Timeline, table: &StreamTable) -> bool {
        let is_known = |point| timeline.implies(point) || table.is_known_complete(point);
        let Uses { writes, reads } = self.uses_mut();
        reads.all(is_known) && writes.all(is_known)
    }

    /// The uses that `timeline` does not come after.
    pub(super) fn waited_for_by(&mut self, timeline: &Timeline) -> SmallVec<[Point; 4]> {
        let Uses { writes, reads } = self.uses_mut();
        writes.iter().chain(reads.iter()).filter(|point| !timeline.implies(*point)).collect()
    }

    /// Notes that `timeline` gives the block to a new owner, after [`retire`](Self::retire) if it had
    /// one before: what that owner queues anywhere comes after what `timeline` came after.
    pub(super) fn allocated_on(&mut self, timeline: &Timeline) {
        let point = timeline.open_point();
        self.uses_mut().only(point);
        *self.sole.get_mut() = Sole::write(point).0;
    }

    /// Makes `timeline` wait for all uses.
    pub(super) fn retire(&mut self, timeline: &Timeline, table: &StreamTable) -> Result<()> {
        self.uses_mut().wait_for_all(timeline, table)
    }

    /// Records the uses on other streams than `home` that no record covers yet, so that a later wait
    /// for them waits for no more than them.
    pub(super) fn close_uses(&mut self, table: &StreamTable, home: u32) -> Result<()> {
        let Uses { writes, reads } = self.uses_mut();
        let close = |point: Point| {
            if point.stream() == home { Ok(()) } else { Ok(table.close(point)?) }
        };
        writes.try_for_each(close)?;
        reads.try_for_each(close)
    }

    /// Whether the host may touch the memory now: to read it all writes must be complete, to write
    /// it all reads as well.
    pub(super) fn is_complete(&self, table: &StreamTable, mode: AccessMode) -> Result<bool> {
        for point in self.in_the_way(mode) {
            if !table.is_complete(point)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Blocks until the host may touch the memory, and looks at what kernels have reported.
    pub(super) fn synchronize(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.wait(table, mode)?;
        table.inspect(self.device)
    }

    /// Blocks until the host may touch the memory.
    pub(super) fn wait(&self, table: &StreamTable, mode: AccessMode) -> Result<()> {
        self.in_the_way(mode).into_iter().try_for_each(|point| Ok(table.synchronize(point)?))
    }

    /// A copy, so that no lock is held while the host waits.
    fn in_the_way(&self, mode: AccessMode) -> SmallVec<[Point; 5]> {
        let uses = self.lock();
        match mode {
            AccessMode::Read => uses.writes.iter().collect(),
            AccessMode::Write => uses.writes.iter().chain(uses.reads.iter()).collect(),
        }
    }

    /// Without a lock: free blocks have one owner.
    fn uses_mut(&mut self) -> &mut Uses {
        self.uses.get_mut()
    }

    fn lock(&self) -> Held<'_, Uses> {
        self.uses.lock()
    }
}

impl Uses {
    #[inline]
    fn order(&self, stream: &CudaStream, mode: AccessMode) -> Result<()> {
        let (timeline, table) = (stream.timeline(), stream.table());
        match mode {
            AccessMode::Write => self.wait_for_all(timeline, table),
            AccessMode::Read => self.writes.try_for_each(|it| timeline.wait(table, it)),
        }
    }

    /// A write that comes after all other uses.
    fn only(&mut self, point: Point) {
        self.reads.clear();
        self.writes.clear();
        self.writes.push(point);
    }

    /// Makes `timeline` wait for all uses, the latest first: who has waited for a use need not wait for what
    /// that came after. A read comes after the writes, and perhaps after earlier reads.
    #[inline(always)]
    fn wait_for_all(&self, timeline: &Timeline, table: &StreamTable) -> Result<()> {
        self.reads.try_for_each(|read| timeline.wait(table, read))?;
        self.writes.try_for_each(|write| timeline.wait(table, write))
    }
}
