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
/// seed is to give the same run when it is repeated alone. So a seed also draws how long it takes the run to
/// be.
#[derive(Debug)]
pub(crate) struct Pct {
    seed: u64,
    step: u64,
    /// The steps in which the thread that runs falls, the last of them to the bottom.
    falls: [u64; DEPTH - 1],
    /// What threads have fallen to: below all others, the latest lowest.
    fallen: Vec<usize>,
}

impl Pct {
    pub(crate) fn new(seed: u64) -> Self {
        let mut drawn = (1..).map(|it| mix(mix(seed ^ 0x7475_726e) ^ it));
        let mut draw = |bound: u64| drawn.next().map_or(0, |it: u64| it % bound);
        let scale = SCALES.start + draw(SCALES.end - SCALES.start);
        let falls = std::array::from_fn(|_| 1 + draw(1 << scale));
        Self { seed, step: 0, falls, fallen: Vec::new() }
    }

    /// The higher goes on. Those that have fallen are below those that have not.
    fn priority(&self, thread: usize) -> (bool, u64) {
        match self.fallen.iter().position(|fallen| *fallen == thread) {
            Some(place) => (false, u64::MAX - place as u64),
            None => (true, mix(self.seed ^ mix(thread as u64 + 1))),
        }
    }
}

impl Order for Pct {
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize {
        self.step += 1;
        if let Some(current) = current
            && self.falls.contains(&self.step)
        {
            self.fallen.retain(|fallen| *fallen != current);
            self.fallen.push(current);
        }
        let highest = ready.iter().copied().max_by_key(|thread| self.priority(*thread));
        highest.or(current).unwrap_or(0)
    }
}

/// A number's bits, spread over all 64: the last step of splitmix64.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
