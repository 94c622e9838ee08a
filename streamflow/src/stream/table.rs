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

/// A value that another module attaches to the streams of a platform. The value lives as long as the streams.
pub(crate) trait Attached: Any + Send + Sync {
    /// Called when the host has found work of `device` complete. Returns an error if a kernel of that work has stored one in the
    /// value.
    fn inspect(&self, device: DeviceId) -> Result<()>;

    /// Whether queued work of `device` may use the value. If so, the value is dropped only after that work is complete.
    fn is_used_by(&self, device: DeviceId) -> bool;
}

/// All streams of one platform, by number. A stream is made once and never destroyed before the table; pools allocate streams.
pub(crate) struct StreamTable {
    platform: PlatformNumber,
    driver: Arc<dyn Driver>,
    /// Whether the driver uses notes, as one with a race checker does.
    watched: bool,
    /// The number of devices that the driver had when the table was made.
    devices: usize,
    /// CUDA's number for each device. `None` for a simulated device.
    #[cfg(feature = "cudarc")]
    ordinals: Vec<Option<u32>>,
    /// The number of the tick that is replayed; `None` if the driver does not replay ticks.
    replayed: Option<Arc<ReplayedTick>>,
    /// The streams, by number. The first `devices` of them are the devices' default streams.
    timelines: boxcar::Vec<Arc<Timeline>>,
    /// Streams that belong to no pool now. The next pool takes them.
    idle: Lock<Vec<Arc<Timeline>>>,
    /// Streams that belong to no pool now, and on which memory was allocated or freed.
    idle_of_memory: Lock<Vec<Arc<Timeline>>>,
    /// Locked while a new stream gets its number.
    numbering: Lock<()>,
    attached: OnceLock<Box<dyn Attached>>,
    /// A value that another module looks up by the table, to find its memory. The value must not own the table.
    beside: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The timelines of external streams whose wrappers were all dropped.
    pub(super) detached: Lock<Vec<Arc<Timeline>>>,
    /// The green contexts of every description that has divided a device so far.
    pub(super) green: Lock<Vec<GreenContexts>>,
}

impl StreamTable {
    /// Creates a table that has the default stream of each device.
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

    /// Binds a device on the calling thread, and stores that it is bound. Calls for a stream of another device then bind that
    /// device.
    pub(crate) fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.driver().bind(device)?;
        set_bound(self.platform(), device);
        Ok(())
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Whether the driver uses the notes that [`observe`](Self::observe) passes on.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// The number of the tick that is replayed; `None` if the driver does not replay ticks. Memory is chosen by this number, so
    /// that later ticks repeat the driver calls of earlier ticks with the same memory.
    #[inline]
    pub(crate) fn replayed_tick(&self) -> Option<u64> {
        self.replayed.as_ref()?.get()
    }

    /// Passes a note to the driver's observer, if the driver uses notes.
    #[inline]
    pub(crate) fn observe(&self, note: &Note<'_>) {
        if self.watched {
            notes::observe(&*self.driver, note);
        }
    }

    /// The number of the platform. All its streams and its memory have this number.
    pub(crate) fn platform(&self) -> PlatformNumber {
        self.platform
    }

    /// Whether a point is a point of this platform.
    pub(crate) fn has(&self, point: Point) -> bool {
        point.platform == self.platform
    }

    /// Returns the stream with this number. The number comes from a point or from a use of memory of this platform.
    pub(crate) fn timeline(&self, id: u32) -> &Arc<Timeline> {
        &self.timelines[id as usize]
    }

    /// Whether a stream of this platform is a device's default stream.
    pub(crate) fn is_default(&self, id: u32) -> bool {
        (id as usize) < self.devices
    }

    /// CUDA's number for a device of this platform; `None` on the simulator.
    #[cfg(feature = "cudarc")]
    pub(super) fn ordinal(&self, device: DeviceId) -> Option<u32> {
        self.ordinals[device.index()]
    }

    /// The number of devices that the driver had when the table was made.
    pub(crate) fn device_count(&self) -> usize {
        self.devices
    }

    /// Returns the default stream of a device of this platform.
    pub(super) fn default_timeline(&self, device: DeviceId) -> Arc<Timeline> {
        self.timelines[device.index()].clone()
    }

    /// Returns the value attached to the streams. The first call makes it. Every call must name the same type.
    #[inline]
    pub(crate) fn attached<T: Attached>(&self, make: impl Fn(&Arc<dyn Driver>) -> T) -> &T {
        let found: &dyn Any = self.attached.get_or_init(|| Box::new(make(&self.driver))).as_ref();
        match found.downcast_ref() {
            Some(found) => found,
            None => unreachable!("two types are attached to one platform"),
        }
    }

    /// Returns the value in `self.beside`. The first call makes it. Every call must name the same type.
    pub(crate) fn beside<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        let found: &dyn Any = self.beside.get_or_init(|| Box::new(make())).as_ref();
        match found.downcast_ref() {
            Some(found) => found,
            None => unreachable!("two types are beside one platform's streams"),
        }
    }

    /// Takes an idle stream with these options, or makes a stream.
    pub(crate) fn take(
        &self,
        device: DeviceId,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        self.take_of(&self.idle, device, options)
    }

    /// Takes a stream on which memory is allocated and freed. The stream is never given to the program, even after it was
    /// returned: after memory was allocated or freed on a CUDA stream, each record and each wait on that stream costs more.
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

    /// Takes back a stream that its pool no longer needs, for the next pool.
    pub(crate) fn return_stream(&self, timeline: Arc<Timeline>) {
        self.idle.lock().push(timeline);
    }

    /// Takes back a stream that was [taken for memory](Self::take_for_memory).
    pub(crate) fn return_memory_stream(&self, timeline: Arc<Timeline>) {
        self.idle_of_memory.lock().push(timeline);
    }

    /// Adds an external stream to the table.
    pub(super) fn add_external(
        &self,
        stream: OwnedStream,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        Ok(self.add(Parts::new(stream, options)?))
    }

    /// Gives a new stream its number, and adds it to the table.
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
    /// The first error of a driver call, or of the work itself.
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
    /// Waits for queued work that may use the attached value, before the value is dropped.
    fn drop(&mut self) {
        #[cfg(feature = "cudarc")]
        super::lent::drop_unused();
        if self.driver.sticky_error().is_some() {
            // After a sticky error the device executes no more work, so nothing can use the value, and the driver frees nothing.
            return;
        }
        for (_, timeline) in self.timelines.iter() {
            let device = timeline.device();
            if !self.attached.get().is_some_and(|attached| attached.is_used_by(device)) {
                continue;
            }
            let done = timeline.bind().and_then(|()| timeline.synchronize(self));
            if done.is_err() {
                // If the wait fails, the value is leaked, which costs little memory. Work may still use it, so dropping it would
                // be unsound.
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
