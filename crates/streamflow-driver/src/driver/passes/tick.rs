//! The number of the replayed tick, for layers above the driver whose choices depend on it.

use crate::sync::{AtomicU64, Ordering};

/// The value of `now` outside of replayed passes.
const NONE: u64 = u64::MAX;

/// Each run's numbers begin at a multiple of this, so that modulo this number a run's ticks repeat those of earlier runs.
const ROUND: u64 = 1 << 6;

/// The number of the tick with the hook that runs now in a replayed pass. The ticks of a run begin with 0, but the
/// numbers of two runs in a row have none in common: so memory that a tick returned is distinguished from memory that
/// the same tick of the next run returns.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReplayedTick {
    now: AtomicU64,
    /// The number that is added to the ticks of the run whose pass is replayed now.
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
    /// The number of the tick, on any thread; `None` outside of replayed passes.
    #[doc(hidden)]
    #[inline]
    pub fn get(&self) -> Option<u64> {
        Some(self.now.load(Ordering::Relaxed)).filter(|tick| *tick != NONE)
    }

    /// Returns a number above all earlier ones, for the first tick of a run.
    pub(in crate::driver) fn of_new_run(&self) -> u64 {
        (self.latest.load(Ordering::Relaxed) + 1).next_multiple_of(ROUND)
    }

    /// Begins a pass of the run with this first number.
    pub(in crate::driver) fn begin(&self, first: u64) {
        self.first.store(first, Ordering::Relaxed);
    }

    /// Notes that the hook of a node in this tick of its run is next. Only one pass at a time calls this.
    pub(in crate::driver) fn set(&self, tick: u64) {
        let number = self.first.load(Ordering::Relaxed) + tick;
        if number > self.latest.load(Ordering::Relaxed) {
            self.latest.store(number, Ordering::Relaxed);
        }
        self.now.store(number, Ordering::Relaxed);
    }

    /// Ends the pass.
    pub(in crate::driver) fn end(&self) {
        self.now.store(NONE, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The numbers of two runs differ for any number of ticks in a run.
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
