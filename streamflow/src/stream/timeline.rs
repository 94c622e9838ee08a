//! One stream and its records. The work that a hook queued on a stream gets one record when the hook ends
//! ([`Timeline::close`]): everything that the hook sends is complete with that record (law 8).
//!
//! Records of a stream are numbered from 1. A use of memory is noted with the number of the *next* record
//! (`open_point`), so one event covers all work that was queued before it, and no event is recorded unless another stream
//! or the host needs it. [`order`](super::order) makes the waits, and has the rules for this file.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::clock::Clock;
use super::ring::{self, Events, Record, Ring};
use super::{PlatformNumber, Point};
use crate::driver::{
    DeviceId, Driver, DriverError, DriverResult, Note, OwnedEvent, OwnedStream, RawStream, Signal,
    StreamOptions,
};
use crate::lock::{Held, Lock};

thread_local! {
    /// The device that a stream bound last on this thread. Other libraries may have bound another one since.
    static BOUND: Cell<Option<(PlatformNumber, DeviceId)>> = const { Cell::new(None) };
}

/// One stream and its records. See the [module](self).
// In this order, so that each use needs few cache lines: a driver call evicts ours from the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Timeline {
    stream: OwnedStream,
    platform: PlatformNumber,
    id: u32,
    /// How many records were begun, and whether a point was taken since the last one.
    state: AtomicU64,
    is_default: bool,
    /// The stream was an external one and may be destroyed: nothing is queued on it any more, and the last record
    /// covers all that was.
    detached: AtomicBool,
    /// The number of the latest record that is known to be complete.
    pub(super) completed: AtomicU64,
    events: Events,
    /// Holding this lock permits recording.
    ring: Lock<Box<Ring>>,
    pub(super) host_record: HostRecord,
    /// What this stream has waited for.
    pub(super) seen: Clock,
    options: StreamOptions,
    /// The current label, or the last one, for messages.
    label: Lock<Cow<'static, str>>,
}

/// A record for the host's queries about records that the ring has overwritten. Its number is 0 before the first one.
#[derive(Debug)]
pub(super) struct HostRecord {
    pub(super) record: Lock<Record>,
    pub(super) event: OwnedEvent,
}

/// The lowest bit of a stream's state: a point was taken since the last record. The bits above it are the number of
/// records.
const OPEN: u64 = 1;

/// What a stream consists of before it has a number: everything that needs driver calls.
pub(super) struct Parts {
    stream: OwnedStream,
    events: Events,
    host_event: OwnedEvent,
    options: StreamOptions,
}

impl Parts {
    /// Makes the events of a stream, whose device must be bound.
    pub(super) fn new(stream: OwnedStream, options: StreamOptions) -> DriverResult<Self> {
        let (driver, device) = (stream.driver(), stream.raw().device());
        let events = ring::events(driver, device)?;
        let host_event = OwnedEvent::create(driver, device)?;
        Ok(Self { stream, events, host_event, options })
    }
}

impl Timeline {
    pub(super) fn new(platform: PlatformNumber, id: u32, parts: Parts) -> Self {
        let Parts { stream, events, host_event, options } = parts;
        Self {
            platform,
            id,
            options,
            is_default: stream.raw() == stream.driver().default_stream(stream.raw().device()),
            stream,
            state: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            detached: AtomicBool::new(false),
            label: Lock::default(),
            seen: Clock::new(),
            events,
            ring: Lock::default(),
            host_record: HostRecord { record: Lock::default(), event: host_event },
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Sets what the stream is called in messages from now on.
    pub(super) fn set_label(&self, label: Cow<'static, str>) {
        if self.driver().watches() {
            crate::driver::tell(
                &**self.driver(),
                &Note::StreamLabel { stream: self.raw(), label: &label },
            );
        }
        *self.label.lock() = label;
    }

    /// What the stream is called in messages: its current label, or its last one.
    pub(crate) fn label(&self) -> String {
        let label = self.label.lock();
        if label.is_empty() { format!("stream {}", self.id) } else { label.clone().into_owned() }
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.stream.raw().device()
    }

    pub(crate) fn raw(&self) -> RawStream {
        self.stream.raw()
    }

    pub(super) fn options(&self) -> StreamOptions {
        self.options
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        self.stream.driver()
    }

    /// The number that all streams and memory of one platform share.
    pub(crate) fn platform(&self) -> PlatformNumber {
        self.platform
    }

    /// Makes the device current on this thread, for foreign calls and for calls that use the current device.
    pub(crate) fn bind(&self) -> DriverResult<()> {
        self.driver().bind(self.device())?;
        BOUND.set(Some((self.platform, self.device())));
        Ok(())
    }

    /// To be called before work is queued on the stream. A stream's handle names its device, whichever is current;
    /// only the handle of a default stream means the current device. The first call on a thread always binds, for
    /// drivers that need any current device.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        let is_ready = !self.is_default && BOUND.get() == Some((self.platform, self.device()));
        if is_ready { Ok(()) } else { self.bind() }
    }

    /// To be called before the host queries events of the stream's platform. Any device of it may be bound.
    pub(super) fn ready_to_query(&self) -> DriverResult<()> {
        match BOUND.get() {
            Some((platform, _)) if platform == self.platform => Ok(()),
            _ => self.bind(),
        }
    }

    /// How many records were begun.
    #[inline]
    pub(super) fn recorded(&self) -> u64 {
        self.state.load(Ordering::Acquire) >> 1
    }

    /// The point that covers all work queued before this call. By rule 1, to be taken *after* the work was queued.
    #[inline]
    pub(crate) fn open_point(&self) -> Point {
        let state = self.state.load(Ordering::Acquire);
        // Fast path: a point was already taken since the last record.
        let state = match state & OPEN {
            0 => self.state.fetch_or(OPEN, Ordering::AcqRel),
            _ => state,
        };
        self.point((state >> 1) + 1)
    }

    /// A point of this stream.
    pub(super) fn point(&self, record: u64) -> Point {
        Point { platform: self.platform, stream: self.id, record }
    }

    /// Whether a point is one of this platform.
    #[inline]
    pub(super) fn is_of(&self, point: Point) -> bool {
        point.platform == self.platform
    }

    /// Begins the next record and returns its number: every point that was taken before has at most this number. The
    /// ring is locked.
    fn begin_record(&self) -> u64 {
        let number = self.recorded() + 1;
        // By rule 2, before the driver records.
        self.state.swap(number << 1, Ordering::AcqRel);
        number
    }

    /// A record number without an event, for all that was queued so far: only where the host is about to wait for it.
    pub(super) fn number_without_event(&self) -> u64 {
        let _ring = self.lock();
        self.begin_record()
    }

    /// Records an event if a point was taken since the last record. Later waits for such points then wait for no later
    /// work.
    pub(crate) fn close(&self) -> DriverResult<()> {
        if !self.is_open() {
            return Ok(());
        }
        crate::turns::point("a record is due, and the ring is not locked yet");
        let mut ring = self.lock();
        // Another thread may have recorded or detached the stream meanwhile.
        if self.is_open() && !self.is_detached() {
            self.record_locked(&mut ring)?;
        }
        Ok(())
    }

    /// Whether a point was taken since the last record.
    fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) & OPEN != 0
    }

    /// Records an event that is not in the ring.
    pub(super) fn record_on(&self, event: &OwnedEvent) -> DriverResult<()> {
        self.stream.record(event)
    }

    /// Records an event for all that was queued so far.
    pub(super) fn record(&self) -> DriverResult<Point> {
        let number = self.record_locked(&mut self.lock())?;
        Ok(self.point(number))
    }

    fn record_locked(&self, ring: &mut Ring) -> DriverResult<u64> {
        if self.is_detached() {
            // Nothing was queued since the last record. If that one failed, no record covers the last work.
            let last = self.recorded();
            return if ring.holds(last) { Ok(last) } else { Err(self.missing_record()) };
        }
        let number = self.begin_record();
        crate::turns::point("a record has its number, and is not made yet");
        ring.clear(number);
        let record = self.make(number, &self.events[ring::slot(number)])?;
        crate::turns::point("a record is made, and it is not in its slot yet");
        ring.set(record);
        Ok(number)
    }

    /// Makes a record that was [begun](Self::begin_record).
    fn make(&self, number: u64, event: &OwnedEvent) -> DriverResult<Record> {
        // By rule 3, before the driver records: a wait that is queued later is not covered.
        let covered = self.seen.snapshot();
        self.stream.record(event)?;
        Ok(Record { number, covered })
    }

    /// Whether the record was begun, and is not in the ring, while later ones may be.
    pub(super) fn is_overwritten(&self, number: u64) -> bool {
        number <= self.recorded() && !self.is_detached() && !self.lock().holds(number)
    }

    /// As [`record`](Self::record), on an event that is not in the ring, so that no stream waits for it. `None` for a
    /// detached stream, whose last record is in the ring.
    pub(super) fn record_outside_the_ring(
        &self,
        event: &OwnedEvent,
    ) -> DriverResult<Option<Record>> {
        let _ring = self.lock();
        if self.is_detached() { Ok(None) } else { self.make(self.begin_record(), event).map(Some) }
    }

    /// The record that covers record `number`, and its event. If there is none yet, it is made, after a call of `bind`.
    pub(super) fn covering(
        &self,
        number: u64,
        bind: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<(Record, &OwnedEvent)> {
        let mut ring = self.lock();
        let record = match ring.covering(number) {
            Some(record) => *record,
            None => {
                bind()?;
                let number = self.record_locked(&mut ring)?;
                match ring.covering(number) {
                    Some(record) => *record,
                    None => return Err(self.missing_record()),
                }
            }
        };
        Ok((record, &self.events[ring::slot(record.number)]))
    }

    /// Queues a wait: work that is queued here from now on comes after the event's latest record.
    pub(super) fn wait_for_event(&self, event: &OwnedEvent) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait(event)
    }

    /// Whether the stream's handle means the current device.
    pub(super) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Whether the stream was an external one and may be destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Covers all queued work by a record, after which the stream is not used any more. If the record fails, calls
    /// `synchronize`, which waits for the work.
    pub(super) fn detach(
        &self,
        synchronize: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        let covered = self.bind().and_then(|()| match self.record_last() {
            Ok(()) => Ok(()),
            Err(_) => synchronize(),
        });
        let _ring = self.lock();
        if covered.is_err() {
            // A number without an event: no record covers the work since the last record, nor does that one.
            self.begin_record();
        }
        self.detached.store(true, Ordering::Release);
        covered
    }

    /// Records, and marks the stream as detached under the same lock: no thread records it afterwards.
    fn record_last(&self) -> DriverResult<()> {
        let mut ring = self.lock();
        self.record_locked(&mut ring)?;
        self.detached.store(true, Ordering::Release);
        Ok(())
    }

    #[cold]
    fn missing_record(&self) -> DriverError {
        DriverError::Call {
            call: "record_event",
            device: self.device(),
            code: 400,
            name: "INVALID_HANDLE".to_owned(),
            message:
                "the external stream is detached, and its last work could be neither recorded nor waited \
                      for; the log has the cause"
                    .to_owned(),
        }
    }

    /// Uses the timeline again, for the same stream or another one with its handle: new work comes after the last
    /// record of the detached one.
    pub(super) fn reattach(&self) -> DriverResult<()> {
        self.bind()?;
        let ring = self.lock();
        if let Some(last) = ring.latest() {
            self.stream.wait(&self.events[ring::slot(last)])?;
        }
        self.detached.store(false, Ordering::Release);
        Ok(())
    }

    /// Raises `signal` when everything queued so far is complete. The device must be bound.
    pub(super) fn raise(&self, signal: &Arc<Signal>) -> DriverResult<()> {
        self.stream.raise(signal)
    }

    /// Whether everything queued so far is complete. Not called for a detached stream.
    pub(super) fn query(&self) -> DriverResult<bool> {
        self.stream.query()
    }

    /// Blocks until everything queued so far is complete.
    pub(super) fn synchronize_stream(&self) -> DriverResult<()> {
        self.stream.synchronize()
    }

    fn lock(&self) -> Held<'_, Box<Ring>> {
        self.ring.lock()
    }
}
