//! The options of a platform, for any driver.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::Driver;
use crate::driver::race::RaceChecker;
use crate::error::{Error, Result};
use crate::memory::MemoryOptions;
use crate::time::Clock;

/// The options of a platform, for any driver. They are fixed when the platform is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformOptions {
    /// How device memory is managed.
    pub memory: MemoryOptions,
    /// Whether a [race checker](crate::driver::race) watches. With `None`, the default,
    /// `STREAMFLOW_RACE_CHECK` decides (1 or 0); if it is not set, debug builds have a checker. A driver that
    /// has a checker keeps it.
    pub race_check: Option<bool>,
    /// What time it is; [`Clock::real`] by default.
    pub clock: Clock,
    /// How long a scheduler that has nothing to do queries what its nodes wait for, before its thread sleeps: at most
    /// 50 µs, which is the default. Meanwhile it needs a processor core; waking a thread takes tens of microseconds.
    pub spin: Duration,
    /// Whether runs keep statistics, for their [`Report`](crate::Report): the host's time for each node, and the
    /// latency from each source to each sink. It is `false` by default; then it costs nothing. Statistics cost at most
    /// two readings of the clock for each tick of a node, and 36 KiB for each histogram: two for each node, and one for
    /// each path.
    pub statistics: bool,
}

/// The longest [`PlatformOptions::spin`].
pub(super) const LONGEST_SPIN: Duration = Duration::from_micros(50);

impl Default for PlatformOptions {
    fn default() -> Self {
        Self {
            memory: MemoryOptions::default(),
            race_check: None,
            clock: Clock::real(),
            spin: LONGEST_SPIN,
            statistics: false,
        }
    }
}

impl PlatformOptions {
    /// The driver, with a race checker if the options say so.
    pub(super) fn checked(&self, driver: Arc<dyn Driver>) -> Result<Arc<dyn Driver>> {
        let check = match self.race_check {
            Some(check) => check,
            None => race_check_by_default()?,
        };
        if check && !driver.watches() {
            return Ok(Arc::new(RaceChecker::new(driver)));
        }
        Ok(driver)
    }
}

/// Whether the environment, or else the kind of build, enables the race checker.
fn race_check_by_default() -> Result<bool> {
    const VARIABLE: &str = "STREAMFLOW_RACE_CHECK";
    let Some(value) = std::env::var_os(VARIABLE) else { return Ok(cfg!(debug_assertions)) };
    match value.to_str() {
        Some("1") => Ok(true),
        Some("0") => Ok(false),
        _ => Err(Error::Variable {
            name: VARIABLE,
            value: value.to_string_lossy().into_owned(),
            expected: "say 1, to look for races, or 0, not to",
        }),
    }
}
