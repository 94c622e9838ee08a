//! The choices for a platform on the host simulator.

use std::sync::Arc;

use super::{Platform, PlatformOptions};
use crate::driver::host::{HostBuilder, HostDriver};
use crate::error::Result;

/// How the simulator is to be. Made by [`Platform::host`]. For more choices make a [`HostDriver`] and
/// give it to [`Platform::from_driver`].
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

    /// Which of the legal orders to execute work in; 0, the default, is at once. See
    /// [`Policy::of_seed`](crate::driver::host::Policy::of_seed).
    pub fn seed(self, seed: u64) -> Self {
        Self { driver: self.driver.seed(seed), ..self }
    }

    /// How many devices; 1 by default.
    pub fn devices(self, devices: usize) -> Self {
        Self { driver: self.driver.devices(devices), ..self }
    }

    /// Whether races are looked for: see [`PlatformOptions::race_check`].
    pub fn race_check(mut self, check: bool) -> Self {
        self.options.race_check = Some(check);
        self
    }

    /// The platform.
    ///
    /// # Errors
    /// [`Error::Variable`](crate::Error::Variable) when the environment decides on the race checker and
    /// says neither 0 nor 1; the driver's.
    pub fn build(self) -> Result<Platform> {
        let driver = Arc::new(self.driver.build());
        Platform::new(driver, "the host simulator was asked for", self.options)
    }
}
