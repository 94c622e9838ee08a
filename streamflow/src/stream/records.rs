//! The part of a stream that several threads use: the number of its records, and the [ring](super::ring) with the latest
//! ones. This file calls no driver: each driver call is a parameter, so [models](crate::sync) can execute the file.
//! [`order`](super::order) has the rules that are cited here.

use super::record::{Record, Snapshot};
use super::ring::Ring;
use super::seen::{Complete, Seen};
use crate::lock::{Held, Lock};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use std::hint::cold_path;

/// The records of one stream.
// The order of the fields: each use of memory reads the first word, which shares a cache line with the stream's handle.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Records {
    /// The number of records that were begun, with the bit [`OPEN`] below it.
    state: AtomicU64,
    /// What the host has found complete on this stream.
    pub(super) complete: Complete,
    /// Whether the stream was an external one and may be destroyed. Nothing is queued on a detached stream any more,
    /// and its last record covers all its work.
    detached: AtomicBool,
    /// Whether a record was begun and is not made yet. Changed only under the lock of the ring.
    recording: AtomicBool,
    /// The latest records. A thread holds this lock while it records the stream.
    ring: Lock<Ring>,
}

/// The lowest bit of a stream's state: whether a point was taken since the last record. The bits above it are the
/// number of records.
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

    /// Returns the number of the record that covers all work queued before this call. By rule 1, a caller takes it
    /// *after* it has queued the work.
    #[inline]
    pub(super) fn open(&self) -> u64 {
        let state = self.state.load(Ordering::Acquire);
        // Fast path: a point was taken since the last record, so the bit is set already.
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

    /// Begins the next record and returns its number: no point that was taken before has a higher number. The caller
    /// holds the ring's lock.
    fn begin(&self) -> u64 {
        let number = self.recorded() + 1;
        // By rule 2, the number is raised before the driver records.
        self.state.swap(number << 1, Ordering::AcqRel);
        number
    }

    /// Begins a record without an event, for all work that was queued so far, and returns its number. No event is needed,
    /// because the caller then blocks until that work is complete.
    pub(super) fn number_without_event(&self) -> u64 {
        let _ring = self.lock();
        let number = self.begin();
        // A fence between the number and the driver's call, by rule 2.
        fence(Ordering::SeqCst);
        number
    }

    /// Makes a record if a point was taken since the last one. If another thread has begun that record, waits until it is
    /// made. Later waits for such points then wait for no later work. `call` records the event of a slot.
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
        // Another thread may have recorded the stream since the first check.
        if self.is_open() {
            self.record_locked(&mut ring, seen, call)?;
        }
        Ok(())
    }

    /// [`close`](Self::close) for a thread that need not own the stream: another thread may queue work on the stream at
    /// the same time.
    pub(super) fn close_beside<E>(
        &self,
        seen: &Seen,
        record: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close(seen, |slot| {
            // A fence, by rule 2: another thread may queue work on the stream at the same time.
            fence(Ordering::SeqCst);
            record(slot)
        })
    }

    /// Whether record `number` was begun, and no thread is making a record now. The record is then made, or has failed.
    #[inline]
    pub(super) fn is_made(&self, number: u64) -> bool {
        number <= self.recorded() && !self.recording.load(Ordering::Acquire)
    }

    /// Waits until every record that was begun before this call is made. Such a record covers no work that is queued
    /// after this call.
    #[inline]
    pub(super) fn wait_for_record(&self) {
        if self.recording.load(Ordering::Acquire) {
            crate::turns::point("another thread makes a record");
            drop(self.lock());
        }
    }

    /// Makes a record of all work that was queued so far, and returns its number. `call` records the event of a slot.
    /// Returns `None` for a detached stream whose last work no record covers.
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
            // Nothing was queued since the last record. If that record failed, none covers the last work.
            let last = self.recorded();
            return Ok(ring.holds(last).then_some(last));
        }
        // The flag is stored before the number, because the number tells other threads that the record was begun.
        self.recording.store(true, Ordering::Release);
        let number = self.begin();
        crate::turns::point("a record has its number, and is not made yet");
        // By rule 2, the clock is copied before the driver records: the record does not cover a wait that is queued later.
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

    /// The slot of a record, if the ring still holds it.
    pub(super) fn slot_of(&self, number: u64) -> Option<usize> {
        self.lock().slot_of(number)
    }

    /// Whether a record was begun and is no longer in the ring, and the stream may make later ones.
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

    /// Makes a record on an event outside of the ring, for which no stream waits. The record gets the number of the
    /// latest record that was begun, and no new number: a point that was taken since then still gets a record in the ring
    /// when its stream is [closed](Self::close). Returns `None` for a detached stream, whose last record is in the ring.
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

    /// Finds the record that covers record `number`. If there is none yet, calls `prepare` and makes one. Returns
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
        // Fast path: the hook that queued the work has ended, and its end has made the record.
        if ring.covering(number, found) {
            return Ok(true);
        }
        self.make_covering(&mut ring, found, seen, prepare, call)
    }

    /// The slow path of [`covering`](Self::covering). It is not inlined, to keep the stack frame of the fast path small.
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
            // A fence, by rule 2: another thread may queue work on the stream at the same time.
            fence(Ordering::SeqCst);
            call(slot)
        })?;
        Ok(made.is_some_and(|number| ring.covering(number, found)))
    }

    /// Whether the stream was an external one and may be destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Makes the last record, and marks the stream as detached under the same lock: no thread records it afterwards (rule
    /// 6). Returns `None` in the same case as [`record`](Self::record).
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

    /// Marks the stream as detached, also if [`detach`](Self::detach) has failed. If the last work is neither recorded
    /// nor waited for (`is_covered` is `false`), begins a record without an event, so that no record in the ring counts
    /// as covering that work.
    pub(super) fn set_detached(&self, is_covered: bool) {
        let _ring = self.lock();
        if !is_covered {
            self.begin();
        }
        self.detached.store(true, Ordering::Release);
    }

    /// Makes a detached stream usable again, after its last record: `wait` makes the stream wait for the event of a slot.
    pub(super) fn reattach<E>(&self, wait: impl FnOnce(usize) -> Result<(), E>) -> Result<(), E> {
        let ring = self.lock();
        if let Some(last) = ring.latest_slot() {
            wait(last)?;
        }
        self.detached.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the entries that record `number` covers, if the ring still holds that record. The entries of a later
    /// record would be wrong: it covers more.
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
