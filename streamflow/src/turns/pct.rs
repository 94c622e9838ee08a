//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: *A randomized scheduler
//! with probabilistic guarantees of finding bugs*, ASPLOS 2010).
//!
//! Each thread has a random priority, and of those that could go on the highest does. At `d - 1` random
//! steps the one that runs falls below all others. A fault that needs `d` steps in an order of their own is
//! found with a probability of at least `1 / (n k^(d - 1))` a run, for `n` threads and `k` steps.

use super::Order;

/// So many steps have to come in an order of their own for a fault that is looked for: a use, something
/// of another thread in between, and what follows.
const DEPTH: usize = 3;

/// The steps that a run is expected to have, as powers of two.
const SCALES: std::ops::Range<u64> = 4..11;

/// An order that a seed decides alone.
///
/// How many steps a run has is not known before, and what earlier runs had must make no difference: the same
/// seed is to give the same run when it is repeated alone. So it is drawn as well how long the run is taken to
/// be. A run that has several threads, then one, then several again counts as as many runs.
#[derive(Debug)]
pub(crate) struct Pct {
    /// The state of the generator.
    random: u64,
    step: u64,
    /// The steps in which the thread that runs falls.
    falls: [u64; DEPTH - 1],
    /// By thread; the highest goes on.
    priorities: Vec<u64>,
    /// How often threads fell: each time below all others.
    fallen: u64,
}

impl Pct {
    pub(crate) fn new(seed: u64) -> Self {
        let random = mix(seed ^ 0x7475_726e);
        Self { random, step: 0, falls: [0; DEPTH - 1], priorities: Vec::new(), fallen: 0 }
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.random)
    }

    fn priority(&mut self, thread: usize) -> u64 {
        while self.priorities.len() <= thread {
            // Above all that have fallen.
            let drawn = self.draw() | 1 << 63;
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

    fn begin(&mut self) {
        let steps = 1 << (SCALES.start + self.draw() % (SCALES.end - SCALES.start));
        let falls = [self.draw(), self.draw()];
        (self.step, self.falls) = (0, falls.map(|drawn| 1 + drawn % steps));
        self.priorities.clear();
    }
}

/// A number's bits, spread over all 64: the last step of splitmix64.
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
