//! Random test data that is the same in every run.

#[allow(dead_code, unreachable_pub, reason = "a part of the library's own generator is used here")]
#[path = "../../crates/streamflow-driver/src/splitmix.rs"]
mod splitmix;

use self::splitmix::SplitMix;

/// A small generator, SplitMix64: good enough for test data, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number in `0..n`; `n` is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// Returns a number in `-1.0..1.0`, a multiple of 2⁻²³.
    pub fn signed(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Returns `n` numbers in `-1.0..1.0`.
    pub fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.signed()).collect()
    }

    /// Returns `n` bytes.
    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.bits() >> 56) as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_range_and_differ_by_seed() {
        let floats = Random::new(1).floats(10_000);
        assert!(floats.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = floats.iter().sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
        assert_ne!(Random::new(1).bytes(16), Random::new(2).bytes(16));
        let mut random = Random::new(3);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }
}
