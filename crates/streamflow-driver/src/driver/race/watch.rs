//! The races of one run, or of one harness that reports them.

use std::mem;
use std::sync::Arc;

use super::{RaceMark, RaceReports};
use crate::driver::Driver;

/// A collector of races: those since the watch was made, and earlier ones that nobody has taken. An operator that calls
/// `Platform::take_races` removes none from the watch.
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

    /// Whether there are races that were not [taken](Self::take).
    #[doc(hidden)]
    pub fn look(&mut self) -> bool {
        self.found.extend(self.driver.observer().races_since(&mut self.mark));
        !self.found.is_empty()
    }

    /// The races since the last call, to be reported.
    #[doc(hidden)]
    pub fn take(&mut self) -> RaceReports {
        if self.look() {
            // The caller reports these races, so `Platform::take_races` must not return them again. A watch that is dropped
            // without this call removes none.
            self.driver.observer().take_races();
        }
        mem::take(&mut self.found)
    }
}
