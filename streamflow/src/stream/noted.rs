//! Waits that were asked for and are not issued yet.
//!
//! An operator may receive an old message, and then one that comes after it: the second wait implies the
//! first, and when the first is asked for nobody can know. So such waits are noted, and issued when work is
//! about to be queued: the latest first, and those not at all that are implied by then.
//!
//! They are kept with the handle that asked, which one thread has, and so need no lock. They are issued
//! before anything is queued through that handle, asked of it or recorded, and before anybody is given a
//! point that should cover them (a message is emitted, memory is claimed). So no point stands for a wait that
//! is only noted, and who records on the stream by itself, perhaps another thread, need not know of them.
//!
//! Where work can be queued that does not pass here, waits are issued at once: on default streams, on
//! streams of others, and on those whose raw handle was asked for. Likewise for operators that receive one
//! message in a tick, whose wait no other can imply, and by who queues work next, as a launch that waits for what
//! its arguments must come after.
//!
//! # Locks
//!
//! To issue a wait takes the ring of the stream that is waited for, as always, and records there if nobody has;
//! to ask whether one implies another takes the ring of the first. No two rings are held at once, and nothing of
//! this is done under a lock of memory.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{CudaStream, Point};
use crate::driver::{DriverError, DriverResult};
use crate::error::{Error, Result};
use crate::lock::Lock;

/// How many waits are kept; before one more is, they are issued.
const ROOM: usize = 8;

/// The waits that were noted with one handle of a stream. One thread has it, so that these are cells; as
/// atomics, which cost the same, they leave it to the handle to say why it is not shared.
pub(super) struct Noted {
    /// The first so many are there, in the order in which they were noted.
    count: AtomicUsize,
    waits: [Wait; ROOM],
    /// Nothing is noted any more.
    at_once: AtomicBool,
    /// Why the waits could not be issued when the raw handle was asked for, and whether there is such an
    /// error: to take it costs more than to look.
    failed: Lock<Option<DriverError>>,
    has_failed: AtomicBool,
}

/// For which record of which stream.
struct Wait {
    stream: AtomicU32,
    epoch: AtomicU64,
}

impl Noted {
    pub(super) fn new(at_once: bool) -> Self {
        let none = || Wait { stream: AtomicU32::new(0), epoch: AtomicU64::new(0) };
        Self {
            count: AtomicUsize::new(0),
            waits: std::array::from_fn(|_| none()),
            at_once: AtomicBool::new(at_once),
            failed: Lock::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    fn count(&self) -> usize {
        self.count.load(Relaxed)
    }
}

impl CudaStream {
    /// Makes work that is queued through this handle from now on wait for `point`, which is recorded. As
    /// [`wait`](Self::wait), but the driver is told when that work is queued. The device must be bound.
    #[inline]
    pub(crate) fn wait_before_work(&self, point: Point) -> Result<()> {
        if !self.timeline.is_of(point) {
            return Err(Error::foreign("a point"));
        }
        if self.timeline.implies(point) {
            return Ok(());
        }
        let Noted { count, waits, at_once, .. } = &self.noted;
        match waits.get(self.noted.count()) {
            Some(free) if !at_once.load(Relaxed) => {
                free.stream.store(point.stream(), Relaxed);
                free.epoch.store(point.epoch(), Relaxed);
                count.store(self.noted.count() + 1, Relaxed);
                Ok(())
            }
            _ => self.issue(point),
        }
    }

    #[inline(never)]
    fn issue(&self, point: Point) -> Result<()> {
        self.issue_noted()?;
        Ok(self.timeline.wait_for(&self.table, point)?)
    }

    /// From now on waits are issued at once: for who asks for no more than one before it queues work.
    pub(crate) fn wait_at_once(&self) {
        self.noted.at_once.store(true, Relaxed);
    }

    /// Whether work queued through this handle now will come after `point`, which is one of this platform.
    pub(crate) fn will_imply(&self, point: Point) -> bool {
        self.timeline.implies(point) || self.is_implied_by_first(self.noted.count(), point)
    }

    fn noted_point(&self, index: usize) -> Point {
        let Wait { stream, epoch } = &self.noted.waits[index % ROOM];
        self.timeline.point_on(stream.load(Relaxed), epoch.load(Relaxed))
    }

    /// Whether one of the first `count` waits that were noted implies one for `point`.
    fn is_implied_by_first(&self, count: usize, point: Point) -> bool {
        (0..count).any(|index| {
            let noted = self.noted_point(index);
            if noted.stream() == point.stream() {
                return noted.epoch() >= point.epoch();
            }
            let other = self.table.timeline(noted.stream());
            // Nearly never, and else its record is asked: this counts what it waited for since.
            other.implies(point) && other.record_implies(noted.epoch(), point)
        })
    }

    /// To be called before work is queued through this handle, and before anybody is given a point that
    /// covers such work.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        let is_ready = self.noted.count() == 0 && self.timeline.is_ready();
        if is_ready { Ok(()) } else { self.get_ready() }
    }

    #[inline(never)]
    fn get_ready(&self) -> DriverResult<()> {
        self.timeline.ready()?;
        self.issue_noted()
    }

    /// Issues the waits that were noted. Those that fail stay noted.
    #[inline]
    pub(crate) fn issue_noted(&self) -> DriverResult<()> {
        if self.noted.count() == 0 { Ok(()) } else { self.issue_each() }
    }

    fn issue_each(&self) -> DriverResult<()> {
        self.kept_failure()?;
        let noted = self.noted.count();
        let mut is_one_left_out = false;
        for before in (1..noted).rev() {
            let point = self.noted_point(before);
            if self.timeline.implies(point) {
                // Nothing to do.
            } else if self.is_implied_by_first(before, point) {
                is_one_left_out = true;
            } else {
                self.timeline.wait_for(&self.table, point)?;
            }
            self.noted.count.store(before, Relaxed);
        }
        let first = self.noted_point(0);
        if !self.timeline.implies(first) {
            self.timeline.wait_for(&self.table, first)?;
        }
        self.noted.count.store(0, Relaxed);
        if is_one_left_out {
            (0..noted).for_each(|index| self.timeline.comes_after(self.noted_point(index)));
        }
        Ok(())
    }

    /// The error that [`share`](Self::share) kept, once.
    #[inline]
    pub(crate) fn kept_failure(&self) -> DriverResult<()> {
        if self.noted.has_failed.load(Relaxed) { self.take_failure() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn take_failure(&self) -> DriverResult<()> {
        self.noted.has_failed.store(false, Relaxed);
        self.noted.failed.lock().take().map_or(Ok(()), Err)
    }

    /// To be called before others get the raw handle, who may queue work from then on.
    pub(super) fn share(&self) {
        self.wait_at_once();
        if let Err(failed) = self.issue_noted() {
            *self.noted.failed.lock() = Some(failed);
            self.noted.has_failed.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
