//! `PlatformOptions`: the options of a platform, for any driver.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::race::RaceChecker;
use crate::driver::{BlockingLaunches, Driver};
use crate::error::{Error, Result};
use crate::memory::MemoryOptions;
use crate::time::Clock;

/// The options of a platform, for any driver, as [`PlatformBuilder`](super::PlatformBuilder) sets them. They do not change after
/// the platform is made.
#[derive(Debug, Clone)]
pub(super) struct PlatformOptions {
    /// How device memory is managed, for example how much of it may be in flight.
    pub(super) memory: MemoryOptions,
    /// Whether a [race checker](crate::driver::race) watches the platform. With `None`, the default, the environment variable
    /// `STREAMFLOW_RACE_CHECK` decides (1 or 0); if it is not set, debug builds have a checker. A driver that already has a
    /// checker keeps it in any case.
    pub(super) race_check: Option<bool>,
    /// Whether each launch waits until its kernel has run. A fault of a kernel is then an error of its launch, which names the
    /// kernel and its grid; without this option a later call returns the error. Blocking launches are slow. With `None`, the
    /// default, the environment variable `STREAMFLOW_BLOCKING_LAUNCHES` decides (1 or 0); if it is not set, no launch waits.
    pub(super) blocking_launches: Option<bool>,
    /// The platform's clock. The default is [`Clock::real`].
    pub(super) clock: Clock,
    /// How long an idle scheduler queries the events for which its nodes wait, before its thread sleeps: at most 50 µs, which is
    /// the default. While it queries, the scheduler uses a processor core; waking a sleeping thread takes tens of microseconds.
    pub(super) spin: Duration,
    /// Whether runs keep statistics for their [`Report`](crate::schedule::Report): the host's time for each node, and the latency
    /// from each source to each sink. The default is `false`, which costs nothing. With statistics, each tick reads the clock at
    /// most twice, and each histogram takes 36 KiB: two for each node, and one for each path.
    pub(super) statistics: bool,
}

/// The environment variable that decides whether a race checker watches a platform.
pub(crate) const RACE_CHECK: &str = "STREAMFLOW_RACE_CHECK";

/// The greatest value of [`PlatformOptions::spin`].
pub(super) const LONGEST_SPIN: Duration = Duration::from_micros(50);

impl Default for PlatformOptions {
    fn default() -> Self {
        Self {
            memory: MemoryOptions::default(),
            race_check: None,
            blocking_launches: None,
            clock: Clock::real(),
            spin: LONGEST_SPIN,
            statistics: false,
        }
    }
}

impl PlatformOptions {
    /// Returns the driver with the layers that the options ask for.
    pub(super) fn layered(&self, mut driver: Arc<dyn Driver>) -> Result<Arc<dyn Driver>> {
        let blocks = switch(self.blocking_launches, "STREAMFLOW_BLOCKING_LAUNCHES", false)?;
        if blocks {
            // The race checker is above this layer, so that it does not see waits that the program itself does not make.
            driver = Arc::new(BlockingLaunches::new(driver));
        }
        let check = switch(self.race_check, RACE_CHECK, cfg!(debug_assertions))?;
        if check && !driver.observer().watches() {
            return Ok(Arc::new(RaceChecker::new(driver)));
        }
        Ok(driver)
    }
}

/// Returns the option if it is set; otherwise the value of the environment variable, or the default if that is not set.
fn switch(option: Option<bool>, variable: &'static str, default: bool) -> Result<bool> {
    if let Some(on) = option {
        return Ok(on);
    }
    let Some(value) = std::env::var_os(variable) else { return Ok(default) };
    match value.to_str() {
        Some("1") => Ok(true),
        Some("0") => Ok(false),
        _ => Err(Error::Variable {
            name: variable,
            value: value.to_string_lossy().into_owned(),
            expected: "say 1, to switch it on, or 0, to switch it off",
        }),
    }
}
