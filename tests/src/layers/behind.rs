//! A driver that counts calls, with a device that is behind the host.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{CopyOp, DriverResult, Launch, Layer, RawEvent};

/// How often each kind of call was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// `launch`.
    pub launches: u64,
    /// `copy`.
    pub copies: u64,
    /// `record_event`.
    pub records: u64,
    /// `wait_event`.
    pub waits: u64,
    /// `query_event` and `query_stream`.
    pub queries: u64,
    /// `synchronize_event` and `synchronize_stream`.
    pub synchronizations: u64,
    /// `bind`.
    pub binds: u64,
}

/// The work of the device, and the part of it that is done.
#[derive(Debug, Default)]
struct Device {
    counts: Counts,
    /// The calls of launches, copies, records and waits.
    queued: u64,
    /// The work that a thread has waited for.
    done: u64,
    /// The place of the latest record of an event, and of the latest work of a stream.
    events: HashMap<u64, u64>,
    streams: HashMap<u64, u64>,
}

/// Counts calls. A query finds work complete if it was queued so many calls ago, in place of a real device's pace, or
/// if a thread has waited for it.
#[derive(Debug)]
pub struct Behind {
    below: Arc<dyn Driver>,
    by: AtomicU64,
    device: Mutex<Device>,
}

impl Behind {
    /// Passes all calls on, over a driver that answers each query with "complete".
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, by: AtomicU64::new(0), device: Mutex::default() }
    }

    /// From now on the device is so many calls behind.
    pub fn set(&self, calls: u64) {
        self.by.store(calls, Ordering::Relaxed);
    }

    /// The calls until now.
    pub fn counts(&self) -> Counts {
        self.device().counts
    }

    fn device(&self) -> MutexGuard<'_, Device> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes work on a stream.
    fn queue(&self, stream: RawStream, count: impl FnOnce(&mut Counts) -> &mut u64) -> u64 {
        let mut device = self.device();
        *count(&mut device.counts) += 1;
        device.queued += 1;
        let place = device.queued;
        device.streams.insert(stream.handle(), place);
        place
    }

    /// Whether the device has come to a place.
    fn has_reached(&self, place: impl FnOnce(&Device) -> Option<u64>) -> bool {
        let mut device = self.device();
        device.counts.queries += 1;
        let Some(place) = place(&device) else { return true };
        place <= device.done || place + self.by.load(Ordering::Relaxed) <= device.queued
    }

    /// A thread waits for a place.
    fn wait(&self, place: impl FnOnce(&Device) -> Option<u64>) {
        let mut device = self.device();
        device.counts.synchronizations += 1;
        device.done = device.done.max(place(&device).unwrap_or(0));
    }
}

// SAFETY: all calls are passed on. "Not complete" promises nothing.
unsafe impl Layer for Behind {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.device().counts.binds += 1;
        self.below.bind(device)
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let place = self.queue(stream, |counts| &mut counts.records);
        self.device().events.insert(event.handle(), place);
        pass!([unsafe] self.below.record_event(event, stream))
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.queue(stream, |counts| &mut counts.waits);
        pass!([unsafe] self.below.wait_event(stream, event))
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let reached = self.has_reached(|device| device.events.get(&event.handle()).copied());
        Ok(pass!([unsafe] self.below.query_event(event))? && reached)
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        let reached = self.has_reached(|device| device.streams.get(&stream.handle()).copied());
        Ok(pass!([unsafe] self.below.query_stream(stream))? && reached)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.wait(|device| device.events.get(&event.handle()).copied());
        pass!([unsafe] self.below.synchronize_event(event))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.wait(|device| device.streams.get(&stream.handle()).copied());
        pass!([unsafe] self.below.synchronize_stream(stream))
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.queue(stream, |counts| &mut counts.copies);
        pass!([unsafe] self.below.copy(stream, copy))
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.queue(stream, |counts| &mut counts.launches);
        pass!([unsafe] self.below.launch(stream, launch))
    }
}
