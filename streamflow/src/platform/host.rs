//! The short form of the builder for the host simulator.

use super::{Platform, PlatformBuilder};
use crate::error::Result;
use crate::time::Clock;

/// Builds a platform on the simulator. Made by [`Platform::host`]. [`Platform::builder`] has more options. For options
/// of the simulator itself, make a [`HostDriver`](crate::driver::host::HostDriver) and pass it to
/// [`PlatformBuilder::driver`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostPlatform(pub(super) PlatformBuilder);

impl HostPlatform {
    /// The same as [`PlatformBuilder::seed`].
    pub fn seed(self, seed: u64) -> Self {
        Self(self.0.seed(seed))
    }

    /// The same as [`PlatformBuilder::devices`].
    pub fn devices(self, devices: usize) -> Self {
        Self(self.0.devices(devices))
    }

    /// The same as [`PlatformBuilder::clock`].
    pub fn clock(self, clock: &Clock) -> Self {
        Self(self.0.clock(clock))
    }

    /// The same as [`PlatformBuilder::race_check`].
    pub fn race_check(self, check: bool) -> Self {
        Self(self.0.race_check(check))
    }

    /// Makes the platform.
    ///
    /// # Errors
    /// As for [`PlatformBuilder::host`].
    pub fn build(self) -> Result<Platform> {
        self.0.host()
    }
}
