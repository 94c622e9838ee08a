//! The check whether an allocator has enough free memory, for the condition `memory_available`.

use super::limits::{MemoryLimits, granules};

/// The amount of memory that a tick needs, in bytes or in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryAmount {
    /// This number of bytes, for one tensor or buffer. In a block pool, the amount is as many blocks as the bytes need.
    Bytes(u64),
    /// This number of blocks of a block pool.
    Blocks(u64),
}

impl MemoryLimits {
    /// The reason why this amount of memory can never be free, with the remedy. `None` if this amount can be free.
    pub(super) fn reason_for_never(self, amount: MemoryAmount, pool: &str) -> Option<String> {
        if !self.is_bounded() {
            return Some(format!(
                "allocator `{pool}` has no limit, so nothing is waited for; give it one, \
                 `MemoryLimits::blocks` or `stream_ordered().max_size(…)`, or remove the condition"
            ));
        }
        let (MemoryAmount::Bytes(wanted) | MemoryAmount::Blocks(wanted)) = amount;
        if wanted == 0 {
            return Some("it waits for no memory; it takes at least 1 byte or block".into());
        }
        match (amount, self.block_sizes()) {
            (MemoryAmount::Blocks(_), None) => Some(format!(
                "allocator `{pool}` has no blocks; wait for `bytes(n)`, or make it with `MemoryLimits::blocks`"
            )),
            _ if self.has_free(0, amount) => None,
            (MemoryAmount::Blocks(blocks), Some(_)) => Some(format!(
                "allocator `{pool}` has fewer than {blocks} blocks; give it more, or wait for fewer"
            )),
            (MemoryAmount::Bytes(bytes), _) => Some(format!(
                "allocator `{pool}` may have less than {bytes} bytes; give it more, or wait for less"
            )),
        }
    }

    /// Whether this amount of memory is free when `used` bytes are in use.
    pub(super) fn has_free(self, used: u64, amount: MemoryAmount) -> bool {
        let needed = match (amount, self.block_sizes()) {
            (MemoryAmount::Blocks(_), None) => return false,
            (MemoryAmount::Blocks(blocks), Some((_, taken))) => taken.saturating_mul(blocks),
            (MemoryAmount::Bytes(bytes), Some((usable, taken))) => {
                bytes.div_ceil(usable).saturating_mul(taken)
            }
            (MemoryAmount::Bytes(bytes), None) => granules(bytes),
        };
        self.allows(used, needed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::MemoryAmount::{Blocks, Bytes};
    use super::*;

    #[test]
    fn blocks_are_free_as_a_whole() {
        // A block takes 1024 bytes, of which a tensor can use 600.
        let limits = MemoryLimits::blocks(600, 3);
        for (used, amount, is_free) in [
            (0, Blocks(3), true),
            (1024, Blocks(3), false),
            (1024, Blocks(2), true),
            (0, Bytes(1800), true),
            (1024, Bytes(1800), false),
            (1024, Bytes(1200), true),
            (2048, Bytes(601), false),
            (2048, Bytes(600), true),
            (3072, Bytes(1), false),
        ] {
            assert_eq!(limits.has_free(used, amount), is_free, "{amount:?} beside {used}");
        }
        assert_eq!(limits.reason_for_never(Blocks(3), "P"), None);
        assert_eq!(limits.reason_for_never(Bytes(1800), "P"), None);
        for amount in [Blocks(4), Bytes(1801), Blocks(0), Bytes(0), Blocks(u64::MAX)] {
            assert!(limits.reason_for_never(amount, "P").is_some(), "{amount:?}");
        }
    }

    #[test]
    fn bytes_are_rounded_as_an_allocation() {
        let limits = MemoryLimits::stream_ordered().max_size(2048);
        assert!(limits.has_free(1024, Bytes(1024)));
        assert!(!limits.has_free(1536, Bytes(513)));
        assert_eq!(limits.reason_for_never(Bytes(2048), "P"), None);
        for amount in [Bytes(2049), Blocks(1), Bytes(0)] {
            assert!(limits.reason_for_never(amount, "P").is_some(), "{amount:?}");
        }
        let unbounded = MemoryLimits::unbounded();
        assert!(unbounded.reason_for_never(Bytes(1), "P").is_some());
    }
}
