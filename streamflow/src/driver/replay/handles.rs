//! Maps by handle.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with handles as keys, which are pointers, or small numbers on the simulator.
pub(super) type ByHandle<T> = HashMap<u64, T, BuildHasherDefault<HandleHasher>>;

/// Multiplies by an odd number, whose upper bits mix well.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, handle: u64) {
        let mixed = (self.0 ^ handle).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
