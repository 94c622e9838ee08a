//! The builder of a platform on the host simulator.

use std::sync::Arc;

use super::{Platform, PlatformOptions};
use crate::driver::host::{HostBuilder, HostDriver};
use crate::error::Result;
use crate::time::Clock;

/// Builds a platform on the simulator. Made by [`Platform::host`]. For more options make a [`HostDriver`] and
/// pass it to [`Platform::from_driver`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostPlatform {
    driver: HostBuilder,
    options: PlatformOptions,
    clock: Option<Clock>,
    has_seed: bool,
}

impl HostPlatform {
    pub(super) fn new() -> Self {
        Self {
            driver: HostDriver::builder(),
            options: PlatformOptions::default(),
            clock: None,
            has_seed: false,
        }
    }

    /// Which of the legal orders work executes in; with 0, the default, work executes at submission. See
    /// [`Policy::of_seed`](crate::driver::host::Policy::of_seed).
    pub fn seed(self, seed: u64) -> Self {
        Self { driver: self.driver.seed(seed), has_seed: seed != 0, ..self }
    }

    /// How many devices; 1 by default.
    pub fn devices(self, devices: usize) -> Self {
        Self { driver: self.driver.devices(devices), ..self }
    }

    /// The platform's clock. By default it is [simulated](Clock::simulated) for every seed but 0, since a seed repeats a
    /// run, and real for seed 0.
    pub fn clock(self, clock: &Clock) -> Self {
        Self { clock: Some(clock.clone()), ..self }
    }

    /// Whether a race checker watches: see [`PlatformOptions::race_check`].
    pub fn race_check(mut self, check: bool) -> Self {
        self.options.race_check = Some(check);
        self
    }

    /// Makes the platform.
    ///
    /// # Errors
    /// [`Error::Variable`](crate::Error::Variable) when the race checker is left to the environment, and its
    /// variable is neither 0 nor 1; the driver's.
    pub fn build(self) -> Result<Platform> {
        let driver = Arc::new(self.driver.build());
        let default = || if self.has_seed { Clock::simulated() } else { Clock::real() };
        let options = PlatformOptions { clock: self.clock.unwrap_or_else(default), ..self.options };
        Platform::new(driver, "the host simulator was requested", options)
    }
}
