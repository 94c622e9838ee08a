//! The random numbers of a seed, for the policies that choose.

/// The splitmix64 generator (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*,
/// 2014): one addition and one mix, good enough for choices and the same everywhere.
#[derive(Debug, Clone)]
pub(in crate::driver) struct Random(u64);

impl Random {
    pub(in crate::driver) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`, or 0 if that is 0.
    pub(in crate::driver) fn below(&mut self, bound: usize) -> usize {
        // The high half of the product: no division, and a bias below 2^-32 for small bounds.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// A number's bits, spread over all 64.
pub(super) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
