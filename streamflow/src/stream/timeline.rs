//! A stream and its records. The work that a hook queued on a stream gets one record when the hook ends
//! ([`Timeline::close`]): everything that the hook sends is complete with that record (law 8).
//!
//! Records of a stream are numbered from 1. A use of memory is noted with the number of the *next* record
//! (`open_point`), so one event covers all work that was queued before it, and no event is recorded unless another stream
//! or the host needs it. [`order`](super::order) makes the waits, and has the rules for this file.

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
    /// The device that a stream of this library bound last on this thread. Another library may have bound a different
    /// one since.
    static BOUND: Cell<Option<(PlatformNumber, DeviceId)>> = const { Cell::new(None) };
}

/// Notes that the calling thread has bound a device of a platform, so that no query binds another one.
#[inline]
pub(crate) fn set_bound(platform: PlatformNumber, device: DeviceId) {
    BOUND.set(Some((platform, device)));
    // SAFETY: callers have bound this device, as the line above notes.
    unsafe { current::trust() };
}

/// A stream and its records. See the [module](self).
// Fields in this order: each use needs few cache lines, and a driver call evicts them from the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Timeline {
    stream: OwnedStream,
    platform: PlatformNumber,
    id: u32,
    events: Events,
    pub(super) records: Records,
    pub(super) host_record: HostRecord,
    /// The records of others that this stream comes after.
    pub(super) seen: Seen,
    options: StreamOptions,
    /// The current label, or the last one, for messages.
    label: Lock<Cow<'static, str>>,
    /// An event for the next exchange with a stream of other code.
    #[cfg(feature = "cudarc")]
    for_exchange: Lock<Option<OwnedEvent>>,
}

// A use of memory reads the handle and the number of records: one cache line.
const _: () = assert!(std::mem::offset_of!(Timeline, records) + size_of::<u64>() <= 64);

/// A record for the host's queries about records that the ring has overwritten. The number is 0 as long as there is
/// none.
#[derive(Debug)]
pub(super) struct HostRecord {
    pub(super) record: Lock<Record>,
    pub(super) event: OwnedEvent,
}

/// The events of a ring, in the order of its slots. The events never change, so they are used without the ring's lock.
type Events = Box<OwnedEvents<{ ring::RING }>>;

/// The parts of a stream before it has a number: everything that needs driver calls.
pub(super) struct Parts {
    stream: OwnedStream,
    events: Events,
    host_event: OwnedEvent,
    options: StreamOptions,
}

impl Parts {
    /// Makes the events of a stream. The stream's device must be bound.
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

    /// Sets the name of the stream in messages from now on.
    pub(super) fn set_label(&self, label: Cow<'static, str>) {
        if self.driver().observer().watches() {
            super::notes::observe(
                &**self.driver(),
                &Note::StreamLabel { stream: self.raw(), label: &label },
            );
        }
        *self.label.lock() = label;
    }

    /// The name of the stream in messages: its current label, or its last one.
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

    /// Tells the driver that other code gets the stream's handle, and may queue work there that the driver does not
    /// see.
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

    /// To be called before work is queued on the stream. A stream's handle names its device, whichever is current;
    /// only the handle of a default stream means the current device. The first call on a thread always binds, for
    /// drivers that need any current device.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        let is_ready = !self.is_default() && BOUND.get() == Some((self.platform, self.device()));
        if is_ready { Ok(()) } else { self.bind() }
    }

    /// To be called before a function of a library: such a function works on the current device.
    #[inline]
    pub(crate) fn ready_for_library(&self) -> DriverResult<()> {
        if current::is_in_doubt() { self.bind() } else { self.ready() }
    }

    /// To be called before the host queries events of the stream's platform. Any device of the platform may be bound.
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

    /// The point that covers all work queued before this call. By rule 1, to be taken *after* the work was queued.
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
        // Inlined, since it is called once in each tick.
        self.records.close(&self.seen, |slot| self.stream.record(self.events.get(slot)))
    }

    /// [`close`](Self::close) for a thread that need not own the stream: another thread may queue work on it meanwhile.
    #[inline(never)]
    pub(super) fn close_beside(&self) -> DriverResult<()> {
        self.records.close_beside(&self.seen, |slot| self.record_slot(slot))
    }

    #[inline(never)]
    fn record_slot(&self, slot: usize) -> DriverResult<()> {
        self.stream.record(self.events.get(slot))
    }

    /// Records an event that is not in the ring.
    pub(super) fn record_on(&self, event: Event<'_>) -> DriverResult<()> {
        self.stream.record(event)
    }

    /// Records an event for all that was queued so far.
    pub(super) fn record(&self) -> DriverResult<Point> {
        let made = self.records.record(&self.seen, |slot| self.record_slot(slot))?;
        made.map(|number| self.point(number)).ok_or_else(|| self.missing_record())
    }

    /// The event that holds the record, if one does.
    pub(super) fn event_of(&self, number: u64) -> Option<RawEvent> {
        self.records.slot_of(number).map(|slot| self.events.get(slot).raw())
    }

    /// Makes a record with the number of the latest one, on an event outside of the ring. No stream waits for that
    /// event. Returns `None` for a detached stream: its last record is in the ring.
    pub(super) fn record_outside_the_ring(&self, event: Event<'_>) -> DriverResult<Option<Record>> {
        self.records.record_outside_the_ring(&self.seen, || self.stream.record(event))
    }

    /// Finds the record that covers record `number`, and returns its event. If there is none yet, calls `bind` and
    /// makes one.
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

    /// Records an event of other code, for all that was queued so far.
    pub(crate) fn record_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.bind()?;
        self.stream.record_borrowed(event)
    }

    /// Queues a wait for an event of other code.
    pub(super) fn wait_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait_borrowed(event)
    }

    /// Queues a wait: work that is queued here from now on comes after the event's latest record.
    pub(super) fn wait_for_event(&self, event: Event<'_>) -> DriverResult<()> {
        self.ready()?;
        self.stream.wait(event)
    }

    /// Queues a wait: work that is queued here from now on comes after all work that the device has, also that of other code.
    #[cfg(feature = "cudarc")]
    pub(crate) fn wait_for_device(&self) -> DriverResult<()> {
        self.bind()?;
        // SAFETY: the timeline owns its stream, or has it while it is borrowed.
        unsafe { self.driver().wait_for_device(self.raw()) }
    }

    /// Calls `order` with an event of the device. Calls that don't overlap share one event: a queued wait keeps the
    /// record that it was queued for.
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
        // SAFETY: the event lives until the end of this function, and is of the device.
        let ordered = order(unsafe { BorrowedEvent::new(self.device(), handle) });
        let replaced = self.for_exchange.lock().replace(event);
        // Dropped without the lock.
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

    /// Covers all queued work by a last record; the stream is not used any more afterwards. If the record fails, calls
    /// `synchronize` to wait for the work.
    pub(super) fn detach(
        &self,
        synchronize: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        let covered = self.bind().and_then(|()| {
            match self.records.detach(&self.seen, |slot| self.record_slot(slot)) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => synchronize(),
                // If both fail, the first error names the cause.
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

    /// Uses the timeline again, for the same stream or for another one with the same handle. New work comes after the
    /// last record of the detached stream.
    pub(super) fn reattach(&self) -> DriverResult<()> {
        self.bind()?;
        self.records.reattach(|slot| self.stream.wait(self.events.get(slot)))
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
