//! A layer that counts driver calls, and makes the device appear to be behind the host.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{CopyOp, DriverResult, Launch, Layer, RawEvent};

/// How often each kind of call was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often `launch` was called.
    pub launches: u64,
    /// How often `copy` was called.
    pub copies: u64,
    /// How often `record_event` was called.
    pub records: u64,
    /// How often `wait_event` was called.
    pub waits: u64,
    /// How often `query_event` and `query_stream` were called.
    pub queries: u64,
    /// How often `synchronize_event` and `synchronize_stream` were called.
    pub synchronizations: u64,
    /// How often `bind` was called.
    pub binds: u64,
}

/// How much work was queued, and how much of it counts as done.
#[derive(Debug, Default)]
struct Device {
    counts: Counts,
    /// How many launches, copies, records and waits were queued.
    queued: u64,
    /// Up to which of these calls a thread has waited for the work.
    done: u64,
    /// For each event, the number of its latest record among these calls; for each stream, the number of its latest work.
    events: HashMap<u64, u64>,
    streams: HashMap<u64, u64>,
}

/// A layer that counts calls. A query finds work complete only if a set number of calls was queued after it, or if a
/// thread has waited for it. This stands for the pace of a real device.
#[derive(Debug)]
pub struct Behind {
    below: Arc<dyn Driver>,
    by: AtomicU64,
    device: Mutex<Device>,
}

impl Behind {
    /// Creates the layer above a driver that answers each query with "complete".
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, by: AtomicU64::new(0), device: Mutex::default() }
    }

    /// Sets by how many calls the device is behind from now on.
    pub fn set(&self, calls: u64) {
        self.by.store(calls, Ordering::Relaxed);
    }

    /// Returns the calls counted so far.
    pub fn counts(&self) -> Counts {
        self.device().counts
    }

    fn device(&self) -> MutexGuard<'_, Device> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call that queues work on a stream. Returns its number.
    fn queue(&self, stream: RawStream, count: impl FnOnce(&mut Counts) -> &mut u64) -> u64 {
        let mut device = self.device();
        *count(&mut device.counts) += 1;
        device.queued += 1;
        let place = device.queued;
        device.streams.insert(stream.handle(), place);
        place
    }

    /// Whether the device counts as having reached the call that `place` returns.
    fn has_reached(&self, place: impl FnOnce(&Device) -> Option<u64>) -> bool {
        let mut device = self.device();
        device.counts.queries += 1;
        let Some(place) = place(&device) else { return true };
        place <= device.done || place + self.by.load(Ordering::Relaxed) <= device.queued
    }

    /// Notes that a thread waits for the call that `place` returns.
    fn wait(&self, place: impl FnOnce(&Device) -> Option<u64>) {
        let mut device = self.device();
        device.counts.synchronizations += 1;
        device.done = device.done.max(place(&device).unwrap_or(0));
    }
}

// SAFETY: all calls are passed to the driver below. The answer "not complete" promises nothing.
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
