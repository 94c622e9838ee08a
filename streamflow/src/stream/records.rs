//! The part of a stream that threads share: the number of its records, and the [ring](super::ring) with the latest ones. It
//! calls no driver: each call is a parameter, so that [models](crate::sync) can execute it. [`order`](super::order) has
//! the rules that are cited here.

use super::record::{Record, Snapshot};
use super::ring::Ring;
use super::seen::{Complete, Seen};
use crate::lock::{Held, Lock};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use std::hint::cold_path;

/// The records of one stream.
// In this order: the first word is read at each use of memory, and shares a cache line with the stream's handle.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Records {
    /// How many records were begun, and whether a point was taken since the last one.
    state: AtomicU64,
    /// The knowledge of the host about the stream.
    pub(super) complete: Complete,
    /// The stream was an external one and may be destroyed: nothing is queued on it any more, and the last record
    /// covers all that was.
    detached: AtomicBool,
    /// A record was begun, and is not made yet. Changed under the lock of the ring.
    recording: AtomicBool,
    /// Holding this lock permits recording.
    ring: Lock<Ring>,
}

/// The lowest bit of a stream's state: a point was taken since the last record. The bits above it are the number of
/// records.
const OPEN: u64 = 1;

impl Records {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            complete: Complete::new(),
            detached: AtomicBool::new(false),
            recording: AtomicBool::new(false),
            ring: Lock::default(),
        }
    }

    /// How many records were begun.
    #[inline]
    pub(super) fn recorded(&self) -> u64 {
        self.state.load(Ordering::Acquire) >> 1
    }

    /// The number of the record that covers all work queued before this call. By rule 1, to be taken *after* the work
    /// was queued.
    #[inline]
    pub(super) fn open(&self) -> u64 {
        let state = self.state.load(Ordering::Acquire);
        // Fast path: a point was already taken since the last record.
        let state = match state & OPEN {
            0 => {
                cold_path();
                self.state.fetch_or(OPEN, Ordering::AcqRel)
            }
            _ => state,
        };
        (state >> 1) + 1
    }

    /// Whether a point was taken since the last record.
    fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) & OPEN != 0
    }

    /// Begins the next record and returns its number: every point that was taken before has at most this number. The
    /// ring is locked.
    fn begin(&self) -> u64 {
        let number = self.recorded() + 1;
        // By rule 2, before the driver records.
        self.state.swap(number << 1, Ordering::AcqRel);
        number
    }

    /// A record number without an event, for all that was queued so far: only where the host is about to wait for it.
    pub(super) fn number_without_event(&self) -> u64 {
        let _ring = self.lock();
        let number = self.begin();
        // By rule 2.
        fence(Ordering::SeqCst);
        number
    }

    /// Makes a record if a point was taken since the last one. Later waits for such points then wait for no later work:
    /// also if another thread has begun that record, which is made when this returns. `call` records the event of a slot.
    pub(super) fn close<E>(
        &self,
        seen: &Seen,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.is_open() {
            self.wait_for_record();
            return Ok(());
        }
        crate::turns::point("a record is due, and the ring is not locked yet");
        let mut ring = self.lock();
        // Another thread may have recorded the stream meanwhile.
        if self.is_open() {
            self.record_locked(&mut ring, seen, call)?;
        }
        Ok(())
    }

    /// As [`close`](Self::close), on a thread that may not have the stream.
    pub(super) fn close_beside<E>(
        &self,
        seen: &Seen,
        record: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close(seen, |slot| {
            // By rule 2: another thread may queue work of the stream meanwhile.
            fence(Ordering::SeqCst);
            record(slot)
        })
    }

    /// Whether a record was begun, and no record is under way: it is made, or has failed.
    #[inline]
    pub(super) fn is_made(&self, number: u64) -> bool {
        number <= self.recorded() && !self.recording.load(Ordering::Acquire)
    }

    /// Waits until each record that was begun before is made: it covers no work that is queued after this call.
    #[inline]
    pub(super) fn wait_for_record(&self) {
        if self.recording.load(Ordering::Acquire) {
            crate::turns::point("another thread makes a record");
            drop(self.lock());
        }
    }

    /// Makes a record of all that was queued so far, and returns its number. `None` for a detached stream whose last work
    /// no record covers. `call` records the event of a slot.
    pub(super) fn record<E>(
        &self,
        seen: &Seen,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        self.record_locked(&mut self.lock(), seen, call)
    }

    fn record_locked<E>(
        &self,
        ring: &mut Ring,
        seen: &Seen,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        if self.is_detached() {
            // Nothing was queued since the last record. If that one failed, no record covers the last work.
            let last = self.recorded();
            return Ok(ring.holds(last).then_some(last));
        }
        // Before the number, by which other threads see that it was begun.
        self.recording.store(true, Ordering::Release);
        let number = self.begin();
        crate::turns::point("a record has its number, and is not made yet");
        // By rule 2, before the driver records: a wait that is queued later is not covered.
        let slot = ring.clear(number);
        seen.snapshot(ring.covered(slot));
        if let Err(error) = call(slot) {
            self.recording.store(false, Ordering::Release);
            return Err(error);
        }
        self.recording.store(false, Ordering::Release);
        crate::turns::point("a record is made, and it is not in its slot yet");
        ring.set(number, slot);
        Ok(Some(number))
    }

    /// The slot of the record, if an event of the ring holds it.
    pub(super) fn slot_of(&self, number: u64) -> Option<usize> {
        self.lock().slot_of(number)
    }

    /// Whether the record was begun, and is not in the ring, while later ones may be.
    pub(super) fn is_overwritten(&self, number: u64) -> bool {
        if number > self.recorded() || self.is_detached() {
            return false;
        }
        let mut ring = self.lock();
        let is_overwritten = !ring.holds(number);
        if is_overwritten {
            ring.note_missing(number, self.recorded());
        }
        is_overwritten
    }

    /// Makes one more record of what the records that were begun cover, on an event that is not in the ring, so that no
    /// stream waits for it. It has the number of the latest of these: it begins none, so that a point that was taken since
    /// then still gets a record in the ring, when its stream is [closed](Self::close). `None` for a detached stream, whose
    /// last record is in the ring.
    pub(super) fn record_outside_the_ring<E>(
        &self,
        seen: &Seen,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Record>, E> {
        let _ring = self.lock();
        if self.is_detached() {
            return Ok(None);
        }
        // By rule 2, before the driver records.
        let mut record = Record { number: self.recorded(), ..Record::default() };
        seen.snapshot(&mut record.covered);
        call()?;
        Ok(Some(record))
    }

    /// Finds the record that covers record `number`. If there is none yet, it is made, after a call of `prepare`. Returns
    /// `false` where [`record`](Self::record) returns `None`.
    #[inline]
    pub(super) fn covering<E>(
        &self,
        number: u64,
        found: &mut Record,
        seen: &Seen,
        prepare: impl FnOnce() -> Result<(), E>,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut ring = self.lock();
        // Fast path: it was made when its hook ended.
        if ring.covering(number, found) {
            return Ok(true);
        }
        self.make_covering(&mut ring, found, seen, prepare, call)
    }

    /// Apart from its only caller, whose variables it would make more.
    #[inline(never)]
    fn make_covering<E>(
        &self,
        ring: &mut Ring,
        found: &mut Record,
        seen: &Seen,
        prepare: impl FnOnce() -> Result<(), E>,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        prepare()?;
        let made = self.record_locked(ring, seen, |slot| {
            // By rule 2: another thread may queue work of the stream meanwhile.
            fence(Ordering::SeqCst);
            call(slot)
        })?;
        Ok(made.is_some_and(|number| ring.covering(number, found)))
    }

    /// Whether the stream was an external one and may be destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Makes the last record, and marks the stream as detached under the same lock: no thread records it afterwards
    /// (rule 6). `None` as for [`record`](Self::record).
    pub(super) fn detach<E>(
        &self,
        seen: &Seen,
        call: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        let mut ring = self.lock();
        let last = self.record_locked(&mut ring, seen, call)?;
        if last.is_some() {
            self.detached.store(true, Ordering::Release);
        }
        Ok(last)
    }

    /// Marks the stream as detached, after [`detach`](Self::detach) or where that failed. If the last work was not even
    /// waited for, a record without an event is begun: no record covers the work since the last one.
    pub(super) fn set_detached(&self, is_covered: bool) {
        let _ring = self.lock();
        if !is_covered {
            self.begin();
        }
        self.detached.store(true, Ordering::Release);
    }

    /// Uses the stream again. `wait` makes it wait for the event of a slot: for the last record.
    pub(super) fn reattach<E>(&self, wait: impl FnOnce(usize) -> Result<(), E>) -> Result<(), E> {
        let ring = self.lock();
        if let Some(last) = ring.latest_slot() {
            wait(last)?;
        }
        self.detached.store(false, Ordering::Release);
        Ok(())
    }

    /// The entries that a record covers, if it is still in the ring. A later record would cover more.
    pub(super) fn covered_by(&self, number: u64) -> Option<Snapshot> {
        let mut ring = self.lock();
        let covered = ring.record_of(number).map(|record| record.covered);
        if covered.is_none() {
            ring.note_missing(number, self.recorded());
        }
        covered
    }

    fn lock(&self) -> Held<'_, Ring> {
        self.ring.lock()
    }
}
