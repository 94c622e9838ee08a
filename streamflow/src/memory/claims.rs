//! The noted uses of one block, and the choice of the uses that a new access must come after. This file calls no driver:
//! callers pass the function that waits, so that the [models](crate::sync) can execute the file.
//!
//! Noting a read does not examine the writes, and the read's point is created in its final place. That saves 34
//! instructions of a read, counted by callgrind.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::last_write::PackedLastWrite;
use super::points::PointSet;
use crate::driver::AccessMode;
use crate::lock::Lock;
use crate::stream::{Ordered, Point};

/// The most waits that an access queues before it locks and reads the block's uses again.
#[cfg(not(loom))]
const WAITS: usize = 8;
#[cfg(loom)]
const WAITS: usize = 1;

/// The uses of one block.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Claims {
    last_write: PackedLastWrite,
    uses: Lock<Uses>,
}

/// The uses that later work must be ordered after: on each stream at most one read and one write.
#[derive(Debug, Default)]
struct Uses {
    /// The writes that are not known to come before a later write. The set has more than one write only if several streams
    /// write parts of the memory.
    writes: PointSet,
    /// The reads that are not known to come before a later write: the latest read of each stream, in the order in which the
    /// reads were noted.
    reads: PointSet,
}

impl Claims {
    pub(super) fn new() -> Self {
        Self { last_write: PackedLastWrite::none(), uses: Lock::default() }
    }

    /// Makes `stream` wait for the earlier uses that an access of this mode must come after: the writes, and if the access is a
    /// write, also the reads. The function `wait` makes the stream wait for a point.
    #[inline]
    pub(super) fn order<E>(
        &self,
        stream: &impl Ordered,
        mode: AccessMode,
        wait: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_ordered(stream, mode) { Ok(()) } else { self.order_locked(stream, mode, wait) }
    }

    /// Whether an access on `stream` is known, without a lock, to need no wait. This is so if the memory was allocated for this
    /// stream, or if the hook has received the stream of the message.
    #[inline]
    pub(super) fn is_ordered(&self, stream: &impl Ordered, mode: AccessMode) -> bool {
        self.last_write.is_before(stream, mode)
    }

    #[inline(never)]
    fn order_locked<E>(
        &self,
        stream: &impl Ordered,
        mode: AccessMode,
        mut wait: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            // The points are copied, because no lock is held while `wait` calls the driver. At most `WAITS` of them are copied at
            // a time, so that the copy needs no heap memory.
            let missing = self.missing_waits(stream, mode);
            missing.iter().try_for_each(|point| wait(*point))?;
            // The points are marked if the list is full, so that the next pass finds other points, or if the stream's clock has
            // forgotten some of these waits. Both are rare.
            if missing.is_full() || !missing.iter().all(|point| stream.implies(*point)) {
                self.uses.lock().mark(&missing, stream.id());
            }
            if !missing.is_full() {
                return Ok(());
            }
        }
    }

    /// Up to [`WAITS`] uses that an access of this mode must come after, and that the stream does not come after yet.
    fn missing_waits(&self, stream: &impl Ordered, mode: AccessMode) -> ArrayVec<Point, WAITS> {
        let uses = self.uses.lock();
        let id = stream.id();
        let reads = match mode {
            AccessMode::Read => None,
            AccessMode::Write => Some(uses.reads.not_waited_for_by(id)),
        };
        let all = reads.into_iter().flatten().chain(uses.writes.not_waited_for_by(id));
        all.filter(|point| !stream.implies(*point)).take(WAITS).collect()
    }

    /// Notes an access by work that was queued on `stream` just now (rules 1 and 4 of `stream::order`).
    #[inline]
    pub(super) fn note(&self, stream: &impl Ordered, mode: AccessMode) {
        match mode {
            AccessMode::Read => self.mark_read(stream),
            // Fast path of a write: the word already has a write at this point, and no read after it. So it is when the memory
            // was just allocated for this stream.
            AccessMode::Write if self.last_write.covers(stream.open_point()) => {}
            AccessMode::Write => self.mark_written(stream),
        }
    }

    #[inline(never)]
    fn mark_read(&self, stream: &impl Ordered) {
        let mut uses = self.uses.lock();
        uses.reads.replace_by(stream.id(), || stream.open_point());
        // The lock of `uses` is held, so no other thread changes the word at the same time. The word's write stays.
        self.last_write.mark_read();
    }

    #[inline(never)]
    fn mark_written(&self, stream: &impl Ordered) {
        let mut uses = self.uses.lock();
        let Uses { writes, reads } = &mut *uses;
        reads.forget(stream.id(), |read| stream.implies(read));
        writes.forget(stream.id(), |write| stream.implies(write));
        crate::turns::point("uses are forgotten, and the point is not taken yet");
        writes.replace(stream.open_point());
        self.last_write.mark_written(writes.only(), !reads.is_empty());
    }

    /// Whether a write of the block has failed. If so, each access takes the slow path.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.last_write.has_failed()
    }

    /// Notes that a write of the block has failed.
    pub(super) fn fail(&self) {
        let _uses = self.uses.lock();
        self.last_write.fail();
    }

    /// Forgets that a write has failed, so that accesses may take the fast path again.
    pub(super) fn forget_failure(&self) {
        let Uses { writes, reads } = &*self.uses.lock();
        self.last_write.set(writes.only(), !reads.is_empty());
    }

    /// Notes that the block has a new owner, and is allocated on `stream`. If the block had an owner before, `stream` has
    /// waited for all earlier uses. Work of the new owner on any stream then comes after everything that `stream` came after.
    pub(super) fn allocated_on(&mut self, stream: &impl Ordered) {
        let point = stream.open_point();
        let Uses { writes, reads } = self.uses.get_mut();
        reads.clear();
        writes.clear();
        writes.replace(point);
        self.last_write.set(Some(point), false);
    }

    /// Whether `holds` returns `true` for all uses.
    pub(super) fn all(&mut self, holds: impl Fn(Point) -> bool) -> bool {
        self.uses.get_mut().all(holds)
    }

    /// Visits all uses, the latest first, until `visit` returns an error. In this order a wait for one use often implies
    /// the wait for the next.
    pub(super) fn try_for_each<E>(
        &mut self,
        visit: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        self.uses.get_mut().try_for_each(visit)
    }

    /// The block's latest read, or its latest write if it has no reads. `None` for a block without uses.
    pub(super) fn latest(&mut self) -> Option<Point> {
        self.uses.get_mut().latest_first().next()
    }

    /// Adds the uses that `stream` does not come after to the list `to`.
    pub(super) fn add_unordered(&mut self, stream: &impl Ordered, to: &mut Vec<Point>) {
        let uses = self.uses.get_mut();
        to.extend(uses.latest_first().filter(|point| !stream.implies(*point)));
    }

    /// A copy of the uses that an access of this mode must come after. The caller then waits for them without a lock.
    pub(super) fn conflicting(&self, mode: AccessMode) -> SmallVec<[Point; 5]> {
        let uses = self.uses.lock();
        match mode {
            AccessMode::Read => uses.writes.latest_first().collect(),
            AccessMode::Write => uses.latest_first().collect(),
        }
    }
}

impl Uses {
    /// Marks the uses at these points as waited for by `stream`. A point that is no longer noted is ignored.
    fn mark(&mut self, points: &[Point], stream: u32) {
        self.reads.mark(points, stream);
        self.writes.mark(points, stream);
    }

    /// All uses, the latest first. In this order a wait for one use often implies the wait for the next: a read came
    /// after the writes, and perhaps after earlier reads.
    fn latest_first(&self) -> impl Iterator<Item = Point> {
        self.reads.latest_first().chain(self.writes.latest_first())
    }

    /// Visits all uses in the order of [`latest_first`](Self::latest_first), until `visit` returns an error.
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
