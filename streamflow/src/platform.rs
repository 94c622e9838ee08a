//! Platforms: the GPUs of a machine, or the simulator. A graph is made for one [`Platform`], which has the devices, their streams
//! and their memory. [`Platform::builder`] makes a platform.

mod builder;
#[cfg(feature = "cudarc")]
mod cudarc;
#[cfg(feature = "dlpack")]
mod dlpack;
mod explored;
mod foreign;
pub(crate) mod handle;
mod host;
mod memory;
mod module;
mod options;
mod runs;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::driver::current;
use crate::driver::{BorrowedStream, Coscheduling, Driver, Note, RaceReports, SmSizes, promise};
use crate::error::{Error, Result};
use crate::memory::{MemoryOptions, MemoryPool, PinnedPool, PoolHandle};
use crate::stream::{
    CudaGreenContextPool, CudaStream, CudaStreamPool, ExternalStream, GreenContexts, Point,
    StreamPool, StreamTable,
};
use crate::time::Clock;
#[doc(inline)]
pub use streamflow_driver::driver::{DeviceId, DeviceInfo};

use self::explored::Explored;
pub use builder::PlatformBuilder;
pub(crate) use handle::{Platform, device};
pub use host::HostPlatform;
use options::PlatformOptions;
pub(crate) use options::RACE_CHECK;
pub(crate) use runs::RunInProgress;

struct Inner {
    // The fields are declared in the order in which they are dropped: the memory, and then the stream table, which has the
    // driver.
    devices: Vec<Device>,
    table: Arc<StreamTable>,
    memory: MemoryOptions,
    clock: Clock,
    spin: Duration,
    statistics: bool,
    why: String,
    /// The number of the run of an explored test in which the platform was made; 0 outside of explored tests.
    explored_in: u64,
    runs: runs::Runs,
}

struct Device {
    info: DeviceInfo,
    memory: PoolHandle<MemoryPool>,
    pinned: PoolHandle<PinnedPool>,
}

impl Platform {
    /// Returns a builder of platforms. Set options on it, and then call [`detect`](PlatformBuilder::detect),
    /// [`cuda`](PlatformBuilder::cuda), [`host`](PlatformBuilder::host) or [`driver`](PlatformBuilder::driver). Without options,
    /// [`Platform::detect`], [`Platform::cuda`] and [`Platform::host`] are shorter.
    pub fn builder() -> PlatformBuilder {
        PlatformBuilder::default()
    }

    /// Makes a platform of the GPUs of this machine, without the simulator as a fallback: short for `Platform::builder().cuda()`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable), with a remedy, if this machine has no CUDA driver
    /// or no GPU, or if the driver is too old.
    pub fn cuda() -> Result<Self> {
        Self::builder().cuda()
    }

    /// Returns a builder for a platform on the simulator, which follows CUDA's ordering rules on the host and executes work in an
    /// order that a seed decides. This is short for `Platform::builder()`, but ends with `.build()` instead of `.host()`. See the
    /// [limits of the simulator](Self#what-the-simulator-does-not-do).
    ///
    /// ```
    /// # fn main() -> streamflow::Result<()> {
    /// let platform = streamflow::Platform::host().seed(3).build()?;
    /// assert_eq!(platform.name(), "host");
    /// # Ok(())
    /// # }
    /// ```
    pub fn host() -> HostPlatform {
        HostPlatform(Self::builder())
    }

    /// Makes a platform by [`cuda`](Self::cuda) if that works, and else one on the [simulator](Self::host): short for
    /// `Platform::builder().detect()`. If it is the simulator, the reason is logged as a warning, or printed on standard error if
    /// no subscriber of `tracing` accepts warnings. [`why`](Self::why) returns the reason, too. A program that must not run on
    /// the simulator, as a measurement, should call [`cuda`](Self::cuda): see the [limits of the
    /// simulator](Self#what-the-simulator-does-not-do).
    ///
    /// # Errors
    /// An error only if neither CUDA nor the simulator can be started.
    pub fn detect() -> Result<Self> {
        Self::builder().detect()
    }

    fn new(driver: Arc<dyn Driver>, why: &str, options: PlatformOptions) -> Result<Self> {
        let works_alone = promise::check_observers(&*driver)?;
        let driver = options.layered(driver)?;
        let PlatformOptions { memory: options, clock, spin, statistics, .. } = options;
        if spin > options::LONGEST_SPIN {
            return Err(Error::Spin { asked: spin, longest: options::LONGEST_SPIN });
        }
        let test = Explored::begin();
        let table = StreamTable::new(driver.clone())?;
        let devices = (0..table.device_count() as u32)
            .map(|index| {
                let device = DeviceId(index);
                let pinned = PinnedPool::new(&table, device, options);
                pinned.pool().publish();
                let (info, memory) =
                    (driver.device_info(device)?, MemoryPool::new(&table, device, options)?);
                Ok(Device { info, memory, pinned })
            })
            .collect::<Result<Vec<Device>>>()?;
        let simulated = devices.iter().position(|device| device.info.is_simulated);
        if let Some(index) = simulated.filter(|_| works_alone) {
            return Err(promise::told_nothing(DeviceId(index as u32)).into());
        }
        let (why, runs) = (why.to_owned(), runs::Runs::default());
        let explored_in = test.run_of_the_new()?;
        let memory = options;
        let inner =
            Inner { devices, table, memory, clock, spin, statistics, why, explored_in, runs };
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the name of the driver: `"cuda"` or `"host"`.
    pub fn name(&self) -> &str {
        self.driver().name()
    }

    /// Returns whether the devices are simulated. Times of simulated devices say nothing about a GPU, and they differ in
    /// [more](Self#what-the-simulator-does-not-do).
    pub fn is_simulated(&self) -> bool {
        self.0.devices.iter().any(|device| device.info.is_simulated)
    }

    /// Returns the reason why this platform was chosen, as text.
    pub fn why(&self) -> &str {
        &self.0.why
    }

    /// Returns the clock of this platform.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Returns how long an idle scheduler queries the events for which its nodes wait, before its thread sleeps.
    pub(crate) fn spin(&self) -> Duration {
        self.0.spin
    }

    /// Returns whether runs keep statistics.
    pub(crate) fn has_statistics(&self) -> bool {
        self.0.statistics
    }

    /// Returns the platform's driver, for calls that streamflow does not offer.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        // The caller may make another device current through the driver, so the remembered current device is no longer trusted.
        current::doubt();
        self.0.table.driver()
    }

    /// Returns whether a [race checker](crate::driver::race) watches this platform.
    pub fn is_race_checked(&self) -> bool {
        self.0.table.is_watched()
    }

    /// Returns the races that were found since the last call; none without a race checker. A graph's run ends with
    /// [`Error::Races`] if races were found during the run, even if this method has already returned them.
    pub fn take_races(&self) -> RaceReports {
        self.driver().observer().take_races()
    }

    /// Sends a note to the driver's layers, if a layer uses notes.
    pub(crate) fn observe(&self, note: &Note<'_>) {
        self.0.table.observe(note);
    }

    /// Returns whether a layer of the driver uses notes.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.table.is_watched()
    }

    /// Returns the number of devices of the platform. They are `device(0)`, `device(1)` and so on.
    pub fn device_count(&self) -> usize {
        self.0.devices.len()
    }

    /// Returns the properties of a device.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_info(&self, device: DeviceId) -> Result<&DeviceInfo> {
        Ok(&self.device(device, "`device_info`")?.info)
    }

    /// Makes a stream pool. `name` is the pool's name in error messages and reports.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver, when a reserved stream can't be made.
    pub fn stream_pool(&self, name: &str, description: &CudaStreamPool) -> Result<StreamPool> {
        StreamPool::new(&self.0.table, name, description)
    }

    /// Returns the sizes of the partitions into which a device's multiprocessors can be divided.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable) if the CUDA driver has no
    /// green contexts; errors of the driver.
    pub fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> Result<SmSizes> {
        self.device(device, "`sm_sizes`")?;
        Ok(self.driver().sm_sizes(device, coscheduling)?)
    }

    /// Divides a device's multiprocessors into partitions, unless that was done already, and returns the partitions. Stream pools
    /// [on](CudaStreamPool::on) a green context call this method themselves.
    ///
    /// # Errors
    /// The errors of [`sm_sizes`](Self::sm_sizes), and [`Error::GreenContexts`] with the legal sizes.
    pub fn green_contexts(&self, pool: &CudaGreenContextPool) -> Result<GreenContexts> {
        self.0.table.green_contexts(pool)
    }

    /// Returns the legacy default stream of a device. This stream and the [`Blocking`](crate::stream::StreamFlags::Blocking)
    /// streams of the device wait for each other.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn default_stream(&self, device: DeviceId) -> Result<CudaStream> {
        self.device(device, "`default_stream`")?;
        Ok(CudaStream::default_of(&self.0.table, device))
    }

    /// Borrows a stream of other code, as of another library or of the surrounding program. The code that makes the
    /// [`BorrowedStream`], which is `unsafe`, promises that the stream is valid. For default streams see
    /// [`default_stream`](Self::default_stream).
    ///
    /// In the other direction, [`CudaStream::raw`] returns the handle of a stream of this platform. A library's functions that
    /// take such a handle are `unsafe` themselves.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver.
    pub fn external_stream<'a>(&self, stream: BorrowedStream<'a>) -> Result<ExternalStream<'a>> {
        let table = self.table(stream.raw().device(), "`external_stream`")?;
        ExternalStream::wrap(table, stream)
    }

    /// Returns the stream table, if the device exists. `who` names the caller in the error.
    pub(crate) fn table(&self, device: DeviceId, who: &str) -> Result<&Arc<StreamTable>> {
        self.device(device, who)?;
        Ok(&self.0.table)
    }

    /// Returns the stream table: all streams of the platform, with their records.
    pub(crate) fn streams(&self) -> &Arc<StreamTable> {
        &self.0.table
    }

    /// Returns another handle of the stream on which a point is. The point must belong to this platform.
    pub(crate) fn stream_of(&self, point: Point) -> CudaStream {
        CudaStream::adopted(&self.0.table, point)
    }

    /// Returns whether all work before a point is complete. Does not block.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; errors of the driver, which may be errors of earlier work.
    pub fn is_complete(&self, point: Point) -> Result<bool> {
        if !self.0.table.has(point) {
            return Err(Error::foreign("a point"));
        }
        let complete = self.0.table.is_complete(point)?;
        if complete {
            self.0.table.inspect(self.0.table.timeline(point.stream()).device())?;
        }
        Ok(complete)
    }

    fn device(&self, device: DeviceId, who: &str) -> Result<&Device> {
        let devices = self.0.devices.len();
        let missing = || Error::NoSuchDevice { who: who.to_owned(), device, devices };
        self.0.devices.get(device.index()).ok_or_else(missing)
    }

    fn of(&self, stream: &CudaStream) -> Result<&Device> {
        if stream.table().platform() != self.0.table.platform() {
            return Err(Error::foreign("a stream"));
        }
        self.device(stream.device(), "a stream")
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices: Vec<_> = self.0.devices.iter().map(|device| &device.info.name).collect();
        f.debug_struct("Platform").field("name", &self.name()).field("devices", &devices).finish()
    }
}
