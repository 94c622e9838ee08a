//! Looking for races on behalf of whoever reports them: a run, a harness.

use std::mem;
use std::sync::Arc;

use super::{RaceMark, RaceReports};
use crate::driver::Driver;

/// Finds all races from when it was made on, and those before that nobody had asked about. Whoever else asks
/// meanwhile, as an operator may, hides none from it.
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

    /// Whether there are any that were not [taken](Self::take).
    pub(crate) fn look(&mut self) -> bool {
        let later = self.driver.races_since(&mut self.mark);
        let is_new = !later.is_empty();
        self.found.extend(later);
        if is_new {
            // They will be reported from here.
            self.driver.take_races();
        }
        !self.found.is_empty()
    }

    /// What was found.
    pub(crate) fn take(&mut self) -> RaceReports {
        self.look();
        mem::take(&mut self.found)
    }
}
