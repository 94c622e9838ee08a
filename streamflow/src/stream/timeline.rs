//! A stream and its records. When a hook ends, each stream on which it has queued work gets one record ([`Timeline::close`]). If
//! that record is complete, all that the hook sends is complete, too (law 8).
//!
//! Records of a stream are numbered from 1. A use of memory is noted with the number of the *next* record (`open_point`). So one
//! event covers all work that was queued before it. An event is recorded only if another stream or the host needs it.
//! [`order`](super::order) makes the waits, and has the rules for this file.

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
    /// The device that streamflow has bound last on this thread. Another library may have bound another device since.
    static BOUND: Cell<Option<(PlatformNumber, DeviceId)>> = const { Cell::new(None) };
}

/// Stores that the calling thread has just bound a device of a platform, so that queries on this thread bind no other device.
#[inline]
pub(crate) fn set_bound(platform: PlatformNumber, device: DeviceId) {
    BOUND.set(Some((platform, device)));
    // SAFETY: the caller has just bound this device, and `BOUND` has just been set to it.
    unsafe { current::trust() };
}

/// A stream and its records. See the [module](self).
// The order of the fields: each use of memory reads few cache lines, because a driver call evicts them from the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Timeline {
    stream: OwnedStream,
    platform: PlatformNumber,
    id: u32,
    events: Events,
    pub(super) records: Records,
    pub(super) host_record: HostRecord,
    /// The records of other streams that this stream has waited for.
    pub(super) seen: Seen,
    options: StreamOptions,
    /// The name of the stream in error texts: the label of its current user, or of its last one.
    label: Lock<Cow<'static, str>>,
    /// The event for the next exchange of order with a stream of other code.
    #[cfg(feature = "cudarc")]
    for_exchange: Lock<Option<OwnedEvent>>,
}

// Each use of memory reads the stream's handle and the number of records, so both must be in one cache line.
const _: () = assert!(std::mem::offset_of!(Timeline, records) + size_of::<u64>() <= 64);

/// A record outside of the ring, which the host queries if the ring has overwritten a record. Its number is 0 before it is made.
#[derive(Debug)]
pub(super) struct HostRecord {
    pub(super) record: Lock<Record>,
    pub(super) event: OwnedEvent,
}

/// The events of a ring, in the order of its slots. The events never change, so threads use them without the ring's lock.
type Events = Box<OwnedEvents<{ ring::RING }>>;

/// The parts of a stream that driver calls make. The stream gets its number afterwards.
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

    /// Sets the stream's name in error texts from now on.
    pub(super) fn set_label(&self, label: Cow<'static, str>) {
        if self.driver().observer().watches() {
            super::notes::observe(
                &**self.driver(),
                &Note::StreamLabel { stream: self.raw(), label: &label },
            );
        }
        *self.label.lock() = label;
    }

    /// The stream's name in error texts: the label of its current user, or of its last one.
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

    /// Tells the driver that other code gets the stream's handle. That code may queue work on the stream by calls that the driver
    /// does not see.
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

    /// The number of the platform. All its streams and its memory have this number.
    pub(crate) fn platform(&self) -> PlatformNumber {
        self.platform
    }

    /// Binds the stream's device on this thread, for calls of other libraries and for calls that use the current device.
    pub(crate) fn bind(&self) -> DriverResult<()> {
        self.driver().bind(self.device())?;
        set_bound(self.platform, self.device());
        Ok(())
    }

    /// Called before work is queued on the stream, to bind its device where that is needed. Most handles name their device,
    /// whichever device is bound. The handle of a default stream means the bound device, so this method always binds for it. The
    /// first call on a thread also binds, for drivers that need some bound device.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        let is_ready = !self.is_default() && BOUND.get() == Some((self.platform, self.device()));
        if is_ready { Ok(()) } else { self.bind() }
    }

    /// Called before a function of a library that works on the bound device. Binds the stream's device.
    #[inline]
    pub(crate) fn ready_for_library(&self) -> DriverResult<()> {
        if current::is_in_doubt() { self.bind() } else { self.ready() }
    }

    /// Called before the host queries events. A query needs some device of the stream's platform bound on the thread. If
    /// none is bound, this method binds the stream's device.
    pub(super) fn ready_to_query(&self) -> DriverResult<()> {
        match BOUND.get() {
            Some((platform, _)) if platform == self.platform => Ok(()),
            _ => self.bind(),
        }
    }

    /// How many records were begun, those included that failed.
    #[inline]
    pub(super) fn recorded(&self) -> u64 {
        self.records.recorded()
    }

    /// Returns the point that covers all work queued before this call. By rule 1 of [`order`](super::order), a caller takes the
    /// point *after* it has queued the work.
    #[inline]
    pub(crate) fn open_point(&self) -> Point {
        self.point(self.records.open())
    }

    /// Returns the point of this stream that the record with this number covers.
    pub(super) fn point(&self, record: u64) -> Point {
        Point { platform: self.platform, stream: self.id, record }
    }

    /// Whether a point is a point of this stream's platform.
    #[inline]
    pub(super) fn is_of(&self, point: Point) -> bool {
        point.platform == self.platform
    }

    /// Records an event if a point was taken since the last record. So a later wait for such a point does not wait for work that
    /// is queued after this call.
    #[inline(never)]
    pub(crate) fn close(&self) -> DriverResult<()> {
        // The driver call is inlined here, and not made by `record_slot`, since each tick makes it once.
        self.records.close(&self.seen, |slot| self.stream.record(self.events.get(slot)))
    }

    /// Does the same as [`close`](Self::close), for a thread that does not own the stream: the owner may queue work at the same
    /// time.
    #[inline(never)]
    pub(super) fn close_beside(&self) -> DriverResult<()> {
        self.records.close_beside(&self.seen, |slot| self.record_slot(slot))
    }

    #[inline(never)]
    fn record_slot(&self, slot: usize) -> DriverResult<()> {
        self.stream.record(self.events.get(slot))
    }

    /// Records an event outside of the ring on this stream.
    pub(super) fn record_on(&self, event: Event<'_>) -> DriverResult<()> {
        self.stream.record(event)
    }

    /// Records an event for all work that was queued so far, and returns the record's point.
    pub(super) fn record(&self) -> DriverResult<Point> {
        let made = self.records.record(&self.seen, |slot| self.record_slot(slot))?;
        made.map(|number| self.point(number)).ok_or_else(|| self.missing_record())
    }

    /// Returns the event of record `number`; `None` if the ring does not have that record any more.
    pub(super) fn event_of(&self, number: u64) -> Option<RawEvent> {
        self.records.slot_of(number).map(|slot| self.events.get(slot).raw())
    }

    /// Makes a record on an event outside of the ring. No stream waits for this event. The record gets the number of the latest
    /// record. Returns `None` for a detached stream, whose last record is in the ring.
    pub(super) fn record_outside_the_ring(&self, event: Event<'_>) -> DriverResult<Option<Record>> {
        self.records.record_outside_the_ring(&self.seen, || self.stream.record(event))
    }

    /// Finds a record that covers record `number`, writes it to `found`, and returns its event. If there is none, calls `bind`
    /// and makes a record.
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

    /// Records an event of other code on this stream, for all work that was queued so far.
    pub(crate) fn record_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.bind()?;
        self.stream.record_borrowed(event)
    }

    /// Makes the stream wait for an event of other code.
    pub(super) fn wait_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait_borrowed(event)
    }

    /// Makes the stream wait: work that is queued on it from now on comes after the event's latest record.
    pub(super) fn wait_for_event(&self, event: Event<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait(event)
    }

    /// Makes the stream wait: work that is queued on it from now on comes after all work queued on the device, also by other
    /// code.
    #[cfg(feature = "cudarc")]
    pub(crate) fn wait_for_device(&self) -> DriverResult<()> {
        self.bind()?;
        // SAFETY: the timeline owns its stream, or has borrowed it, so the stream is alive.
        unsafe { self.driver().wait_for_device(self.raw()) }
    }

    /// Calls `order` with an event of the stream's device, which later calls use again. That is possible because a wait, once
    /// queued, stays a wait for the record that the event held at that time.
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
        // SAFETY: the event is an event of this device, and lives until the end of this function.
        let ordered = order(unsafe { BorrowedEvent::new(self.device(), handle) });
        let replaced = self.for_exchange.lock().replace(event);
        // The lock was released by the statement above, so the event is dropped without it.
        drop(replaced);
        ordered
    }

    /// Whether this is a default stream, whose handle means the bound device.
    pub(super) fn is_default(&self) -> bool {
        self.stream.is_default()
    }

    /// Whether other code owns the stream.
    #[cfg(feature = "cudarc")]
    pub(super) fn is_foreign(&self) -> bool {
        self.stream.is_foreign()
    }

    /// Whether the stream is a detached external stream, which its owner may have destroyed.
    pub(super) fn is_detached(&self) -> bool {
        self.records.is_detached()
    }

    /// Makes the stream's last record, which covers all queued work. The stream is not used afterwards. If the record fails,
    /// calls `synchronize` to wait for the work instead.
    pub(super) fn detach(
        &self,
        synchronize: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        let covered = self.bind().and_then(|()| {
            match self.records.detach(&self.seen, |slot| self.record_slot(slot)) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => synchronize(),
                // If the wait fails, too, the record's error is returned, because it names the cause.
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

    /// Makes the timeline of a detached stream usable again, for the same stream or for a new stream with the same handle. New
    /// work comes after the last record of the detached stream.
    pub(super) fn reattach(&self) -> DriverResult<()> {
        self.bind()?;
        self.records.reattach(|slot| self.stream.wait(self.events.get(slot)))
    }

    /// Makes the driver raise `signal` when all work that was queued so far is complete. The caller has bound the stream's
    /// device.
    pub(super) fn raise(&self, signal: &Arc<Signal>) -> DriverResult<()> {
        self.stream.raise(signal)
    }

    /// Whether all work that was queued so far is complete. Must not be called for a detached stream.
    pub(super) fn query(&self) -> DriverResult<bool> {
        self.stream.query()
    }

    /// Blocks the calling thread until all work that was queued so far is complete.
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
