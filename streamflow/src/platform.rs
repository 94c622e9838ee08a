//! Platforms: the GPUs of a machine, or the simulator. A graph is made for a [`Platform`]: it has the devices, their
//! streams and their memory. [`Platform::builder`] makes a platform.

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
    // The fields are in their order of drop: memory before streams, the driver last.
    devices: Vec<Device>,
    table: Arc<StreamTable>,
    memory: MemoryOptions,
    clock: Clock,
    spin: Duration,
    statistics: bool,
    why: String,
    /// The number of the explored run that the platform belongs to; 0 outside of explored tests.
    explored_in: u64,
    runs: runs::Runs,
}

struct Device {
    info: DeviceInfo,
    memory: PoolHandle<MemoryPool>,
    pinned: PoolHandle<PinnedPool>,
}

impl Platform {
    /// Returns a builder of platforms: set options, and then end with [`detect`](PlatformBuilder::detect),
    /// [`cuda`](PlatformBuilder::cuda), [`host`](PlatformBuilder::host) or [`driver`](PlatformBuilder::driver).
    /// [`Platform::detect`], [`Platform::cuda`] and [`Platform::host`] are short forms.
    pub fn builder() -> PlatformBuilder {
        PlatformBuilder::default()
    }

    /// Makes a platform of the GPUs of this machine: short for `Platform::builder().cuda()`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable), with a remedy, when there is no
    /// CUDA driver, no GPU, or the driver is too old.
    pub fn cuda() -> Result<Self> {
        Self::builder().cuda()
    }

    /// Returns a builder for the simulator: CUDA's ordering rules on the host, with work executed in an order that a
    /// seed decides. Short for `Platform::builder()` with `.host()` at the end; here `.build()` is the end. See the
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

    /// Makes a platform by [`cuda`](Self::cuda) if that works, else of the [simulator](Self::host): short for
    /// `Platform::builder().detect()`. For the simulator, a warning has the reason if a subscriber of `tracing` takes it, else
    /// a line on standard error; [`why`](Self::why) has the reason, too. A program that must not run on the simulator, as a
    /// measurement, calls [`cuda`](Self::cuda): see the [limits of the simulator](Self#what-the-simulator-does-not-do).
    ///
    /// # Errors
    /// Only when neither can be started.
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

    /// `"cuda"` or `"host"`.
    pub fn name(&self) -> &str {
        self.driver().name()
    }

    /// Whether the devices are simulated: then their times say nothing about a GPU, and
    /// [more](Self#what-the-simulator-does-not-do) is different.
    pub fn is_simulated(&self) -> bool {
        self.0.devices.iter().any(|device| device.info.is_simulated)
    }

    /// The reason why this platform was chosen, as text.
    pub fn why(&self) -> &str {
        &self.0.why
    }

    /// The clock of this platform.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// How long an idle scheduler queries the events that its nodes wait for, before its thread sleeps.
    pub(crate) fn spin(&self) -> Duration {
        self.0.spin
    }

    /// Whether runs keep statistics.
    pub(crate) fn has_statistics(&self) -> bool {
        self.0.statistics
    }

    /// The platform's driver, for calls that streamflow does not offer.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        // The caller may bind another device through the driver.
        current::doubt();
        self.0.table.driver()
    }

    /// Whether a [race checker](crate::driver::race) watches this platform.
    pub fn is_race_checked(&self) -> bool {
        self.0.table.is_watched()
    }

    /// The races that were found since the last call; none without a race checker. A graph's run ends with
    /// [`Error::Races`] if there were races during the run, even if this call has taken them.
    pub fn take_races(&self) -> RaceReports {
        self.driver().observer().take_races()
    }

    /// Sends a note to the driver, if it uses notes.
    pub(crate) fn observe(&self, note: &Note<'_>) {
        self.0.table.observe(note);
    }

    /// Whether the driver uses notes.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.table.is_watched()
    }

    /// The number of devices of the platform: `device(0)` and so on.
    pub fn device_count(&self) -> usize {
        self.0.devices.len()
    }

    /// The properties of a device.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn device_info(&self, device: DeviceId) -> Result<&DeviceInfo> {
        Ok(&self.device(device, "`device_info`")?.info)
    }

    /// Makes a stream pool. `name` is for messages.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver, when a reserved stream can't be made.
    pub fn stream_pool(&self, name: &str, description: &CudaStreamPool) -> Result<StreamPool> {
        StreamPool::new(&self.0.table, name, description)
    }

    /// The sizes into which a device's multiprocessors can be divided.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`];
    /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable) with a CUDA driver that
    /// has no green contexts; errors of the driver.
    pub fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> Result<SmSizes> {
        self.device(device, "`sm_sizes`")?;
        Ok(self.driver().sm_sizes(device, coscheduling)?)
    }

    /// Divides a device's multiprocessors, unless that was done already, and returns the partitions. Pools
    /// [on](CudaStreamPool::on) a green context call this themselves.
    ///
    /// # Errors
    /// As for [`sm_sizes`](Self::sm_sizes), and [`Error::GreenContexts`] with the legal sizes.
    pub fn green_contexts(&self, pool: &CudaGreenContextPool) -> Result<GreenContexts> {
        self.0.table.green_contexts(pool)
    }

    /// The legacy default stream of a device. This stream and the [`Blocking`](crate::stream::StreamFlags::Blocking)
    /// streams of the device wait for each other.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn default_stream(&self, device: DeviceId) -> Result<CudaStream> {
        self.device(device, "`default_stream`")?;
        Ok(CudaStream::default_of(&self.0.table, device))
    }

    /// Borrows a stream of other code, as of another library or of the surrounding program. The code that makes the
    /// [`BorrowedStream`] vouches for that stream; for default streams see
    /// [`default_stream`](Self::default_stream).
    ///
    /// For the other direction, [`CudaStream::raw`] returns the handle of a stream of this platform. The calls
    /// that take such a handle are `unsafe` themselves.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver.
    pub fn external_stream<'a>(&self, stream: BorrowedStream<'a>) -> Result<ExternalStream<'a>> {
        let table = self.table(stream.raw().device(), "`external_stream`")?;
        ExternalStream::wrap(table, stream)
    }

    /// The stream table, if the device exists. `who` is for messages.
    pub(crate) fn table(&self, device: DeviceId, who: &str) -> Result<&Arc<StreamTable>> {
        self.device(device, who)?;
        Ok(&self.0.table)
    }

    /// The stream table.
    pub(crate) fn streams(&self) -> &Arc<StreamTable> {
        &self.0.table
    }

    /// Another handle of the stream of a point. The point belongs to this platform.
    pub(crate) fn stream_of(&self, point: Point) -> CudaStream {
        CudaStream::adopted(&self.0.table, point)
    }

    /// Whether all work that a point covers is complete. Does not block.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; errors of the driver; an error of earlier work may be reported here.
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
