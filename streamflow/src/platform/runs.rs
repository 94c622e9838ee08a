//! Counts the runs of graphs that are in progress on a platform. When the last of them ends, free page-locked memory is given
//! back. This waits until then because it synchronises the device.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Platform;
use crate::error::Result;
use crate::memory::Pools;

/// The number of runs that are in progress on the platform.
#[derive(Debug, Default)]
pub(super) struct Runs(AtomicUsize);

/// A guard for a run that is in progress until the guard is dropped.
#[derive(Debug)]
pub(crate) struct RunInProgress(Platform);

impl RunInProgress {
    /// Counts a run that begins, and returns its guard.
    pub(crate) fn begin(platform: &Platform) -> Self {
        platform.0.runs.0.fetch_add(1, Ordering::Relaxed);
        Self(platform.clone())
    }

    /// Gives free page-locked memory back, if no other run is in progress.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(crate) fn give_back(&self) -> Result<()> {
        // A run that begins at this moment may have to allocate the memory again.
        let is_alone = self.0.0.runs.0.load(Ordering::Relaxed) == 1;
        if is_alone { Pools::end_of_run(&self.0.0.table) } else { Ok(()) }
    }
}

impl Drop for RunInProgress {
    fn drop(&mut self) {
        self.0.0.runs.0.fetch_sub(1, Ordering::Relaxed);
    }
}
