//! The choices for a platform on the host simulator.

use std::sync::Arc;

use super::Platform;
use crate::driver::host::{HostBuilder, HostDriver};
use crate::error::Result;

/// How the simulator is to be. Made by [`Platform::host`]. For more choices make a [`HostDriver`] and
/// give it to [`Platform::from_driver`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostPlatform {
    driver: HostBuilder,
}

impl HostPlatform {
    pub(super) fn new() -> Self {
        Self { driver: HostDriver::builder() }
    }

    /// Which of the legal orders to execute work in; 0, the default, is at once. See
    /// [`Policy::of_seed`](crate::driver::host::Policy::of_seed).
    pub fn seed(self, seed: u64) -> Self {
        Self { driver: self.driver.seed(seed) }
    }

    /// How many devices; 1 by default.
    pub fn devices(self, devices: usize) -> Self {
        Self { driver: self.driver.devices(devices) }
    }

    /// The platform.
    ///
    /// # Errors
    /// None that is known; the driver's.
    pub fn build(self) -> Result<Platform> {
        Platform::with_driver(Arc::new(self.driver.build()), "the host simulator was asked for")
    }
}
