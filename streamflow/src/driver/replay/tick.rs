//! The tick that is replayed, for layers above that let what they choose follow from it.

use crate::sync::{AtomicU64, Ordering};

/// Outside of passes that are replayed.
const NONE: u64 = u64::MAX;

/// The number of the tick whose hook runs in a pass that is replayed.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReplayedTick(AtomicU64);

impl Default for ReplayedTick {
    fn default() -> Self {
        Self(AtomicU64::new(NONE))
    }
}

impl ReplayedTick {
    /// The tick, on whichever thread. `None` outside of passes that are replayed.
    #[inline]
    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|tick| *tick != NONE)
    }

    pub(super) fn set(&self, tick: Option<u64>) {
        self.0.store(tick.unwrap_or(NONE), Ordering::Relaxed);
    }
}
