//! The variants: behaviour that CUDA leaves to a driver, and that the seed of a simulator decides.

/// The variant of CUDA's behaviour that a simulator shows. CUDA permits both values of each field, and may change the value
/// from call to call.
///
/// In seed 0 all fields are `false`. The lowest three bits of `seed ^ seed / 8` set the fields. So the seeds 0 to 7 have
/// every variant, and the seeds 0 to 63 every variant under every policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Variant {
    /// Bit 0: a new stream or event may have the handle of a destroyed one, so a stale handle names the new object. If
    /// `false`, a stale handle is always refused.
    pub(super) reuses_handles: bool,
    /// Bit 1: freeing page-locked memory does not wait for the device's work.
    pub(super) frees_pinned_at_once: bool,
    /// Bit 2: device memory is a pool like that of `cudaMallocAsync`. Freed memory is split and merged, and another stream
    /// reuses it if the stream's waits for events put it after the free. If `false`, a block is reused as a whole, and by
    /// another stream only once the free has executed.
    pub(super) splits_memory: bool,
}

impl Variant {
    pub(super) const fn of_seed(seed: u64) -> Self {
        let bits = seed ^ (seed / 8);
        Self {
            reuses_handles: bits & 1 != 0,
            frees_pinned_at_once: bits & 2 != 0,
            splits_memory: bits & 4 != 0,
        }
    }
}
