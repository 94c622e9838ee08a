//! What is known about one stream: its records, and which records of other streams it has waited
//! for.
//!
//! Records of a stream are numbered from 1. A use of memory is noted with the number of the *next*
//! record (`open_point`), so one event covers all that was queued before it, and no event is
//! recorded unless another stream or the host asks.
//!
//! A stream owns a ring of [slots](super::slot) with an event each. Recording again into a slot is later on the
//! same stream, so whoever still refers to the slot's older record waits longer, never too little.
//!
//! A wait is issued here at once; those that can be put off until work is queued are noted before, by
//! [`noted`](super::noted).

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

mod host;

use super::clock::Clock;
use super::slot::{More, Slot};
use super::{PlatformNumber, Point, StreamTable};
use crate::driver::{
    DeviceId, Driver, DriverError, DriverResult, Note, OwnedEvent, OwnedStream, RawStream, Signal,
    StreamOptions,
};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock};

/// Events per stream. About as many as the records of one stream that others may still ask for: who asks for one that
/// was overwritten waits for a later one.
const RING: usize = 16;

thread_local! {
    /// The device that a stream bound last on this thread. Others may have bound another one since.
    static BOUND: Cell<Option<(PlatformNumber, DeviceId)>> = const { Cell::new(None) };
}

/// One stream and all that is known about its order. See the [module](self).
// In this order, so that what each use needs lies in four lines of the cache, where the driver leaves nothing of ours.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Timeline {
    stream: OwnedStream,
    platform: PlatformNumber,
    id: u32,
    /// Records made, or being made: raised *before* the driver call. See [`Timeline::open_point`].
    recorded: AtomicU64,
    is_default: bool,
    /// Whether a use was noted since the last record.
    open: AtomicBool,
    /// The stream was somebody else's and may be gone: nothing is queued on it any more, and all that was
    /// is covered by the last record.
    left: AtomicBool,
    /// Records that are known to be complete.
    completed: AtomicU64,
    ring: Box<[Slot]>,
    recording: Lock<Box<Recording>>,
    /// What this stream has waited for.
    seen: Clock,
    options: StreamOptions,
    /// Who has the stream, or had it last, for messages.
    holder: Lock<Cow<'static, str>>,
}

/// Who has its lock may record. By slot.
type Recording = [More; RING];

impl Timeline {
    pub(super) fn new(
        platform: PlatformNumber,
        id: u32,
        stream: OwnedStream,
        options: StreamOptions,
    ) -> DriverResult<Self> {
        let event = || OwnedEvent::create(stream.driver(), stream.raw().device());
        let ring = (0..RING)
            .map(|_| event().map(|event| Slot::new(event, id)))
            .collect::<DriverResult<_>>()?;
        Ok(Self {
            platform,
            id,
            options,
            is_default: stream.raw() == stream.driver().default_stream(stream.raw().device()),
            stream,
            recorded: AtomicU64::new(0),
            open: AtomicBool::new(false),
            completed: AtomicU64::new(0),
            left: AtomicBool::new(false),
            holder: Lock::default(),
            seen: Clock::new(),
            ring,
            recording: Lock::default(),
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Says who has the stream from now on.
    pub(super) fn hold(&self, holder: Cow<'static, str>) {
        if self.driver().watches() {
            crate::driver::tell(
                &**self.driver(),
                &Note::StreamName { stream: self.raw(), name: &holder },
            );
        }
        *self.holder.lock() = holder;
    }

    /// Who has the stream, or had it last, for messages.
    pub(crate) fn holder(&self) -> String {
        let holder = self.holder.lock();
        if holder.is_empty() { format!("stream {}", self.id) } else { holder.clone().into_owned() }
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

    /// Makes the device current on this thread: for foreign calls, and for what is made on the current
    /// device.
    pub(crate) fn bind(&self) -> DriverResult<()> {
        self.driver().bind(self.device())?;
        BOUND.set(Some((self.platform, self.device())));
        Ok(())
    }

    /// Whether others may queue work on the stream, unseen: it is a default stream or somebody else's.
    pub(super) fn is_lent(&self) -> bool {
        self.stream.is_lent()
    }

    /// To be called before work is queued on the stream; who has a [`CudaStream`](super::CudaStream) calls
    /// its `ready`, which also issues its waits. A stream's handle says where it is, whatever is current,
    /// and only that of a default stream means the current device. The first time on a thread is for
    /// drivers that want something to be current at all.
    #[inline]
    pub(crate) fn ready(&self) -> DriverResult<()> {
        if self.is_ready() { Ok(()) } else { self.bind() }
    }

    /// Whether [`ready`](Self::ready) has nothing to do.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        !self.is_default && BOUND.get() == Some((self.platform, self.device()))
    }

    /// Binds first, as a default stream's handle says no device.
    #[cold]
    fn close_bound(&self) -> DriverResult<()> {
        self.bind()?;
        self.close()
    }

    /// The point that covers all work queued before this call. To be asked *after* the work was
    /// queued: a record by another thread may be under way, and then it is not known whether that
    /// record covers the work, so the next one must. `recorded` is raised before the driver call
    /// for this reason.
    #[inline]
    pub(crate) fn open_point(&self) -> Point {
        self.open.store(true, Ordering::Release);
        crate::turns::point("an open point");
        self.point(self.recorded.load(Ordering::Acquire) + 1)
    }

    /// Whether a point that was asked for *before* work was queued covers that work: nobody has
    /// recorded since. Else another thread may have recorded in between, and the point is to be asked
    /// for again.
    #[inline]
    pub(crate) fn is_open(&self, point: Point) -> bool {
        self.recorded.load(Ordering::Acquire) < point.epoch
    }

    fn point(&self, epoch: u64) -> Point {
        self.point_on(self.id, epoch)
    }

    /// A point of a stream of this platform.
    pub(super) fn point_on(&self, stream: u32, epoch: u64) -> Point {
        Point { platform: self.platform, stream, epoch }
    }

    /// Records an event if a use was noted since the last record: later waits for those uses then
    /// wait for no more than them.
    pub(crate) fn close(&self) -> DriverResult<()> {
        if self.open.load(Ordering::Acquire) {
            self.record_locked(&mut self.lock())?;
        }
        Ok(())
    }

    /// Records an event that is not of the ring.
    pub(super) fn record_on(&self, event: &OwnedEvent) -> DriverResult<()> {
        self.stream.record(event)
    }

    /// Records an event for all that was queued so far.
    pub(super) fn record(&self) -> DriverResult<Point> {
        let number = self.record_locked(&mut self.lock())?;
        Ok(self.point(number))
    }

    fn record_locked(&self, recording: &mut Recording) -> DriverResult<u64> {
        let number = self.recorded.load(Ordering::Relaxed) + 1;
        if self.left.load(Ordering::Acquire) {
            // Nothing was queued since the last record. If that failed, nothing stands for what was.
            let last = number - 1;
            return if self.slot(last).number() == last { Ok(last) } else { Err(self.lost()) };
        }
        self.open.store(false, Ordering::Release);
        crate::turns::point("a record that begins");
        self.recorded.store(number, Ordering::Release);
        let (slot, more) = (self.slot(number), &mut recording[number as usize % RING]);
        // Before the record: a wait that is queued later is not covered by it. If it fails, the slot stands for
        // nothing.
        slot.prepare(&self.seen, more, self.id, number);
        self.stream.record(slot.event())?;
        crate::turns::point("a record before its slot is set");
        slot.set(number, more);
        Ok(number)
    }

    /// Covers all that was queued by a record, after which the stream is not used any more. If it can't
    /// be recorded, waits for it.
    pub(super) fn leave(&self, table: &StreamTable) -> DriverResult<()> {
        let covered = self.bind().and_then(|()| match self.record() {
            Ok(_) => Ok(()),
            Err(_) => self.synchronize(table),
        });
        if covered.is_err() {
            // A number without an event: what was queued since the last record is lost, and that does not stand
            // for it.
            let _recording = self.lock();
            self.recorded.fetch_add(1, Ordering::AcqRel);
        }
        self.left.store(true, Ordering::Release);
        covered
    }

    #[cold]
    fn lost(&self) -> DriverError {
        DriverError::Call {
            call: "record_event",
            device: self.device(),
            code: 400,
            name: "INVALID_HANDLE".to_owned(),
            message:
                "the stream is gone, and what it did could be neither recorded nor waited for; \
                      the log says why"
                    .to_owned(),
        }
    }

    /// Another stream with the handle of the one that was left, or the same: it goes on where that was.
    pub(super) fn come_back(&self) -> DriverResult<()> {
        self.bind()?;
        let _recording = self.lock();
        let last = self.recorded.load(Ordering::Relaxed);
        let slot = self.slot(last);
        if slot.number() == last {
            self.stream.wait(slot.event())?;
        }
        self.left.store(false, Ordering::Release);
        Ok(())
    }

    /// The slot of a record, which may hold a later one.
    #[inline]
    fn slot(&self, number: u64) -> &Slot {
        &self.ring[number as usize % RING]
    }

    /// The number of a record that covers `epoch` and that a slot holds, if there is one.
    fn covered(&self, epoch: u64) -> Option<u64> {
        if self.slot(epoch).number() == epoch {
            return Some(epoch);
        }
        if epoch > self.recorded.load(Ordering::Relaxed) {
            return None;
        }
        // It was overwritten: the oldest one that is left is the one that waits least too long.
        self.ring.iter().map(Slot::number).filter(|number| *number >= epoch).min()
    }

    /// Whether whoever waits for record `epoch` of this stream comes after `point`, too. Not where it is
    /// not recorded yet.
    #[cold]
    pub(super) fn record_implies(&self, epoch: u64, point: Point) -> bool {
        let recording = self.lock();
        self.covered(epoch).is_some_and(|number| {
            let (more, mut implied) = (&recording[number as usize % RING], false);
            self.slot(number).for_each(more, |stream, number| {
                implied |= stream == point.stream && number >= point.epoch;
            });
            implied
        })
    }

    /// Whether work queued here now is ordered after `point` already. The point is one of this
    /// platform.
    #[inline]
    pub(crate) fn implies(&self, point: Point) -> bool {
        point.stream == self.id || self.seen.get(point.stream) >= point.epoch
    }

    /// Makes work queued here from now on wait for `point`, unless it does already.
    #[inline]
    pub(crate) fn wait(&self, table: &StreamTable, point: Point) -> Result<()> {
        if !self.is_of(point) {
            return Err(Error::foreign("a point"));
        }
        if self.implies(point) { Ok(()) } else { Ok(self.wait_for(table, point)?) }
    }

    /// Whether a point is one of this platform.
    #[inline]
    pub(super) fn is_of(&self, point: Point) -> bool {
        point.platform == self.platform
    }

    /// As [`wait`](Self::wait), for a point of this platform that is not implied.
    pub(super) fn wait_for(&self, table: &StreamTable, point: Point) -> DriverResult<()> {
        let other = table.timeline(point.stream);
        if other.completed.load(Ordering::Acquire) >= point.epoch {
            // Some thread found it complete, perhaps another one.
            table.tell(&Note::Relies { on: other.raw(), by: Some(self.raw()) });
            self.seen.raise(point.stream, point.epoch);
            return Ok(());
        }
        let wait = |event: &_| self.ready().and_then(|()| self.stream.wait(event));
        if let Some(waited) = other.slot(point.epoch).wait(point.epoch, &self.seen, wait) {
            return waited;
        }
        self.wait_locked(other, point)
    }

    /// As [`wait_for`](Self::wait_for), where nothing was recorded yet, or it takes the lock to see what.
    #[inline(never)]
    fn wait_locked(&self, other: &Self, point: Point) -> DriverResult<()> {
        let mut recording = other.lock();
        let number = match other.covered(point.epoch) {
            Some(number) => number,
            None => other.record_for(self, &mut recording)?,
        };
        self.ready()?;
        let slot = other.slot(number);
        self.stream.wait(slot.event())?;
        let more = &recording[number as usize % RING];
        slot.for_each(more, |stream, number| self.seen.raise(stream, number));
        Ok(())
    }

    /// Records for a stream that is to wait for it. If that fails, its device is bound again.
    fn record_for(&self, waiting: &Self, recording: &mut Recording) -> DriverResult<u64> {
        // An event is recorded with its own device bound. Also on the same device: a default stream's
        // handle says none, and a library may have bound another one since.
        if self.is_default || self.device() != waiting.device() {
            self.bind()?;
        }
        match self.record_locked(recording) {
            Err(error) => waiting.ready().and(Err(error)),
            recorded => recorded,
        }
    }

    /// Says that work queued here now is ordered after `point`, which is one of this platform, by a wait that
    /// did not say so: for something complete.
    #[cold]
    pub(super) fn comes_after(&self, point: Point) {
        if !self.implies(point) {
            self.seen.raise(point.stream, point.epoch);
        }
    }

    /// To be called when the stream gets a new holder.
    pub(super) fn forget_waits(&self) {
        self.seen.forget();
    }

    /// Raises `signal` when everything queued so far is complete. The device must be bound.
    pub(super) fn raise(&self, signal: &Arc<Signal>) -> DriverResult<()> {
        self.stream.raise(signal)
    }

    /// Whether everything queued so far is complete. Not asked of a stream that was left.
    pub(super) fn query(&self) -> DriverResult<bool> {
        self.stream.query()
    }

    fn lock(&self) -> Held<'_, Box<Recording>> {
        self.recording.lock()
    }

    /// Says that all is complete, which is not so: for controls.
    #[cfg(test)]
    pub(crate) fn lie(&self) {
        self.completed.store(u64::MAX, Ordering::Release);
    }
}
