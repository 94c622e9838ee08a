//! The runs of graphs that are in progress on a platform. When the last run ends, the free page-locked memory is given
//! back: that synchronises the device, so no run may be in progress.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Platform;
use crate::error::Result;
use crate::memory::Pools;

/// The number of runs in progress.
#[derive(Debug, Default)]
pub(super) struct Runs(AtomicUsize);

/// A guard: a run is in progress until the guard is dropped.
#[derive(Debug)]
pub(crate) struct RunInProgress(Platform);

impl RunInProgress {
    /// Counts a run that begins.
    pub(crate) fn begin(platform: &Platform) -> Self {
        platform.0.runs.0.fetch_add(1, Ordering::Relaxed);
        Self(platform.clone())
    }

    /// Gives page-locked memory back, if no other run is in progress.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(crate) fn give_back(&self) -> Result<()> {
        // A run that begins at this moment allocates its memory again.
        let is_alone = self.0.0.runs.0.load(Ordering::Relaxed) == 1;
        if is_alone { Pools::end_of_run(&self.0.0.table) } else { Ok(()) }
    }
}

impl Drop for RunInProgress {
    fn drop(&mut self) {
        self.0.0.runs.0.fetch_sub(1, Ordering::Relaxed);
    }
}
