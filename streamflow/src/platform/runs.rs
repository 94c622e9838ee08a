//! The runs of graphs that are in progress on a platform. When the last one ends, the page-locked memory that they leave is
//! given back: that synchronises the device, so no run may be in progress.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Platform;
use crate::error::Result;
use crate::memory::Pools;

/// How many runs are in progress.
#[derive(Debug, Default)]
pub(super) struct Runs(AtomicUsize);

/// A run that is in progress, until this is dropped.
#[derive(Debug)]
pub(crate) struct RunInProgress(Platform);

impl RunInProgress {
    /// A run begins.
    pub(crate) fn begin(platform: &Platform) -> Self {
        platform.0.runs.0.fetch_add(1, Ordering::Relaxed);
        Self(platform.clone())
    }

    /// Gives page-locked memory back, if no other run is in progress.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn give_back(&self) -> Result<()> {
        // A run that begins just now makes its memory again.
        let is_alone = self.0.0.runs.0.load(Ordering::Relaxed) == 1;
        if is_alone { Pools::end_of_run(&self.0.0.table) } else { Ok(()) }
    }
}

impl Drop for RunInProgress {
    fn drop(&mut self) {
        self.0.0.runs.0.fetch_sub(1, Ordering::Relaxed);
    }
}
