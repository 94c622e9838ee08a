//! Platforms: the GPUs of a machine, or the simulator. Each graph is made for a [`Platform`], which has the devices, their
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
    // Rust drops fields in this order: memory is dropped before the streams, and the driver, which `table` has, last.
    devices: Vec<Device>,
    table: Arc<StreamTable>,
    memory: MemoryOptions,
    clock: Clock,
    spin: Duration,
    statistics: bool,
    why: String,
    /// The number of the run of an explored test in which the platform was made; 0 outside of such tests.
    explored_in: u64,
    runs: runs::Runs,
}

struct Device {
    info: DeviceInfo,
    memory: PoolHandle<MemoryPool>,
    pinned: PoolHandle<PinnedPool>,
}

impl Platform {
    /// Returns a builder of platforms. Set its options, and then end with [`detect`](PlatformBuilder::detect),
    /// [`cuda`](PlatformBuilder::cuda), [`host`](PlatformBuilder::host) or [`driver`](PlatformBuilder::driver).
    /// [`Platform::detect`], [`Platform::cuda`] and [`Platform::host`] are short forms.
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

    /// Returns a builder for the simulator, which keeps CUDA's ordering rules on the host and executes work in an order that a
    /// seed decides. Short for `Platform::builder()`, except that `.build()` ends the call in place of `.host()`. See the [limits
    /// of the simulator](Self#what-the-simulator-does-not-do).
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

    /// Makes a platform of the machine's GPUs, as [`cuda`](Self::cuda) does, and of the [simulator](Self::host) if that fails.
    /// Short for `Platform::builder().detect()`. If the simulator is used, the reason is a warning of `tracing`, or a line on
    /// standard error if no subscriber takes the warning; [`why`](Self::why) returns the reason, too. A program that must not run
    /// on the simulator, as a measurement, calls [`cuda`](Self::cuda): see the [limits of the
    /// simulator](Self#what-the-simulator-does-not-do).
    ///
    /// # Errors
    /// An error is returned only if neither the GPUs nor the simulator can be used.
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

    /// The driver's name: `"cuda"` or `"host"`.
    pub fn name(&self) -> &str {
        self.driver().name()
    }

    /// Whether the devices are simulated. The times on simulated devices say nothing about a GPU, and [other
    /// facts](Self#what-the-simulator-does-not-do) differ, too.
    pub fn is_simulated(&self) -> bool {
        self.0.devices.iter().any(|device| device.info.is_simulated)
    }

    /// Returns the reason why this platform was chosen, as text.
    pub fn why(&self) -> &str {
        &self.0.why
    }

    /// The clock of this platform, which schedulers use.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// How long a scheduler without a ready node queries events in a loop before its thread sleeps.
    pub(crate) fn spin(&self) -> Duration {
        self.0.spin
    }

    /// Whether runs measure host times, lateness and latencies.
    pub(crate) fn has_statistics(&self) -> bool {
        self.0.statistics
    }

    /// The platform's driver, for driver calls that streamflow has no method for.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        // The caller may bind another device by calls of the driver, so the bound device of this thread is unknown from now on.
        current::doubt();
        self.0.table.driver()
    }

    /// Whether a [race checker](crate::driver::race) watches the calls on this platform.
    pub fn is_race_checked(&self) -> bool {
        self.0.table.is_watched()
    }

    /// Returns the races that were found since the last call of this method; none without a race checker. If there were races
    /// during a graph's run, the run ends with [`Error::Races`], even if this method has returned them.
    pub fn take_races(&self) -> RaceReports {
        self.driver().observer().take_races()
    }

    /// Sends a note to the driver's observer, if the driver uses notes.
    pub(crate) fn observe(&self, note: &Note<'_>) {
        self.0.table.observe(note);
    }

    /// Whether the driver uses notes, as one with a race checker does.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.table.is_watched()
    }

    /// The number of devices of the platform. They are `device(0)`, `device(1)` and so on.
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

    /// Makes a stream pool. Error texts and logs call the pool by `name`.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver, if it can't make a reserved stream.
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

    /// Divides a device's multiprocessors into partitions, unless an equal description has divided them already. Returns the
    /// partitions. A stream pool [on](CudaStreamPool::on) a green context calls this method when it is made.
    ///
    /// # Errors
    /// The errors of [`sm_sizes`](Self::sm_sizes), and [`Error::GreenContexts`] with the legal sizes.
    pub fn green_contexts(&self, pool: &CudaGreenContextPool) -> Result<GreenContexts> {
        self.0.table.green_contexts(pool)
    }

    /// The legacy default stream of a device. The [`Blocking`](crate::stream::StreamFlags::Blocking) streams of the device wait
    /// for its work, and its work waits for theirs.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn default_stream(&self, device: DeviceId) -> Result<CudaStream> {
        self.device(device, "`default_stream`")?;
        Ok(CudaStream::default_of(&self.0.table, device))
    }

    /// Wraps a stream of other code, as of another library or of the program around this one. The code that makes the
    /// [`BorrowedStream`] guarantees that the stream lives long enough. For default streams see
    /// [`default_stream`](Self::default_stream).
    ///
    /// To give a stream of this platform to another library, call [`CudaStream::raw`], which returns its handle. The library's
    /// calls that take a handle are `unsafe` themselves.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`]; errors of the driver.
    pub fn external_stream<'a>(&self, stream: BorrowedStream<'a>) -> Result<ExternalStream<'a>> {
        let table = self.table(stream.raw().device(), "`external_stream`")?;
        ExternalStream::wrap(table, stream)
    }

    /// Returns the stream table if the device exists. The error names the caller by `who`.
    pub(crate) fn table(&self, device: DeviceId, who: &str) -> Result<&Arc<StreamTable>> {
        self.device(device, who)?;
        Ok(&self.0.table)
    }

    /// The table of all streams of this platform.
    pub(crate) fn streams(&self) -> &Arc<StreamTable> {
        &self.0.table
    }

    /// Returns another handle of the stream that a point is on. The point belongs to this platform.
    pub(crate) fn stream_of(&self, point: Point) -> CudaStream {
        CudaStream::adopted(&self.0.table, point)
    }

    /// Whether all work that a point covers is complete. The method does not block.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`] for a point of another platform; errors of the driver, also an error of earlier work.
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
