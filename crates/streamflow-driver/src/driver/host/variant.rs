//! The behaviour that CUDA leaves to a driver, and that a seed decides here.

/// The variant of CUDA's behaviour that a simulator shows. CUDA permits both values of each field, and may choose
/// differently from call to call.
///
/// Seed 0 sets no field. The bits of `(seed ^ seed / 8) % 8` choose: the seeds 0 to 7 have every variant, and the
/// seeds 0 to 63 every variant under every policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Variant {
    /// Bit 0: a new stream or event may have the handle of a destroyed one, so that a stale handle names the new
    /// object. Otherwise a stale handle is refused forever.
    pub(super) reuses_handles: bool,
    /// Bit 1: freeing page-locked memory does not wait for the device.
    pub(super) frees_pinned_at_once: bool,
    /// Bit 2: device memory is a pool like that of `cudaMallocAsync`: freed memory is split, merged, and reused by
    /// another stream that comes after the free by its events. Otherwise a block is reused as a whole, and by another
    /// stream only once the free has executed.
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
