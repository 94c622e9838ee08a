//! The races of a run or a harness, which reports them.

use std::mem;
use std::sync::Arc;

use super::{RaceMark, RaceReports};
use crate::driver::Driver;

/// Collects the races since it was made, and those before that were not taken. An operator that takes races
/// meanwhile removes none from it.
#[derive(Debug)]
pub(crate) struct RaceWatch {
    driver: Arc<dyn Driver>,
    mark: RaceMark,
    found: RaceReports,
}

impl RaceWatch {
    pub(crate) fn new(driver: &Arc<dyn Driver>) -> Self {
        let mut mark = RaceMark::default();
        driver.races_since(&mut mark);
        Self { driver: driver.clone(), mark, found: driver.take_races() }
    }

    /// Whether there are races that were not [taken](Self::take).
    pub(crate) fn look(&mut self) -> bool {
        let later = self.driver.races_since(&mut self.mark);
        let is_new = !later.is_empty();
        self.found.extend(later);
        if is_new {
            // This watch reports them, so `Platform::take_races` need not.
            self.driver.take_races();
        }
        !self.found.is_empty()
    }

    /// The races since the last call.
    pub(crate) fn take(&mut self) -> RaceReports {
        self.look();
        mem::take(&mut self.found)
    }
}
