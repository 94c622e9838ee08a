//! The builder of a platform on the host simulator.

use std::sync::Arc;

use super::{Platform, PlatformOptions};
use crate::driver::host::{HostBuilder, HostDriver};
use crate::error::Result;

/// Builds a platform on the simulator. Made by [`Platform::host`]. For more options make a [`HostDriver`] and
/// pass it to [`Platform::from_driver`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostPlatform {
    driver: HostBuilder,
    options: PlatformOptions,
}

impl HostPlatform {
    pub(super) fn new() -> Self {
        Self { driver: HostDriver::builder(), options: PlatformOptions::default() }
    }

    /// Which of the legal orders work executes in; with 0, the default, work executes at submission. See
    /// [`Policy::of_seed`](crate::driver::host::Policy::of_seed).
    pub fn seed(self, seed: u64) -> Self {
        Self { driver: self.driver.seed(seed), ..self }
    }

    /// How many devices; 1 by default.
    pub fn devices(self, devices: usize) -> Self {
        Self { driver: self.driver.devices(devices), ..self }
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
        Platform::new(driver, "the host simulator was requested", self.options)
    }
}
