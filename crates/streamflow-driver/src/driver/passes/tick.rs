//! The tick that is replayed, for layers above that let what they choose follow from it.

use crate::sync::{AtomicU64, Ordering};

/// Outside of passes that are replayed.
const NONE: u64 = u64::MAX;

/// The numbers of a run begin at a multiple of this, so that its ticks repeat with those of earlier runs.
const ROUND: u64 = 1 << 6;

/// The number of the tick whose hook runs in a pass that is replayed. The ticks of a run begin with 0, and two runs that
/// follow each other have no number in common: memory that a tick returned is told from that of the same tick.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReplayedTick {
    now: AtomicU64,
    /// What is added to the ticks of the run whose pass it is.
    first: AtomicU64,
    latest: AtomicU64,
}

impl Default for ReplayedTick {
    fn default() -> Self {
        let now = AtomicU64::new(NONE);
        Self { now, first: AtomicU64::new(0), latest: AtomicU64::new(0) }
    }
}

impl ReplayedTick {
    /// The tick, on whichever thread. `None` outside of passes that are replayed.
    #[doc(hidden)]
    #[inline]
    pub fn get(&self) -> Option<u64> {
        Some(self.now.load(Ordering::Relaxed)).filter(|tick| *tick != NONE)
    }

    /// A number above all earlier ones, for the first tick of a run.
    pub(in crate::driver) fn of_new_run(&self) -> u64 {
        (self.latest.load(Ordering::Relaxed) + 1).next_multiple_of(ROUND)
    }

    /// A pass of the run with this first number begins.
    pub(in crate::driver) fn begin(&self, first: u64) {
        self.first.store(first, Ordering::Relaxed);
    }

    /// The hook of a node in this tick of its run is next. One pass at a time does this.
    pub(in crate::driver) fn set(&self, tick: u64) {
        let number = self.first.load(Ordering::Relaxed) + tick;
        if number > self.latest.load(Ordering::Relaxed) {
            self.latest.store(number, Ordering::Relaxed);
        }
        self.now.store(number, Ordering::Relaxed);
    }

    /// The pass ends.
    pub(in crate::driver) fn end(&self) {
        self.now.store(NONE, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The number of ticks changes nothing.
    #[test]
    fn the_ticks_of_a_run_have_no_number_of_an_earlier_run() {
        let replayed = ReplayedTick::default();
        let mut above = 0;
        for ticks in [1, 5, ROUND, ROUND + 1, 1] {
            let first = replayed.of_new_run();
            assert!(first >= above && first % ROUND == 0, "{first}, after {above}");
            for tick in 0..ticks {
                replayed.begin(first);
                replayed.set(tick);
                assert_eq!(replayed.get(), Some(first + tick));
                replayed.end();
                assert_eq!(replayed.get(), None);
            }
            above = first + ticks;
        }
    }
}
