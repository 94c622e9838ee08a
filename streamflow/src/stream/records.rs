//! The part of a stream that several threads use: the number of its records, and the [ring](super::ring) of its latest records.
//! This file calls no driver, since its functions get each driver call as a parameter. So loom [models](crate::sync) can execute
//! the file. The rules cited here are those of [`order`](super::order).

use super::record::{Record, Snapshot};
use super::ring::Ring;
use super::seen::{Complete, Seen};
use crate::lock::{Held, Lock};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use std::hint::cold_path;

/// The records of one stream.
// The first field is in the cache line of the stream's handle, since each use of memory reads both.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Records {
    /// The number of records that were begun, shifted left by one bit; the lowest bit is [`OPEN`].
    state: AtomicU64,
    /// The latest record of this stream that the host has found complete.
    pub(super) complete: Complete,
    /// Whether the stream is a detached external stream, which its owner may have destroyed. Nothing is queued on it any more,
    /// and its last record covers all its work.
    detached: AtomicBool,
    /// Whether a thread has begun a record, and the driver has not recorded it yet. Changed only under the lock of the ring.
    recording: AtomicBool,
    /// The latest records. A thread holds this lock while it records an event on the stream.
    ring: Lock<Ring>,
}

/// The lowest bit of `Records::state`: set if a point was taken since the last record. The other bits are the number of records.
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

    /// How many records were begun, those included that failed.
    #[inline]
    pub(super) fn recorded(&self) -> u64 {
        self.state.load(Ordering::Acquire) >> 1
    }

    /// Returns the number of the next record, which covers all work queued before this call. By rule 1, a caller takes the number
    /// *after* it has queued the work.
    #[inline]
    pub(super) fn open(&self) -> u64 {
        let state = self.state.load(Ordering::Acquire);
        // Fast path: another point was taken since the last record, so the bit is set already.
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

    /// Begins the next record and returns its number. Every point that was taken before has this number or a lower one. The
    /// caller holds the ring's lock.
    fn begin(&self) -> u64 {
        let number = self.recorded() + 1;
        // By rule 2, the number is raised before the driver records.
        self.state.swap(number << 1, Ordering::AcqRel);
        number
    }

    /// Begins a record without an event, for all work that was queued so far, and returns the record's number. No event is
    /// needed, because the caller then blocks until that work is complete.
    pub(super) fn number_without_event(&self) -> u64 {
        let _ring = self.lock();
        let number = self.begin();
        // By rule 2, a fence is needed between the raised number and the driver's call.
        fence(Ordering::SeqCst);
        number
    }

    /// Makes a record if a point was taken since the last record. If another thread has begun that record, waits until the record
    /// is made. So a later wait for such a point does not wait for work queued after this call. `call` records the event of a
    /// slot.
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
        // Another thread may have made a record between the first check and the lock.
        if self.is_open() {
            self.record_locked(&mut ring, seen, call)?;
        }
        Ok(())
    }

    /// Does the same as [`close`](Self::close), for a thread that does not own the stream: the owner may queue work at the same
    /// time.
    pub(super) fn close_beside<E>(
        &self,
        seen: &Seen,
        record: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close(seen, |slot| {
            // By rule 2, a fence is needed, since another thread may queue work on the stream at the same time.
            fence(Ordering::SeqCst);
            record(slot)
        })
    }

    /// Whether record `number` was begun, and no thread is making a record now: the record was then made, or has failed.
    #[inline]
    pub(super) fn is_made(&self, number: u64) -> bool {
        number <= self.recorded() && !self.recording.load(Ordering::Acquire)
    }

    /// Waits until every record that was begun before this call is made. These records cover no work that is queued after this
    /// call.
    #[inline]
    pub(super) fn wait_for_record(&self) {
        if self.recording.load(Ordering::Acquire) {
            crate::turns::point("another thread makes a record");
            drop(self.lock());
        }
    }

    /// Makes a record of all work that was queued so far, and returns the record's number. `call` records the event of a slot.
    /// Returns `None` for a detached stream if its last record failed, so that no record covers its last work.
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
            // Nothing is queued on a detached stream after its last record, since it was given back to its owner. If that record
            // failed, no record covers the last work.
            let last = self.recorded();
            return Ok(ring.holds(last).then_some(last));
        }
        // The flag is set before the number is raised, since threads that see the new number then check the flag.
        self.recording.store(true, Ordering::Release);
        let number = self.begin();
        crate::turns::point("a record has its number, and is not made yet");
        // By rule 2, the clock is copied before the driver records, so that the record does not cover a wait that is queued
        // later.
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

    /// Returns the slot of a record, if the ring still has the record.
    pub(super) fn slot_of(&self, number: u64) -> Option<usize> {
        self.lock().slot_of(number)
    }

    /// Whether a record was begun and is not in the ring any more. `false` for a detached stream, which makes no more records.
    pub(super) fn is_overwritten(&self, number: u64) -> bool {
        if number > self.recorded() || self.is_detached() {
            return false;
        }
        let mut ring = self.lock();
        let is_overwritten = !ring.holds(number);
        if is_overwritten {
            ring.grow_if_needed(number, self.recorded());
        }
        is_overwritten
    }

    /// Makes a record on an event outside of the ring. No stream waits for this event. The record gets the number of the latest
    /// record that was begun, not a new number. So if a point was taken since then, [`close`](Self::close) still makes a record
    /// in the ring for it. Returns `None` for a detached stream, whose last record is in the ring.
    pub(super) fn record_outside_the_ring<E>(
        &self,
        seen: &Seen,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Record>, E> {
        let _ring = self.lock();
        if self.is_detached() {
            return Ok(None);
        }
        // By rule 2, the clock is copied before the driver records.
        let mut record = Record { number: self.recorded(), ..Record::default() };
        seen.snapshot(&mut record.covered);
        call()?;
        Ok(Some(record))
    }

    /// Finds a record that covers record `number`, and writes it to `found`. If there is none, calls `prepare` and makes a
    /// record. Returns `false` where [`record`](Self::record) returns `None`.
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
        // Fast path: the hook that queued the work has ended, and the record was made at its end.
        if ring.covering(number, found) {
            return Ok(true);
        }
        self.make_covering(&mut ring, found, seen, prepare, call)
    }

    /// The slow path of [`covering`](Self::covering). It is a separate function, so that the fast path has a small stack frame.
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
            // By rule 2, a fence is needed, since another thread may queue work on the stream at the same time.
            fence(Ordering::SeqCst);
            call(slot)
        })?;
        Ok(made.is_some_and(|number| ring.covering(number, found)))
    }

    /// Whether the stream is a detached external stream, which its owner may have destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Makes the last record of an external stream, and marks the stream as detached under the same lock: no thread records the
    /// stream afterwards (rule 6). Returns `None` where [`record`](Self::record) returns `None`.
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

    /// Marks the stream as detached, also if [`detach`](Self::detach) has failed. `is_covered` is `false` if the last work was
    /// neither recorded nor waited for. Then a record without an event is begun, so that no record in the ring counts as covering
    /// that work.
    pub(super) fn set_detached(&self, is_covered: bool) {
        let _ring = self.lock();
        if !is_covered {
            self.begin();
        }
        self.detached.store(true, Ordering::Release);
    }

    /// Makes a detached stream usable again. `wait` makes the stream wait for its last record, by the event of a slot.
    pub(super) fn reattach<E>(&self, wait: impl FnOnce(usize) -> Result<(), E>) -> Result<(), E> {
        let ring = self.lock();
        if let Some(last) = ring.latest_slot() {
            wait(last)?;
        }
        self.detached.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the entries that record `number` covers, if the ring still has that record. A later record's entries would be
    /// wrong, since a later record covers more.
    pub(super) fn covered_by(&self, number: u64) -> Option<Snapshot> {
        let mut ring = self.lock();
        let covered = ring.record_of(number).map(|record| record.covered);
        if covered.is_none() {
            ring.grow_if_needed(number, self.recorded());
        }
        covered
    }

    fn lock(&self) -> Held<'_, Ring> {
        self.ring.lock()
    }
}
