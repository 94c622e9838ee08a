//! The options of a platform, for any driver.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::race::RaceChecker;
use crate::driver::{BlockingLaunches, Driver};
use crate::error::{Error, Result};
use crate::memory::MemoryOptions;
use crate::time::Clock;

/// The options of a platform, for any driver, as [`PlatformBuilder`](super::PlatformBuilder) sets them. The options are
/// fixed when the platform is made.
#[derive(Debug, Clone)]
pub(super) struct PlatformOptions {
    /// How device memory is managed.
    pub(super) memory: MemoryOptions,
    /// Whether a [race checker](crate::driver::race) watches. With `None`, the default, the environment variable
    /// `STREAMFLOW_RACE_CHECK` decides (1 or 0); without it, debug builds have a checker. A driver that
    /// has a checker keeps it.
    pub(super) race_check: Option<bool>,
    /// Whether each launch waits until its kernel has run. A fault of a kernel is then an error of its launch, and names
    /// the kernel and its grid; without the option a later call returns the error. Blocking launches are slow. With `None`,
    /// the default, the environment variable `STREAMFLOW_BLOCKING_LAUNCHES` decides (1 or 0); without it, no launch waits.
    pub(super) blocking_launches: Option<bool>,
    /// The clock; [`Clock::real`] by default.
    pub(super) clock: Clock,
    /// How long an idle scheduler queries the events that its nodes wait for, before its thread sleeps: at most 50 µs,
    /// the default. Meanwhile the scheduler needs a processor core; waking a thread takes tens of microseconds.
    pub(super) spin: Duration,
    /// Whether runs keep statistics, for their [`Report`](crate::schedule::Report): the host's time for each node, and the
    /// latency from each source to each sink. The default is `false`, without any cost. Statistics cost at most
    /// two readings of the clock for each tick of a node, and 36 KiB for each histogram: two for each node, and one for
    /// each path.
    pub(super) statistics: bool,
}

/// The environment variable that decides whether a race checker watches.
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
    /// The driver, with the layers that the options name.
    pub(super) fn layered(&self, mut driver: Arc<dyn Driver>) -> Result<Arc<dyn Driver>> {
        let blocks = switch(self.blocking_launches, "STREAMFLOW_BLOCKING_LAUNCHES", false)?;
        if blocks {
            // This layer is below the race checker: the checker must not see waits that the program does not make.
            driver = Arc::new(BlockingLaunches::new(driver));
        }
        let check = switch(self.race_check, RACE_CHECK, cfg!(debug_assertions))?;
        if check && !driver.observer().watches() {
            return Ok(Arc::new(RaceChecker::new(driver)));
        }
        Ok(driver)
    }
}

/// Returns the option if it is set, else the value of the environment variable, else the default.
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
