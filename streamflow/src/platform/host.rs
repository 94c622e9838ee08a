//! `HostPlatform`: the short form of the platform's builder, for the simulator.

use super::{Platform, PlatformBuilder};
use crate::error::Result;
use crate::time::Clock;

/// Builds a platform on the simulator. [`Platform::host`] makes this builder. [`Platform::builder`] has more options. For options
/// of the simulator itself, make a [`HostDriver`](crate::driver::host::HostDriver) and pass it to [`PlatformBuilder::driver`].
#[derive(Debug, Clone)]
#[must_use = "call `build`"]
pub struct HostPlatform(pub(super) PlatformBuilder);

impl HostPlatform {
    /// Sets the simulator's seed, as [`PlatformBuilder::seed`] does.
    pub fn seed(self, seed: u64) -> Self {
        Self(self.0.seed(seed))
    }

    /// Sets how many devices the simulator has, as [`PlatformBuilder::devices`] does.
    pub fn devices(self, devices: usize) -> Self {
        Self(self.0.devices(devices))
    }

    /// Sets the platform's clock, as [`PlatformBuilder::clock`] does.
    pub fn clock(self, clock: &Clock) -> Self {
        Self(self.0.clock(clock))
    }

    /// Sets whether a race checker watches the platform, as [`PlatformBuilder::race_check`] does.
    pub fn race_check(self, check: bool) -> Self {
        Self(self.0.race_check(check))
    }

    /// Makes the platform on the simulator.
    ///
    /// # Errors
    /// The errors of [`PlatformBuilder::host`].
    pub fn build(self) -> Result<Platform> {
        self.0.host()
    }
}
