//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: *A randomized scheduler
//! with probabilistic guarantees of finding bugs*, ASPLOS 2010).
//!
//! Each thread has a random priority, and the thread with the highest priority among those that can continue runs. At
//! `d - 1` random steps the priority of the running thread falls below all others. A fault that needs one particular
//! order of `d` steps is found with a probability of at least `1 / (n k^(d - 1))` per run, for `n` threads and `k`
//! steps.
//!
//! A thread that starves gets the highest priority from then on: threads of a higher priority may poll for something
//! that only the starving thread can do. This rule draws no random number, so runs without such a thread are as in the
//! paper.

use super::Order;
use crate::splitmix::{SplitMix, mix};

/// The number of steps that must come in one order for a fault: a step of one thread, a step of another thread, and
/// the next step of the first.
const DEPTH: usize = 3;

/// The range from which the binary logarithm of a run's expected number of steps is drawn at random.
const SCALES: std::ops::Range<u64> = 4..11;

/// An order that depends on the seed alone.
///
/// The number of steps of a run is not known before the run, and earlier runs must make no difference: the same seed
/// gives the same run when it is repeated without the earlier runs. So the expected number of steps is drawn from the
/// seed, too. Each period with several threads counts as a run of its own.
#[derive(Debug)]
pub struct Pct {
    random: SplitMix,
    step: u64,
    /// The steps at which the priority of the running thread falls.
    falls: [u64; DEPTH - 1],
    /// The priority of each thread, by index. The thread with the highest priority runs.
    priorities: Vec<u64>,
    /// The number of times that a priority fell, each time below all others.
    fallen: u64,
}

impl Pct {
    #[doc(hidden)]
    pub fn new(seed: u64) -> Self {
        let random = SplitMix::new(mix(seed ^ 0x7475_726e));
        Self { random, step: 0, falls: [0; DEPTH - 1], priorities: Vec::new(), fallen: 0 }
    }

    fn priority(&mut self, thread: usize) -> u64 {
        while self.priorities.len() <= thread {
            // The highest bit is set, so a drawn priority is above all priorities that have fallen.
            let drawn = self.random.bits() | 1 << 63;
            self.priorities.push(drawn);
        }
        self.priorities[thread]
    }
}

impl Order for Pct {
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize {
        self.step += 1;
        if let Some(current) = current
            && self.falls.contains(&self.step)
        {
            self.fallen += 1;
            let _drawn_before = self.priority(current);
            self.priorities[current] = (1 << 63) - self.fallen;
        }
        let highest = ready.iter().copied().max_by_key(|thread| self.priority(*thread));
        highest.or(current).unwrap_or(0)
    }

    /// Gives the thread the highest priority from now on.
    fn starves(&mut self, thread: usize) {
        let _drawn_before = self.priority(thread);
        let highest = self.priorities.iter().copied().max().unwrap_or_default();
        self.priorities[thread] = highest.saturating_add(1);
    }

    fn begin(&mut self) {
        let steps = 1 << (SCALES.start + self.random.bits() % (SCALES.end - SCALES.start));
        let falls = [self.random.bits(), self.random.bits()];
        (self.step, self.falls) = (0, falls.map(|drawn| 1 + drawn % steps));
        self.priorities.clear();
    }
}
