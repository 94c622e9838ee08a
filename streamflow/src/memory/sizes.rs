//! The rounding of requests to sizes of blocks. Requests of almost equal sizes share blocks. So a program whose requests
//! change in size has few lists of free blocks, and little memory in them.
//!
//! From each power of two to the next there are [`PER_DOUBLING`] sizes, and from 16 MiB on the sizes are the multiples of
//! [`MOST_WASTE`]. So less than an eighth of a block is unused, and less than 2 MiB. CUDA's driver takes memory from the
//! system in portions of 2 MiB.

/// The number of sizes from one power of two to the next.
const PER_DOUBLING: u64 = 8;

/// The bound of the unused part of a block, in bytes: the unused part of each block is smaller.
const MOST_WASTE: u64 = 2 << 20;

/// The size of the block for a request of `bytes`: a multiple of `granule`, which is a power of two. If the size would
/// overflow, returns the largest multiple, which is more than any device has.
#[inline]
pub(super) fn block_size(bytes: u64, granule: u64) -> u64 {
    let bytes = bytes.max(1);
    let step = ((1_u64 << bytes.ilog2()) / PER_DOUBLING).clamp(granule, MOST_WASTE);
    round_up(bytes, step)
}

/// Rounds up to a multiple of `step`. If that would overflow, returns the largest multiple.
#[inline]
pub(super) fn round_up(bytes: u64, step: u64) -> u64 {
    bytes.checked_next_multiple_of(step).unwrap_or(u64::MAX - u64::MAX % step)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_block_is_as_large_as_its_request_and_wastes_less_than_an_eighth() {
        let around = (0..40).flat_map(|power| {
            [1_u64 << power, 3 << power, 5 << power, 13 << power]
                .into_iter()
                .flat_map(|at| [at.saturating_sub(1), at, at + 1])
        });
        for bytes in around {
            for granule in [512, 4096] {
                let size = block_size(bytes, granule);
                assert!(size >= bytes && size.is_multiple_of(granule), "{size} for {bytes}");
                assert_eq!(block_size(size, granule), size, "a size is its own");
                let waste = size - bytes;
                let is_small = bytes < PER_DOUBLING * granule;
                assert!(
                    waste < MOST_WASTE && (is_small || waste < bytes / 8 + 1),
                    "{size} for {bytes}"
                );
            }
        }
        assert!(block_size(u64::MAX, 512) > u64::MAX - MOST_WASTE);
    }

    #[test]
    fn requests_of_all_sizes_share_few_blocks() {
        let sizes: BTreeSet<u64> =
            (1 << 20..8 << 20).step_by(997).map(|bytes| block_size(bytes, 4096)).collect();
        assert_eq!(
            sizes.len(),
            3 * PER_DOUBLING as usize + 1,
            "three doublings, and the first size"
        );
    }
}
