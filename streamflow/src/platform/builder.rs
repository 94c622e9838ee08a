//! `PlatformBuilder`: sets the options of a platform, and chooses its driver.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use super::{Platform, PlatformOptions};
use crate::driver::Driver;
use crate::driver::cuda::CudaDriver;
use crate::driver::host::HostDriver;
use crate::driver::replay::Replaying;
use crate::error::{Error, Result};
use crate::memory::MemoryOptions;
use crate::time::Clock;

/// Builds a platform, made by [`Platform::builder`]. First set options, and then choose the driver by one of the methods
/// [`detect`](Self::detect), [`cuda`](Self::cuda), [`host`](Self::host) and [`driver`](Self::driver), which make the platform.
///
/// ```
/// # use streamflow::prelude::*;
/// # fn main() -> Result<()> {
/// let platform = Platform::builder().statistics(true).seed(3).host()?;
/// assert_eq!(platform.name(), "host");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "choose a driver: `cuda`, `host`, `detect` or `driver`"]
pub struct PlatformBuilder {
    options: PlatformOptions,
    clock: Option<Clock>,
    /// The simulator's seed, if it was set. Only the simulator has this option, and the option `devices`.
    seed: Option<u64>,
    devices: Option<usize>,
}

impl PlatformBuilder {
    /// Sets whether runs keep statistics for their [`Report`](crate::schedule::Report): the host's time for each node, and the
    /// latency from each source to each sink. The default is `false`, which costs nothing. With statistics, each tick reads the
    /// clock at most twice, and each histogram takes 36 KiB: two for each node, and one for each path.
    pub fn statistics(mut self, keep: bool) -> Self {
        self.options.statistics = keep;
        self
    }

    /// Sets the platform's clock. The default is a real clock. On the simulator with a seed other than 0 the default is a
    /// [simulated](Clock::simulated) clock, so that runs with the same seed are equal.
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// Sets how long an idle scheduler queries the events for which its nodes wait, before its thread sleeps: at most 50 µs,
    /// which is the default. While it queries, the scheduler uses a processor core; waking a sleeping thread takes tens of
    /// microseconds.
    pub fn spin(mut self, spin: Duration) -> Self {
        self.options.spin = spin;
        self
    }

    /// Sets how device memory is managed, for example how many dropped blocks may wait for work that still uses them.
    pub fn memory(mut self, options: MemoryOptions) -> Self {
        self.options.memory = options;
        self
    }

    /// Sets whether a [race checker](crate::driver::race) watches the platform. By default the environment variable
    /// `STREAMFLOW_RACE_CHECK` decides (1 or 0); if it is not set, debug builds have a checker. A driver that already has a
    /// checker keeps it in any case.
    pub fn race_check(mut self, check: bool) -> Self {
        self.options.race_check = Some(check);
        self
    }

    /// Sets whether each launch waits until its kernel has run. A fault of a kernel is then an error of its launch, which names
    /// the kernel and its grid; without this option a later call returns the error. Blocking launches are slow. By default the
    /// environment variable `STREAMFLOW_BLOCKING_LAUNCHES` decides (1 or 0); if it is not set, no launch waits.
    pub fn blocking_launches(mut self, block: bool) -> Self {
        self.options.blocking_launches = Some(block);
        self
    }

    /// Sets the seed that chooses one of the legal orders in which the simulator may execute work. With 0, the default, work is
    /// executed when it is queued. See [`Policy::of_seed`](crate::driver::host::Policy::of_seed).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets how many devices the simulator has: from 1, the default, to 64. Any other number makes the last method of the
    /// builder, as `host`, return an error.
    pub fn devices(mut self, devices: usize) -> Self {
        self.devices = Some(devices);
        self
    }

    /// Makes a platform of the GPUs of this machine, without the simulator as a fallback.
    ///
    /// # Errors
    /// [`Error::SimulatorOption`] if a seed or a number of devices was set;
    /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable), with a remedy, if this machine has no CUDA driver
    /// or no GPU, or if the driver is too old; the errors of [`driver`](Self::driver).
    pub fn cuda(self) -> Result<Platform> {
        self.refuse_simulator_options("cuda")?;
        self.finish(Arc::new(Replaying::new(CudaDriver::new()?)), "CUDA was requested")
    }

    /// Makes a platform on the simulator, which follows CUDA's ordering rules on the host and executes work in an order that the
    /// seed decides. See the simulator's [limits](Platform#what-the-simulator-does-not-do), and [`HostDriver`].
    ///
    /// # Errors
    /// The errors of [`driver`](Self::driver).
    pub fn host(self) -> Result<Platform> {
        self.finish_on_host("the host simulator was requested")
    }

    /// Makes a platform by [`cuda`](Self::cuda) if that works, and else by [`host`](Self::host). A seed and a number of devices
    /// are used only by the simulator. [`Platform::why`] returns the reason of the choice. A GPU is logged at level `info`. The
    /// simulator is logged at level `warn`, or printed on standard error if no subscriber of `tracing` accepts warnings. A
    /// program that must not run on the simulator, as a measurement, should call [`cuda`](Self::cuda): see the [limits of the
    /// simulator](Platform#what-the-simulator-does-not-do).
    ///
    /// # Errors
    /// An error only if neither CUDA nor the simulator can be started.
    pub fn detect(self) -> Result<Platform> {
        let platform = match CudaDriver::new() {
            Ok(driver) => {
                let unused = match self.simulator_option() {
                    Some(_) => "; the options of the simulator are unused",
                    None => "",
                };
                self.finish(
                    Arc::new(Replaying::new(driver)),
                    &format!("a CUDA driver and a GPU answer{unused}"),
                )?
            }
            Err(error) => {
                let platform = self.finish_on_host(&format!("no GPU can be used: {error}"))?;
                say_fallback(platform.why());
                return Ok(platform);
            }
        };
        tracing::info!(platform = platform.name(), why = platform.why(), "platform chosen");
        Ok(platform)
    }

    /// Makes a platform on any driver, for example on a layer that records the calls of a driver or makes some of them fail.
    ///
    /// # Errors
    /// [`Error::SimulatorOption`] if a seed or a number of devices was set; [`Error::Spin`]; [`Error::Variable`] if an
    /// environment variable decides about the race checker and its value is neither 0 nor 1; errors of the driver, if its devices
    /// can't be used.
    pub fn driver(self, driver: Arc<dyn Driver>) -> Result<Platform> {
        self.refuse_simulator_options("driver")?;
        self.finish(driver, "a driver was given")
    }

    fn simulator_option(&self) -> Option<&'static str> {
        let seed = self.seed.map(|_| "seed");
        seed.or(self.devices.map(|_| "devices"))
    }

    fn refuse_simulator_options(&self, end: &'static str) -> Result<()> {
        let refuse = |option| Err(Error::SimulatorOption { option, end });
        self.simulator_option().map_or(Ok(()), refuse)
    }

    fn finish_on_host(mut self, why: &str) -> Result<Platform> {
        let seed = self.seed.unwrap_or_default();
        if seed != 0 {
            self.clock.get_or_insert_with(Clock::simulated);
        }
        let driver = HostDriver::builder().seed(seed).devices(self.devices.unwrap_or(1)).build();
        self.finish(Arc::new(Replaying::new(driver)), why)
    }

    fn finish(self, driver: Arc<dyn Driver>, why: &str) -> Result<Platform> {
        let Self { options, clock, .. } = self;
        let clock = clock.unwrap_or_else(Clock::real);
        Platform::new(driver, why, PlatformOptions { clock, ..options })
    }
}

/// Warns that no GPU is used, and why, since the program may have been meant for a GPU.
fn say_fallback(why: &str) {
    if tracing::enabled!(tracing::Level::WARN) {
        tracing::warn!("the platform is the host simulator: {why}");
    } else {
        // An error is ignored: if standard error is closed, the warning can't be shown anywhere else.
        let _closed =
            writeln!(io::stderr(), "streamflow: the platform is the host simulator: {why}");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_seed_has_a_simulated_clock_unless_another_is_given() {
        let is_simulated = |builder: PlatformBuilder| {
            let platform = builder.host().unwrap();
            platform.clock().is_simulated()
        };
        assert!(is_simulated(Platform::builder().seed(3)));
        assert!(!is_simulated(Platform::builder().seed(0)));
        assert!(!is_simulated(Platform::builder()));
        assert!(!is_simulated(Platform::builder().seed(3).clock(&Clock::real())));
        assert!(is_simulated(Platform::builder().clock(&Clock::simulated())));
        assert!(Platform::host().seed(3).build().unwrap().clock().is_simulated());
    }

    #[test]
    fn the_options_of_the_simulator_are_refused_elsewhere() {
        let host = || Arc::new(HostDriver::builder().build());
        let refused = [
            (Platform::builder().seed(0).cuda(), "`seed`", "`cuda`"),
            (Platform::builder().devices(2).cuda(), "`devices`", "`cuda`"),
            (Platform::builder().seed(1).driver(host()), "`seed`", "`driver`"),
            (Platform::builder().devices(1).driver(host()), "`devices`", "`driver`"),
        ];
        for (made, option, end) in refused {
            let error = made.unwrap_err();
            assert!(matches!(error, Error::SimulatorOption { .. }), "{error}");
            let text = error.to_string();
            assert!([option, end, "`host`"].iter().all(|part| text.contains(part)), "{text}");
        }
    }

    #[test]
    fn detect_uses_the_options_of_the_simulator_where_there_is_no_gpu() {
        let platform = Platform::builder().seed(5).devices(3).detect().unwrap();
        let (devices, why) = (platform.device_count(), platform.why());
        if platform.name() == "host" {
            assert_eq!(devices, 3);
            assert!(platform.clock().is_simulated() && why.contains("no GPU"), "{why}");
        } else {
            assert!(why.contains("the options of the simulator are unused"), "{why}");
        }
    }

    #[test]
    fn options_of_every_platform_are_kept() {
        let memory = MemoryOptions { in_flight: 7, ..MemoryOptions::default() };
        let builder = Platform::builder().statistics(true).memory(memory).race_check(true);
        let platform = builder.spin(Duration::from_micros(9)).devices(2).host().unwrap();
        assert!(platform.has_statistics() && platform.is_race_checked());
        assert_eq!(platform.spin(), Duration::from_micros(9));
        assert_eq!(platform.0.memory, memory);
        let builder = Platform::builder().race_check(false);
        let plain = builder.driver(Arc::new(HostDriver::builder().build())).unwrap();
        assert!(!plain.has_statistics() && !plain.is_race_checked());
        let error = Platform::builder().spin(Duration::from_millis(1)).host().unwrap_err();
        assert!(matches!(error, Error::Spin { .. }), "{error}");
    }
}
