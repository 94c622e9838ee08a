//! The choices for a platform, whatever its driver.

use std::sync::Arc;

use crate::driver::Driver;
use crate::driver::race::RaceChecker;
use crate::error::{Error, Result};
use crate::memory::MemoryOptions;

/// How a platform is to be, whatever its driver. Chosen when it is made, and not changed afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlatformOptions {
    /// How device memory is managed.
    pub memory: MemoryOptions,
    /// Whether a [race checker](crate::driver::race) watches. `None`, the default: as
    /// `STREAMFLOW_RACE_CHECK` says (1 or 0), and if it says nothing, in debug builds. A driver that has
    /// a checker keeps it.
    pub race_check: Option<bool>,
}

impl PlatformOptions {
    /// The driver, with a race checker if there shall be one.
    pub(super) fn checked(self, driver: Arc<dyn Driver>) -> Result<Arc<dyn Driver>> {
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

/// What the environment says, or else the kind of build.
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
