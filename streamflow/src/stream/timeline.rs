//! A stream and its records. The work that a hook has queued on a stream gets one record when the hook ends
//! ([`Timeline::close`]): if that record is complete, so is everything that the hook sends (law 8).
//!
//! Records of a stream are numbered from 1. A use of memory is noted with the number of the *next* record (`open_point`).
//! So one event covers all work that was queued before it, and no event is recorded unless another stream or the host
//! needs it. [`order`](super::order) makes the waits, and has the rules for this file.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use super::ordered::Ordered;
use super::record::Record;
use super::records::Records;
use super::ring;
use super::seen::Seen;
use super::{PlatformNumber, Point};
use crate::driver::current;
use crate::driver::{
    BorrowedEvent, DeviceId, Driver, DriverError, DriverResult, Event, Note, OwnedEvent,
    OwnedEvents, OwnedStream, RawEvent, RawStream, Signal, StreamOptions,
};
use crate::lock::Lock;

thread_local! {
    /// The device that streamflow bound last on this thread. Another library may have bound a different one since.
    static BOUND: Cell<Option<(PlatformNumber, DeviceId)>> = const { Cell::new(None) };
}

/// Notes that the calling thread has bound a device of a platform, so that no query binds another one.
#[inline]
pub(crate) fn set_bound(platform: PlatformNumber, device: DeviceId) {
    BOUND.set(Some((platform, device)));
    // SAFETY: the caller has just bound this device, and `BOUND` names it.
    unsafe { current::trust() };
}

/// A stream and its records. See the [module](self).
// The order of the fields: each use reads few cache lines. A driver call evicts them from the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Timeline {
    stream: OwnedStream,
    platform: PlatformNumber,
    id: u32,
    events: Events,
    pub(super) records: Records,
    pub(super) host_record: HostRecord,
    /// The records of other streams that this stream comes after.
    pub(super) seen: Seen,
    options: StreamOptions,
    /// The label of the stream for error texts: the current one, or the last one.
    label: Lock<Cow<'static, str>>,
    /// The event that the next exchange with a stream of other code records.
    #[cfg(feature = "cudarc")]
    for_exchange: Lock<Option<OwnedEvent>>,
}

// The handle and the number of records, which each use of memory reads, must be in one cache line.
const _: () = assert!(std::mem::offset_of!(Timeline, records) + size_of::<u64>() <= 64);

/// The record that the host queries in place of records that the ring has overwritten. Its number is 0 if there is none.
#[derive(Debug)]
pub(super) struct HostRecord {
    pub(super) record: Lock<Record>,
    pub(super) event: OwnedEvent,
}

/// The events of a ring, in the order of its slots. The events never change, so they are used without the ring's lock.
type Events = Box<OwnedEvents<{ ring::RING }>>;

/// The parts of a stream that has no number yet: all that driver calls make.
pub(super) struct Parts {
    stream: OwnedStream,
    events: Events,
    host_event: OwnedEvent,
    options: StreamOptions,
}

impl Parts {
    /// Makes the events of a stream. The caller has bound the stream's device.
    pub(super) fn new(stream: OwnedStream, options: StreamOptions) -> DriverResult<Self> {
        let (driver, device) = (stream.driver(), stream.raw().device());
        let events = OwnedEvents::create(driver, device)?;
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
            stream,
            records: Records::new(),
            label: Lock::default(),
            #[cfg(feature = "cudarc")]
            for_exchange: Lock::default(),
            seen: Seen::new(),
            events,
            host_record: HostRecord { record: Lock::default(), event: host_event },
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Sets the stream's name for error texts from now on.
    pub(super) fn set_label(&self, label: Cow<'static, str>) {
        if self.driver().observer().watches() {
            super::notes::observe(
                &**self.driver(),
                &Note::StreamLabel { stream: self.raw(), label: &label },
            );
        }
        *self.label.lock() = label;
    }

    /// The stream's name for error texts: its current label, or its last one.
    pub(crate) fn label(&self) -> String {
        let label = self.label.lock();
        if label.is_empty() { format!("stream {}", self.id) } else { label.clone().into_owned() }
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.stream.raw().device()
    }

    #[inline]
    pub(crate) fn raw(&self) -> RawStream {
        self.stream.raw()
    }

    /// Tells the driver that other code gets the stream's handle, and may queue work there by calls that the driver does
    /// not see.
    pub(super) fn hand_out(&self) {
        self.stream.hand_out();
    }

    pub(super) fn options(&self) -> StreamOptions {
        self.options
    }

    #[inline]
    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        self.stream.driver()
    }

    /// The number that all streams and memory of one platform share.
    pub(crate) fn platform(&self) -> PlatformNumber {
        self.platform
    }

    /// Makes the stream's device current on this thread, for foreign calls and for calls that use the current device.
    pub(crate) fn bind(&self) -> DriverResult<()> {
        self.driver().bind(self.device())?;
        set_bound(self.platform, self.device());
        Ok(())
    }

    /// Called before work is queued on the stream. Most handles name their device, whichever is current; only that of a
    /// default stream means the current device, so this binds the device for it. The first call on a thread always binds,
    /// for drivers that need any current device.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        let is_ready = !self.is_default() && BOUND.get() == Some((self.platform, self.device()));
        if is_ready { Ok(()) } else { self.bind() }
    }

    /// Called before a function of a library, which works on the current device: binds the stream's device.
    #[inline]
    pub(crate) fn ready_for_library(&self) -> DriverResult<()> {
        if current::is_in_doubt() { self.bind() } else { self.ready() }
    }

    /// Called before the host queries events of the stream's platform. For that, any device of the platform may be bound.
    pub(super) fn ready_to_query(&self) -> DriverResult<()> {
        match BOUND.get() {
            Some((platform, _)) if platform == self.platform => Ok(()),
            _ => self.bind(),
        }
    }

    /// How many records were begun.
    #[inline]
    pub(super) fn recorded(&self) -> u64 {
        self.records.recorded()
    }

    /// Returns the point that covers all work queued before this call. By rule 1, a caller takes it *after* it has queued
    /// the work.
    #[inline]
    pub(crate) fn open_point(&self) -> Point {
        self.point(self.records.open())
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

    /// Records an event if a point was taken since the last record. Later waits for such points then wait for no later
    /// work.
    #[inline(never)]
    pub(crate) fn close(&self) -> DriverResult<()> {
        // This is inlined, since each tick calls it once.
        self.records.close(&self.seen, |slot| self.stream.record(self.events.get(slot)))
    }

    /// [`close`](Self::close) for a thread that need not own the stream: another thread may queue work on the stream at
    /// the same time.
    #[inline(never)]
    pub(super) fn close_beside(&self) -> DriverResult<()> {
        self.records.close_beside(&self.seen, |slot| self.record_slot(slot))
    }

    #[inline(never)]
    fn record_slot(&self, slot: usize) -> DriverResult<()> {
        self.stream.record(self.events.get(slot))
    }

    /// Records an event that is not in the ring, on this stream.
    pub(super) fn record_on(&self, event: Event<'_>) -> DriverResult<()> {
        self.stream.record(event)
    }

    /// Records an event for all work that was queued so far.
    pub(super) fn record(&self) -> DriverResult<Point> {
        let made = self.records.record(&self.seen, |slot| self.record_slot(slot))?;
        made.map(|number| self.point(number)).ok_or_else(|| self.missing_record())
    }

    /// The event that holds record `number`. `None` if none holds it any more.
    pub(super) fn event_of(&self, number: u64) -> Option<RawEvent> {
        self.records.slot_of(number).map(|slot| self.events.get(slot).raw())
    }

    /// Makes a record on an event outside of the ring, for which no stream waits. The record gets the number of the
    /// latest one. Returns `None` for a detached stream, whose last record is in the ring.
    pub(super) fn record_outside_the_ring(&self, event: Event<'_>) -> DriverResult<Option<Record>> {
        self.records.record_outside_the_ring(&self.seen, || self.stream.record(event))
    }

    /// Finds the record that covers record `number`, and returns that record's event. If there is none yet, calls `bind`
    /// and makes one.
    #[inline]
    pub(super) fn covering(
        &self,
        number: u64,
        found: &mut Record,
        bind: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<Event<'_>> {
        let record = |slot| self.record_slot(slot);
        match self.records.covering(number, found, &self.seen, bind, record) {
            Ok(true) => Ok(self.events.get(found.slot)),
            Ok(false) => Err(self.missing_record()),
            Err(error) => Err(error),
        }
    }

    /// Records an event of other code, for all work that was queued so far.
    pub(crate) fn record_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.bind()?;
        self.stream.record_borrowed(event)
    }

    /// Queues a wait for an event of other code.
    pub(super) fn wait_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait_borrowed(event)
    }

    /// Queues a wait: work that is queued on this stream from now on comes after the event's latest record.
    pub(super) fn wait_for_event(&self, event: Event<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait(event)
    }

    /// Queues a wait: work that is queued on this stream from now on comes after all work that the device has, also that
    /// of other code.
    #[cfg(feature = "cudarc")]
    pub(crate) fn wait_for_device(&self) -> DriverResult<()> {
        self.bind()?;
        // SAFETY: the timeline owns its stream, or has borrowed it.
        unsafe { self.driver().wait_for_device(self.raw()) }
    }

    /// Calls `order` with an event of the stream's device. Calls one after the other share an event: a queued wait is for
    /// the record that the event held at that time.
    #[cfg(feature = "cudarc")]
    pub(super) fn with_event<R>(
        &self,
        order: impl FnOnce(BorrowedEvent<'_>) -> crate::error::Result<R>,
    ) -> crate::error::Result<R> {
        let kept = self.for_exchange.lock().take();
        let event = match kept {
            Some(event) => event,
            None => {
                self.bind()?;
                OwnedEvent::create(self.driver(), self.device())?
            }
        };
        let handle = event.get().raw().handle();
        // SAFETY: the event lives until the end of this function, and belongs to this device.
        let ordered = order(unsafe { BorrowedEvent::new(self.device(), handle) });
        let replaced = self.for_exchange.lock().replace(event);
        // The event is dropped after the lock is released.
        drop(replaced);
        ordered
    }

    /// Whether the stream's handle means the current device.
    pub(super) fn is_default(&self) -> bool {
        self.stream.is_default()
    }

    /// Whether other code owns the stream.
    #[cfg(feature = "cudarc")]
    pub(super) fn is_foreign(&self) -> bool {
        self.stream.is_foreign()
    }

    /// Whether the stream was an external one and may be destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.records.is_detached()
    }

    /// Makes a last record that covers all queued work. The stream is not used any more afterwards. If the record fails,
    /// calls `synchronize` to wait for the work instead.
    pub(super) fn detach(
        &self,
        synchronize: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        let covered = self.bind().and_then(|()| {
            match self.records.detach(&self.seen, |slot| self.record_slot(slot)) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => synchronize(),
                // If the wait fails as well, the error of the record is returned, because it names the cause.
                Err(failed) => synchronize().map_err(|_second| failed),
            }
        });
        self.records.set_detached(covered.is_ok());
        covered
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

    /// Makes the timeline of a detached stream usable again, for the same stream or for another one with the same handle.
    /// New work comes after the detached stream's last record.
    pub(super) fn reattach(&self) -> DriverResult<()> {
        self.bind()?;
        self.records.reattach(|slot| self.stream.wait(self.events.get(slot)))
    }

    /// Raises `signal` when all work that was queued so far is complete. The caller has bound the device.
    pub(super) fn raise(&self, signal: &Arc<Signal>) -> DriverResult<()> {
        self.stream.raise(signal)
    }

    /// Whether all work that was queued so far is complete. Not called for a detached stream.
    pub(super) fn query(&self) -> DriverResult<bool> {
        self.stream.query()
    }

    /// Blocks until all work that was queued so far is complete.
    pub(super) fn synchronize_stream(&self) -> DriverResult<()> {
        self.stream.synchronize()
    }
}

impl Ordered for Timeline {
    #[inline]
    fn id(&self) -> u32 {
        self.id
    }

    #[inline]
    fn comes_after(&self, stream: u32, record: u64) -> bool {
        Self::comes_after(self, stream, record)
    }

    #[inline]
    fn open_point(&self) -> Point {
        self.point(self.records.open())
    }
}
