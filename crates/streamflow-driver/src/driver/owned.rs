//! Owners of a driver's objects: dropping an owner destroys its object.
//!
//! A result is moved only if it is an error, since an error is large: this saves 30 instructions for a task. `record`
//! and `wait` are inlined into their callers, and the code that handles an error is out of line. Together with closing
//! a node's only stream without a loop, that saves 89 of 188 instructions for a task of a chain, and 388 of 814 of a
//! tick of NVIDIA's CudaStreamPool example, counted by callgrind on `floor`.

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::{
    BorrowedEvent, BorrowedStream, DeviceId, Driver, DriverError, DriverResult, MemoryRange,
    RawEvent, RawStream, StreamOptions, promise, report_in_drop,
};

/// A stream that is destroyed with its owner, unless it is a default stream or borrowed from other code.
#[doc(hidden)]
#[derive(Debug)]
pub struct OwnedStream {
    driver: Arc<dyn Driver>,
    raw: RawStream,
    /// Whether other code owns the stream.
    borrowed: bool,
    /// Whether the stream is its device's default stream.
    is_default: bool,
}

impl OwnedStream {
    #[doc(hidden)]
    pub fn create(
        driver: &Arc<dyn Driver>,
        device: DeviceId,
        options: StreamOptions,
    ) -> DriverResult<Self> {
        driver.bind(device)?;
        let raw = driver.create_stream(device, options)?;
        promise::check_made(&**driver, device, raw)?;
        Ok(Self::new(driver, raw, false))
    }

    #[doc(hidden)]
    #[inline]
    pub fn default_of(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Self> {
        let raw = driver.default_stream(device);
        promise::check_device("default_stream", device, raw.device())?;
        Ok(Self::new(driver, raw, true))
    }

    /// Wraps a stream that other code owns. After that code's loan of the stream has ended, only the handle of this
    /// value may be read.
    #[doc(hidden)]
    #[inline]
    pub fn borrowed(driver: &Arc<dyn Driver>, stream: BorrowedStream<'_>) -> Self {
        Self::new(driver, stream.raw(), true)
    }

    fn new(driver: &Arc<dyn Driver>, raw: RawStream, borrowed: bool) -> Self {
        let is_default = raw == driver.default_stream(raw.device());
        Self { driver: driver.clone(), raw, borrowed, is_default }
    }

    /// Whether the stream is its device's default stream; such a stream's handle means the current device.
    #[doc(hidden)]
    #[inline]
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Whether other code owns the stream, and may destroy it.
    #[doc(hidden)]
    #[inline]
    pub fn is_foreign(&self) -> bool {
        self.borrowed && !self.is_default
    }

    #[doc(hidden)]
    #[inline]
    pub fn raw(&self) -> RawStream {
        self.raw
    }

    #[doc(hidden)]
    #[inline]
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Tells the driver's observers that other code gets the handle of this stream.
    #[doc(hidden)]
    #[inline]
    pub fn hand_out(&self) {
        // SAFETY: the stream is alive while it is borrowed; if it is a borrowed stream, only the handle is used.
        unsafe { self.driver.observer().hand_out(self.raw) };
    }

    /// Calls [`Driver::record_event`]. For this method and the methods below, the device's context must be bound.
    #[doc(hidden)]
    #[inline(always)]
    pub fn record(&self, event: Event<'_>) -> DriverResult<()> {
        if !self.is_of(event) {
            return Err(of_another_driver("record_event", self.raw.device()));
        }
        // SAFETY: the event and the stream are alive, because they are borrowed from their owners, and both are of this driver.
        match unsafe { self.driver.record_event(event.raw, self.raw) } {
            Ok(()) => Ok(()),
            Err(error) => self.record_again(event, error),
        }
    }

    /// Calls [`Driver::wait_event`].
    #[doc(hidden)]
    #[inline(always)]
    pub fn wait(&self, event: Event<'_>) -> DriverResult<()> {
        if !self.is_of(event) {
            return Err(of_another_driver("wait_event", self.raw.device()));
        }
        // SAFETY: the event and the stream are alive, because they are borrowed from their owners, and both are of this driver.
        match unsafe { self.driver.wait_event(self.raw, event.raw) } {
            Ok(()) => Ok(()),
            Err(error) => self.wait_again(event, error),
        }
    }

    // Each tick calls `record` and `wait` once or twice. `record_again` and `wait_again` handle their errors out of
    // line, off the fast path: see `in_context`.

    #[cold]
    #[inline(never)]
    fn record_again(&self, event: Event<'_>, error: DriverError) -> DriverResult<()> {
        // SAFETY: the event and the stream are borrowed, so they are alive; `record` has compared their drivers.
        self.again(error, || unsafe { self.driver.record_event(event.raw, self.raw) })
    }

    #[cold]
    #[inline(never)]
    fn wait_again(&self, event: Event<'_>, error: DriverError) -> DriverResult<()> {
        // SAFETY: the event and the stream are borrowed, so they are alive; `wait` has compared their drivers.
        self.again(error, || unsafe { self.driver.wait_event(self.raw, event.raw) })
    }

    fn again<R>(&self, error: DriverError, call: impl Fn() -> DriverResult<R>) -> DriverResult<R> {
        in_context_again(&*self.driver, self.raw.device(), Some(self.raw), error, call)
    }

    /// Calls [`Driver::record_event`] with an event that other code owns.
    #[doc(hidden)]
    #[inline]
    pub fn record_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        event.check(&*self.driver)?;
        // SAFETY: the event and the stream are alive while they are borrowed; the code that borrowed the event vouches
        // for its driver.
        self.in_context(|| unsafe { self.driver.record_event(event.raw(), self.raw) })
    }

    /// Calls [`Driver::wait_event`] with an event that other code owns.
    #[doc(hidden)]
    #[inline]
    pub fn wait_borrowed(&self, event: BorrowedEvent<'_>) -> DriverResult<()> {
        event.check(&*self.driver)?;
        // SAFETY: the event and the stream are alive while they are borrowed; the code that borrowed the event vouches
        // for its driver.
        self.in_context(|| unsafe { self.driver.wait_event(self.raw, event.raw()) })
    }

    /// Calls [`Driver::query_stream`].
    #[doc(hidden)]
    #[inline]
    pub fn query(&self) -> DriverResult<bool> {
        // SAFETY: the stream is alive while it is borrowed.
        self.in_context(|| unsafe { self.driver.query_stream(self.raw) })
    }

    /// Calls [`Driver::synchronize_stream`].
    #[doc(hidden)]
    #[inline]
    pub fn synchronize(&self) -> DriverResult<()> {
        // SAFETY: the stream is alive while it is borrowed.
        self.in_context(|| unsafe { self.driver.synchronize_stream(self.raw) })
    }

    /// Calls the function [`in_context`] for this stream. That function does not repeat a call on a default stream: its
    /// handle names no device, so the device is bound before each call anyway.
    #[inline]
    fn in_context<R>(&self, call: impl Fn() -> DriverResult<R>) -> DriverResult<R> {
        in_context(&*self.driver, self.raw.device(), Some(self.raw), call)
    }

    /// Whether an event is of this driver: handles are numbers, and two drivers may use the same number.
    #[inline]
    fn is_of(&self, event: Event<'_>) -> bool {
        // `ptr_eq` compares the addresses of the drivers and not their vtables: two vtables of one type may differ.
        Arc::ptr_eq(&self.driver, event.driver)
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if self.borrowed {
            return;
        }
        // SAFETY: `raw` came from `create_stream` of this driver and this is its only owner.
        let destroy = || unsafe { self.driver.destroy_stream(self.raw) };
        give_back(&*self.driver, self.raw.device(), "destroying a stream", destroy);
    }
}

/// Destroys an object when its owner is dropped, with the object's device bound.
///
/// If binding fails, `destroy` is called all the same: a handle or an address names its context, and no other code
/// would destroy the object. After a sticky error `destroy` is not called.
fn give_back(
    driver: &dyn Driver,
    device: DeviceId,
    what: &'static str,
    destroy: impl FnOnce() -> DriverResult<()>,
) {
    if driver.sticky_error().is_some() {
        return;
    }
    report_in_drop(what, driver.bind(device));
    if driver.sticky_error().is_none() {
        report_in_drop(what, destroy());
    }
}

/// CUDA's code for a call without a current context.
const INVALID_CONTEXT: i32 = 201;

/// Makes a call that needs some context of this driver to be current. If a library has left this thread without a
/// current context since the device was bound, binds the device again and repeats the call: a record after a hook, or a
/// wait for that record, must not fail for this reason. A call on a default `stream` is not repeated: it needs its own
/// device.
#[inline]
fn in_context<R>(
    driver: &dyn Driver,
    device: DeviceId,
    stream: Option<RawStream>,
    call: impl Fn() -> DriverResult<R>,
) -> DriverResult<R> {
    match call() {
        // Most calls succeed and return here. An error is large, so a result that may be an error is not moved here.
        Ok(done) => Ok(done),
        Err(error) => in_context_again(driver, device, stream, error, call),
    }
}

#[cold]
#[inline(never)]
fn in_context_again<R>(
    driver: &dyn Driver,
    device: DeviceId,
    stream: Option<RawStream>,
    error: DriverError,
    call: impl Fn() -> DriverResult<R>,
) -> DriverResult<R> {
    match error {
        DriverError::Call { code: INVALID_CONTEXT, .. }
            if stream != Some(driver.default_stream(device)) =>
        {
            driver.bind(device)?;
            call()
        }
        error => Err(error),
    }
}

/// An event that is destroyed with its owner.
#[doc(hidden)]
#[derive(Debug)]
pub struct OwnedEvent {
    driver: Arc<dyn Driver>,
    raw: RawEvent,
}

#[cold]
#[inline(never)]
fn of_another_driver(call: &'static str, device: DeviceId) -> DriverError {
    DriverError::Call {
        call,
        device,
        code: 400,
        name: "INVALID_HANDLE".to_owned(),
        message: "the event belongs to another driver; use one of the stream's platform".to_owned(),
    }
}

impl OwnedEvent {
    /// Creates an event without timing. The device's context must be bound.
    #[doc(hidden)]
    pub fn create(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Self> {
        let raw = driver.create_event(device)?;
        promise::check_device("create_event", device, raw.device())?;
        Ok(Self { driver: driver.clone(), raw })
    }

    /// Creates an event as [`create`](Self::create) does; each record of this event also notes the time.
    #[doc(hidden)]
    pub fn with_timing(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Self> {
        let raw = driver.create_timing_event(device)?;
        promise::check_device("create_timing_event", device, raw.device())?;
        Ok(Self { driver: driver.clone(), raw })
    }

    /// Returns the milliseconds from this event's latest record to the latest record of `end`. Both events have timing
    /// and are recorded. Blocks until both records are complete. Returns an error if `end` is of another driver or
    /// device.
    #[doc(hidden)]
    pub fn elapsed_until(&self, end: &Self) -> DriverResult<f64> {
        if !Arc::ptr_eq(&self.driver, &end.driver) || self.raw.device() != end.raw.device() {
            return Err(of_another_driver("elapsed", self.raw.device()));
        }
        self.driver.bind(self.raw.device())?;
        self.synchronize()?;
        end.synchronize()?;
        // SAFETY: the two events are alive while they are borrowed, and their records are complete.
        let milliseconds = unsafe { self.driver.elapsed(self.raw, end.raw) }?;
        promise::check_elapsed(self.raw.device(), milliseconds)
    }

    /// Whether the event's device is simulated.
    #[doc(hidden)]
    pub fn is_simulated(&self) -> DriverResult<bool> {
        Ok(self.driver.device_info(self.raw.device())?.is_simulated)
    }

    /// Borrows the event.
    #[doc(hidden)]
    #[inline]
    pub fn get(&self) -> Event<'_> {
        Event { driver: &self.driver, raw: self.raw }
    }

    fn synchronize(&self) -> DriverResult<()> {
        self.get().synchronize()
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `create_event` of this driver and this is its only owner.
        let destroy = || unsafe { self.driver.destroy_event(self.raw) };
        give_back(&*self.driver, self.raw.device(), "destroying an event", destroy);
    }
}

/// Events of one device that are destroyed with their owner. They are close together in memory, so a graph with many
/// streams needs few cache lines.
#[doc(hidden)]
#[derive(Debug)]
#[repr(C, align(64))]
pub struct OwnedEvents<const N: usize> {
    driver: Arc<dyn Driver>,
    raw: ArrayVec<RawEvent, N>,
}

impl<const N: usize> OwnedEvents<N> {
    /// Creates `N` events. The device's context must be bound.
    #[doc(hidden)]
    pub fn create(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Box<Self>> {
        let mut events = Box::new(Self { driver: driver.clone(), raw: ArrayVec::new() });
        for _ in 0..N {
            // If a call fails, dropping `events` destroys the events that were made before.
            let raw = driver.create_event(device)?;
            promise::check_device("create_event", device, raw.device())?;
            events.raw.push(raw);
        }
        Ok(events)
    }

    /// Borrows the event at an index below `N`.
    #[doc(hidden)]
    #[inline]
    pub fn get(&self, index: usize) -> Event<'_> {
        Event { driver: &self.driver, raw: self.raw[index] }
    }
}

impl<const N: usize> Drop for OwnedEvents<N> {
    fn drop(&mut self) {
        for raw in &self.raw {
            // SAFETY: `raw` came from `create_event` of this driver and this is its only owner.
            let destroy = || unsafe { self.driver.destroy_event(*raw) };
            give_back(&*self.driver, raw.device(), "destroying an event", destroy);
        }
    }
}

/// An event that is borrowed from its owner.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    driver: &'a Arc<dyn Driver>,
    raw: RawEvent,
}

impl Event<'_> {
    #[doc(hidden)]
    #[inline]
    pub fn raw(self) -> RawEvent {
        self.raw
    }

    /// Calls [`Driver::query_event`]. The device's context must be bound for this method and for
    /// [`synchronize`](Self::synchronize).
    #[doc(hidden)]
    #[inline]
    pub fn query(self) -> DriverResult<bool> {
        // SAFETY: the event is alive while it is borrowed.
        let query = || unsafe { self.driver.query_event(self.raw) };
        in_context(&**self.driver, self.raw.device(), None, query)
    }

    /// Calls [`Driver::synchronize_event`].
    #[doc(hidden)]
    #[inline]
    pub fn synchronize(self) -> DriverResult<()> {
        // SAFETY: the event is alive while it is borrowed.
        let synchronize = || unsafe { self.driver.synchronize_event(self.raw) };
        in_context(&**self.driver, self.raw.device(), None, synchronize)
    }
}

/// Page-locked memory that is freed with its owner.
#[doc(hidden)]
#[derive(Debug)]
pub struct OwnedPinned {
    driver: Arc<dyn Driver>,
    device: DeviceId,
    range: MemoryRange,
}

impl OwnedPinned {
    /// Allocates memory that is all zero. The device's context must be bound.
    #[doc(hidden)]
    pub fn zeroed(driver: &Arc<dyn Driver>, device: DeviceId, bytes: u64) -> DriverResult<Self> {
        let range = driver.allocate_pinned(device, bytes)?;
        let range = promise::check_allocated("allocate_pinned", device, bytes, range)?;
        // SAFETY: the memory was just allocated with this length, and has no other owner.
        unsafe { std::ptr::write_bytes(range.address as *mut u8, 0, bytes as usize) };
        Ok(Self { driver: driver.clone(), device, range })
    }

    #[doc(hidden)]
    #[inline]
    pub fn range(&self) -> MemoryRange {
        self.range
    }
}

impl Drop for OwnedPinned {
    fn drop(&mut self) {
        // SAFETY: the memory came from `allocate_pinned` of this driver, and this is its only owner. The owner is dropped
        // only when no queued work uses the memory.
        let free = || unsafe { self.driver.free_pinned(self.device, self.range) };
        give_back(&*self.driver, self.device, "freeing page-locked memory", free);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::driver::host::HostDriver;

    /// Returns a stream and an event of a driver. Two drivers give their first streams, and their first events, equal handles.
    fn owners(driver: &Arc<dyn Driver>) -> (OwnedStream, OwnedEvent) {
        let device = DeviceId::default();
        let stream = OwnedStream::create(driver, device, StreamOptions::default()).unwrap();
        (stream, OwnedEvent::create(driver, device).unwrap())
    }

    #[test]
    fn events_of_another_driver_are_refused() {
        let [a, b]: [Arc<dyn Driver>; 2] =
            [(); 2].map(|()| Arc::new(HostDriver::builder().build()) as _);
        let ((stream, event), (_, foreign)) = (owners(&a), owners(&b));
        stream.record(event.get()).unwrap();
        stream.wait(event.get()).unwrap();
        stream.synchronize().unwrap();
        event.synchronize().unwrap();
        assert!(stream.query().unwrap() && event.get().query().unwrap());
        let several = OwnedEvents::<2>::create(&b, DeviceId::default()).unwrap();
        let (one, another) = (foreign.get(), several.get(1));
        let elapsed = event.elapsed_until(&foreign).map(drop);
        for refused in [stream.record(one), stream.wait(one), stream.record(another), elapsed] {
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("another driver"), "{text}");
        }
    }
}
