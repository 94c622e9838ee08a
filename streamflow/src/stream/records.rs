//! The part of a stream that threads share: the number of its records, and the [ring](super::ring) with the latest
//! ones. This file makes no driver call by itself: each one is a parameter, so [models](crate::sync) can execute the
//! file. [`order`](super::order) has the rules that are cited here.

use super::record::{Record, Snapshot};
use super::ring::Ring;
use super::seen::{Complete, Seen};
use crate::lock::{Held, Lock};
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};
use std::hint::cold_path;

/// The records of one stream.
// Fields in this order: the first word is read at each use of memory, and shares a cache line with the stream's handle.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Records {
    /// The number of records that were begun, and the bit [`OPEN`].
    state: AtomicU64,
    /// The knowledge of the host about the stream.
    pub(super) complete: Complete,
    /// Whether the stream was an external one and may be destroyed. Nothing is queued on a detached stream any more,
    /// and its last record covers all its work.
    detached: AtomicBool,
    /// Whether a record was begun and is not made yet. Changed under the lock of the ring.
    recording: AtomicBool,
    /// The latest records. A thread records the stream only with this lock held.
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
        // By rule 2, the number is raised before the driver records.
        self.state.swap(number << 1, Ordering::AcqRel);
        number
    }

    /// Begins a record without an event, for all work that was queued so far, and returns its number. The caller then
    /// blocks until that work is complete, so no event is needed.
    pub(super) fn number_without_event(&self) -> u64 {
        let _ring = self.lock();
        let number = self.begin();
        // By rule 2.
        fence(Ordering::SeqCst);
        number
    }

    /// Makes a record if a point was taken since the last one, or waits until another thread has made the record that
    /// it has begun. Later waits for such points then wait for no later work. `call` records the event of a slot.
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

    /// [`close`](Self::close) for a thread that need not own the stream: another thread may queue work on it meanwhile.
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

    /// Whether record `number` was begun, and no record is under way. Such a record is made, or has failed.
    #[inline]
    pub(super) fn is_made(&self, number: u64) -> bool {
        number <= self.recorded() && !self.recording.load(Ordering::Acquire)
    }

    /// Waits until each record that was begun before this call is made. Such a record covers no work that is queued
    /// afterwards.
    #[inline]
    pub(super) fn wait_for_record(&self) {
        if self.recording.load(Ordering::Acquire) {
            crate::turns::point("another thread makes a record");
            drop(self.lock());
        }
    }

    /// Makes a record of all work that was queued so far, and returns its number; `None` for a detached stream, if no
    /// record covers its last work. `call` records the event of a slot.
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
        // Stored before the number, because the number tells other threads that the record was begun.
        self.recording.store(true, Ordering::Release);
        let number = self.begin();
        crate::turns::point("a record has its number, and is not made yet");
        // By rule 2, the clock is copied before the driver records: a wait that is queued later is not covered.
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

    /// Whether a record was begun and is no longer in the ring, and the stream may still make later ones.
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

    /// Makes a record on an event outside of the ring. No stream waits for that event. The record has the number of the
    /// latest one that was begun, and begins no new number: a point that was taken since that one still gets a record
    /// in the ring when its stream is [closed](Self::close). `None` for a detached stream: its last record is in the
    /// ring.
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
        // Fast path: the record was made when its hook ended.
        if ring.covering(number, found) {
            return Ok(true);
        }
        self.make_covering(&mut ring, found, seen, prepare, call)
    }

    /// The slow path of [`covering`](Self::covering), not inlined: that keeps the stack frame of the fast path small.
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
    /// (rule 6). Returns `None` where [`record`](Self::record) does.
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

    /// Marks the stream as detached, also where [`detach`](Self::detach) has failed. If the last work is neither
    /// recorded nor waited for (`is_covered` is `false`), begins a record without an event: then no record in the ring
    /// covers that work.
    pub(super) fn set_detached(&self, is_covered: bool) {
        let _ring = self.lock();
        if !is_covered {
            self.begin();
        }
        self.detached.store(true, Ordering::Release);
    }

    /// Uses the stream again, after its last record. `wait` makes the stream wait for the event of a slot.
    pub(super) fn reattach<E>(&self, wait: impl FnOnce(usize) -> Result<(), E>) -> Result<(), E> {
        let ring = self.lock();
        if let Some(last) = ring.latest_slot() {
            wait(last)?;
        }
        self.detached.store(false, Ordering::Release);
        Ok(())
    }

    /// The entries that a record covers, if the ring still holds it. A later record in its place would not do: it
    /// covers more.
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
