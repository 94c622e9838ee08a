//! All streams of one platform.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Timeline;
use crate::driver::{
    DeviceId, Driver, DriverResult, LoadedKernels, OwnedPinned, OwnedStream, StreamFlags,
    StreamOptions,
};
use crate::error::Result;

/// Tells platforms apart within a process.
static PLATFORMS: AtomicU32 = AtomicU32::new(0);

/// What is looked at after the host has waited for a device.
type Inspection = Box<dyn Fn(DeviceId) -> Result<()> + Send + Sync>;

/// All streams of one platform, by number. Streams are made once and kept; pools lend them.
pub(crate) struct StreamTable {
    platform: u32,
    driver: Arc<dyn Driver>,
    /// Numbers `0..device_count` are the default streams.
    timelines: boxcar::Vec<Arc<Timeline>>,
    /// Streams that no pool holds. Locked while one is made, so that numbers are given in order.
    idle: Mutex<Vec<Arc<Timeline>>>,
    inspections: boxcar::Vec<Inspection>,
    /// By device.
    kernels: Vec<LoadedKernels>,
    /// By device: where kernels report to the host, made when first asked for.
    reports: Vec<OnceLock<OwnedPinned>>,
}

impl StreamTable {
    /// With the default stream of each device.
    pub(crate) fn new(driver: Arc<dyn Driver>) -> DriverResult<Arc<Self>> {
        let table = Self {
            platform: PLATFORMS.fetch_add(1, Ordering::Relaxed),
            timelines: boxcar::Vec::new(),
            idle: Mutex::new(Vec::new()),
            inspections: boxcar::Vec::new(),
            kernels: (0..driver.device_count()).map(|_| LoadedKernels::new()).collect(),
            reports: (0..driver.device_count()).map(|_| OnceLock::new()).collect(),
            driver,
        };
        for index in 0..table.driver.device_count() {
            let device = DeviceId(index as u32);
            table.driver.bind(device)?;
            let options = StreamOptions { flags: StreamFlags::Blocking, priority: 0 };
            table.add(
                &table.lock_idle(),
                OwnedStream::default_of(&table.driver, device),
                options,
            )?;
        }
        Ok(Arc::new(table))
    }

    pub(crate) fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// The number that all streams and memory of one platform share.
    pub(crate) fn platform(&self) -> u32 {
        self.platform
    }

    /// The stream of a point or use, which only this table gives out.
    pub(crate) fn timeline(&self, id: u32) -> &Arc<Timeline> {
        &self.timelines[id as usize]
    }

    /// The device is one of the platform's.
    pub(super) fn default_timeline(&self, device: DeviceId) -> Arc<Timeline> {
        self.timelines[device.index()].clone()
    }

    /// The kernels that are loaded on one of the platform's devices.
    pub(crate) fn kernels(&self, device: DeviceId) -> &LoadedKernels {
        &self.kernels[device.index()]
    }

    /// Memory of `bytes` zeroes, at first, that kernels of `device` report into, for as long as the
    /// platform lives; `look` is called with its address whenever the host has waited.
    pub(crate) fn report(
        &self,
        device: DeviceId,
        bytes: u64,
        look: fn(u64) -> Result<()>,
    ) -> Result<u64> {
        let slot = &self.reports[device.index()];
        if let Some(report) = slot.get() {
            return Ok(report.range().address);
        }
        let _one_at_a_time = self.lock_idle();
        if slot.get().is_none() {
            let report = OwnedPinned::zeroed(&self.driver, device, bytes)?;
            let address = report.range().address;
            let here =
                move |waited: DeviceId| if waited == device { look(address) } else { Ok(()) };
            self.inspections.push(Box::new(here));
            let _set = slot.set(report);
        }
        Ok(slot.get().map_or(0, |report| report.range().address))
    }

    /// An idle stream with these options, or a new one.
    pub(crate) fn take(
        &self,
        device: DeviceId,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        let mut idle = self.lock_idle();
        let fits = |t: &Arc<Timeline>| t.device() == device && t.options() == options;
        if let Some(found) = idle.iter().position(fits) {
            return Ok(idle.swap_remove(found));
        }
        let stream = OwnedStream::create(&self.driver, device, options)?;
        self.add(&idle, stream, options)
    }

    /// Takes a stream back that a pool no longer needs.
    pub(crate) fn give_back(&self, timeline: Arc<Timeline>) {
        self.lock_idle().push(timeline);
    }

    fn add(
        &self,
        _numbers_in_order: &MutexGuard<'_, Vec<Arc<Timeline>>>,
        stream: OwnedStream,
        options: StreamOptions,
    ) -> DriverResult<Arc<Timeline>> {
        let id = self.timelines.count() as u32;
        let timeline = Arc::new(Timeline::new(self.platform, id, stream, options)?);
        self.timelines.push(timeline.clone());
        Ok(timeline)
    }

    /// Called when the host has waited for work of `device`.
    pub(crate) fn inspect(&self, device: DeviceId) -> Result<()> {
        self.inspections.iter().try_for_each(|(_, look)| look(device))
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<Arc<Timeline>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
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
