//! All streams of one platform.

use std::any::Any;
use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::timeline::{Parts, set_bound};
use super::{GreenContexts, PlatformNumber, Point, Timeline, notes};
use crate::driver::replay::ReplayedTick;
use crate::driver::{
    DeviceId, Driver, DriverResult, Note, OwnedStream, StreamFlags, StreamOptions, report_in_drop,
};
use crate::error::Result;
use crate::lock::Lock;
use crate::sync::boxcar;

static PLATFORMS: AtomicU32 = AtomicU32::new(0);

/// A value that another module attaches to the streams of a platform. It lives as long as they do.
pub(crate) trait Attached: Any + Send + Sync {
    /// Called when the host has found work of `device` complete. Returns an error that a kernel of that work has left in
    /// the value.
    fn inspect(&self, device: DeviceId) -> Result<()>;

    /// Whether queued work of `device` may use the value. If so, the value is dropped only after that work.
    fn is_used_by(&self, device: DeviceId) -> bool;
}

/// All streams of one platform, by number. Streams are made once and kept; pools allocate them.
pub(crate) struct StreamTable {
    platform: PlatformNumber,
    driver: Arc<dyn Driver>,
    /// Whether the driver takes notes, as the race checker does.
    watched: bool,
    /// How many devices the driver had when the table was made.
    devices: usize,
    /// CUDA's number of each device. `None` for each on the simulator.
    #[cfg(feature = "cudarc")]
    ordinals: Vec<Option<u32>>,
    /// The number of the tick that is replayed. `None` if the driver does not replay.
    replayed: Option<Arc<ReplayedTick>>,
    /// The streams by number. Numbers `0..device_count` are the devices' default streams.
    timelines: boxcar::Vec<Arc<Timeline>>,
    /// Streams that belong to no pool now, ready for the next pool.
    idle: Lock<Vec<Arc<Timeline>>>,
    /// Streams that belong to no pool now, and on which memory was allocated or freed.
    idle_of_memory: Lock<Vec<Arc<Timeline>>>,
    /// Locked while a stream gets its number.
    numbering: Lock<()>,
    attached: OnceLock<Box<dyn Attached>>,
    /// A value by which another module finds its memory from a stream. The value must not own the table.
    beside: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The timelines of external streams whose wrappers are all dropped.
    pub(super) detached: Lock<Vec<Arc<Timeline>>>,
    /// The divisions of devices that were made so far.
    pub(super) green: Lock<Vec<GreenContexts>>,
}

impl StreamTable {
    /// Creates a table with the default stream of each device.
    pub(crate) fn new(driver: Arc<dyn Driver>) -> DriverResult<Arc<Self>> {
        #[cfg(feature = "cudarc")]
        let ordinals = (0..driver.device_count() as u32)
            .map(|index| Ok(driver.device_info(DeviceId(index))?.ordinal))
            .collect::<DriverResult<_>>()?;
        let table = Self {
            platform: NonZero::<u32>::MIN.saturating_add(PLATFORMS.fetch_add(1, Ordering::Relaxed)),
            timelines: boxcar::Vec::new(),
            idle: Lock::default(),
            idle_of_memory: Lock::default(),
            numbering: Lock::default(),
            attached: OnceLock::new(),
            beside: OnceLock::new(),
            detached: Lock::default(),
            green: Lock::default(),
            watched: driver.observer().watches(),
            devices: driver.device_count(),
            #[cfg(feature = "cudarc")]
            ordinals,
            replayed: driver.observer().replays().map(|replays| replays.tick()),
            driver,
        };
        for index in 0..table.devices {
            let device = DeviceId(index as u32);
            table.driver.bind(device)?;
            let options =
                StreamOptions { flags: StreamFlags::Blocking, ..StreamOptions::default() };
            let stream = OwnedStream::default_of(&table.driver, device)?;
            let timeline = table.add(Parts::new(stream, options)?);
            timeline.set_label(format!("the default stream of {device}").into());
        }
        Ok(Arc::new(table))
    }

    /// Binds a device on the calling thread, and notes that: a later call for a stream of another device then binds that
    /// stream's device.
    pub(crate) fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.driver().bind(device)?;
        set_bound(self.platform(), device);
        Ok(())
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Whether the driver takes the notes of [`observe`](Self::observe).
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// The number of the tick that is replayed. `None` if the driver does not replay. Memory is chosen by this number, so
    /// that the driver's calls of later ticks repeat those of earlier ones.
    #[inline]
    pub(crate) fn replayed_tick(&self) -> Option<u64> {
        self.replayed.as_ref()?.get()
    }

    /// Passes a note to the driver, if it takes notes.
    #[inline]
    pub(crate) fn observe(&self, note: &Note<'_>) {
        if self.watched {
            notes::observe(&*self.driver, note);
        }
    }

    /// The number that all streams and memory of one platform share.
    pub(crate) fn platform(&self) -> PlatformNumber {
        self.platform
    }

    /// Whether a point is one of this platform.
    pub(crate) fn has(&self, point: Point) -> bool {
        point.platform == self.platform
    }

    /// The stream with this number. The number comes from a point or a use of this platform.
    pub(crate) fn timeline(&self, id: u32) -> &Arc<Timeline> {
        &self.timelines[id as usize]
    }

    /// Whether a stream of this platform is a device's default stream.
    pub(crate) fn is_default(&self, id: u32) -> bool {
        (id as usize) < self.devices
    }

    /// CUDA's number of a device of this platform.
    #[cfg(feature = "cudarc")]
    pub(super) fn ordinal(&self, device: DeviceId) -> Option<u32> {
        self.ordinals[device.index()]
    }

    /// How many devices the driver had when the table was made.
    pub(crate) fn device_count(&self) -> usize {
        self.devices
    }

    /// The default stream of a device of this platform.
    pub(super) fn default_timeline(&self, device: DeviceId) -> Arc<Timeline> {
        self.timelines[device.index()].clone()
    }

    /// Returns the attached value, which the first call makes. All calls name the same type.
    #[inline]
    pub(crate) fn attached<T: Attached>(&self, make: impl Fn(&Arc<dyn Driver>) -> T) -> &T {
        let found: &dyn Any = self.attached.get_or_init(|| Box::new(make(&self.driver))).as_ref();
        match found.downcast_ref() {
            Some(found) => found,
            None => unreachable!("two types are attached to one platform"),
        }
    }

    /// Returns the value in `self.beside`, which the first call makes. All calls name the same type.
    pub(crate) fn beside<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        let found: &dyn Any = self.beside.get_or_init(|| Box::new(make())).as_ref();
        match found.downcast_ref() {
            Some(found) => found,
            None => unreachable!("two types are beside one platform's streams"),
        }
    }

    /// Takes an idle stream with these options, or makes one.
    pub(crate) fn take(
        &self,
        device: DeviceId,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        self.take_of(&self.idle, device, options)
    }

    /// Takes a stream to allocate and free memory on. Such a stream never serves the program, even after it was returned:
    /// on a stream of CUDA that has allocated or freed memory, each later record and wait costs more.
    pub(crate) fn take_for_memory(&self, device: DeviceId) -> DriverResult<Arc<Timeline>> {
        self.take_of(&self.idle_of_memory, device, StreamOptions::default())
    }

    fn take_of(
        &self,
        idle: &Lock<Vec<Arc<Timeline>>>,
        device: DeviceId,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        let fits = |t: &Arc<Timeline>| t.device() == device && t.options() == options;
        let mut streams = idle.lock();
        if let Some(index) = streams.iter().position(fits) {
            return Ok(streams.swap_remove(index));
        }
        drop(streams);
        let stream = OwnedStream::create(&self.driver, device, options)?;
        Ok(self.add(Parts::new(stream, options)?))
    }

    /// Takes back a stream that its pool no longer needs.
    pub(crate) fn return_stream(&self, timeline: Arc<Timeline>) {
        self.idle.lock().push(timeline);
    }

    /// Takes back a stream that was [taken for memory](Self::take_for_memory).
    pub(crate) fn return_memory_stream(&self, timeline: Arc<Timeline>) {
        self.idle_of_memory.lock().push(timeline);
    }

    /// Adds an external stream.
    pub(super) fn add_external(
        &self,
        stream: OwnedStream,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        Ok(self.add(Parts::new(stream, options)?))
    }

    /// Gives a stream its number.
    fn add(&self, parts: Parts) -> Arc<Timeline> {
        let _numbering = self.numbering.lock();
        let id = self.timelines.count() as u32;
        let timeline = Arc::new(Timeline::new(self.platform, id, parts));
        self.timelines.push(timeline.clone());
        timeline
    }

    /// Blocks until all work of the platform is complete.
    ///
    /// # Errors
    /// The first error of a driver call or of the work itself.
    pub(crate) fn finish(&self) -> Result<()> {
        for (_, timeline) in self.timelines.iter() {
            timeline.bind()?;
            timeline.synchronize(self)?;
            self.inspect(timeline.device())?;
        }
        Ok(())
    }

    /// Calls [`Attached::inspect`]. The caller has found work of `device` complete.
    pub(crate) fn inspect(&self, device: DeviceId) -> Result<()> {
        self.attached.get().map_or(Ok(()), |attached| attached.inspect(device))
    }
}

impl Drop for StreamTable {
    /// Waits for work that may use the attached value.
    fn drop(&mut self) {
        #[cfg(feature = "cudarc")]
        super::lent::drop_unused();
        if self.driver.sticky_error().is_some() {
            // The device executes no more work after its sticky error, and the driver would free nothing.
            return;
        }
        for (_, timeline) in self.timelines.iter() {
            let device = timeline.device();
            if !self.attached.get().is_some_and(|attached| attached.is_used_by(device)) {
                continue;
            }
            let done = timeline.bind().and_then(|()| timeline.synchronize(self));
            if done.is_err() {
                // Leaking the value costs little memory. Dropping it while work may still use it would be unsound.
                std::mem::forget(std::mem::take(&mut self.attached));
                return report_in_drop("waiting for a platform's last work", done);
            }
        }
    }
}

impl fmt::Debug for StreamTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let streams = self.timelines.count();
        f.debug_struct("StreamTable")
            .field("driver", &self.driver)
            .field("streams", &streams)
            .finish()
    }
}
