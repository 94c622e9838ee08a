//! A watch: the races of one run, or of one test harness that reports them.

use std::mem;
use std::sync::Arc;

use super::{RaceMark, RaceReports};
use crate::driver::Driver;

/// A collector of races: those found since the watch was made, and earlier ones that no call of `Platform::take_races` has
/// returned. If an operator calls `Platform::take_races`, the watch still has those races.
#[doc(hidden)]
#[derive(Debug)]
pub struct RaceWatch {
    driver: Arc<dyn Driver>,
    mark: RaceMark,
    found: RaceReports,
}

impl RaceWatch {
    #[doc(hidden)]
    pub fn new(driver: &Arc<dyn Driver>) -> Self {
        Self {
            driver: driver.clone(),
            mark: driver.observer().taken_races(),
            found: RaceReports::default(),
        }
    }

    /// Whether the watch has races that [`take`](Self::take) has not returned yet.
    #[doc(hidden)]
    pub fn look(&mut self) -> bool {
        self.found.extend(self.driver.observer().races_since(&mut self.mark));
        !self.found.is_empty()
    }

    /// Returns the races that were found since the previous call, for the caller to report.
    #[doc(hidden)]
    pub fn take(&mut self) -> RaceReports {
        if self.look() {
            // The caller reports these races, so `Platform::take_races` must not return them again. A watch that is dropped
            // without this call does not take them from `Platform::take_races`.
            self.driver.observer().take_races();
        }
        mem::take(&mut self.found)
    }
}
