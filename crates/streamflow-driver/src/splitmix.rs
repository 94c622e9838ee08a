//! The random number generator behind every seed.
//!
//! A seed that a report names must give the same run in later versions, so a test pins the numbers. The generator of a
//! crate may change between versions of the crate, as `fastrand`'s did from 2.0 to 2.1. Tests of other packages include
//! this file as well.

/// The splitmix64 generator (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, 2014): one addition and
/// one mix.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    #[doc(hidden)]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub const fn below(&mut self, bound: usize) -> usize {
        // The high half of the product: no division, and a bias below 2^-32 for small bounds.
        ((self.bits() as u128 * bound as u128) >> 64) as usize
    }
}

/// Spreads the bits of a number over all 64 bits of the result.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        // The numbers of Vigna's C program, `splitmix64.c`.
        let mut random = SplitMix::new(1_234_567);
        let drawn = [(); 3].map(|()| random.bits());
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_are_below_their_bound() {
        let mut random = SplitMix::new(3);
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[random.below(7)] += 1);
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }
}
