//! How much memory an allocator may take, and what it says when that is not enough.

use super::pool_state::PoolUsage;
use crate::error::{Error, Result};
use crate::stream::{StreamTable, Timeline};

/// Sizes are rounded up to this many bytes, so that almost equal ones share blocks.
const GRANULE: u64 = 512;

/// How a platform manages device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOptions {
    /// How many freed blocks of one size and stream may still be in use by the device before an
    /// allocation waits for the oldest instead of taking more memory. More lets the host run further
    /// ahead; 2, the default, is double buffering.
    pub in_flight: usize,
    /// The same for blocks of device memory of up to [`SMALL_BLOCK`](Self::SMALL_BLOCK) bytes, of which more cost
    /// little; 16 by default. With 4 or more, of either kind, a stream that would have to wait asks the driver first
    /// whether the device is done with an earlier use, once for several allocations: where it is, that saves the
    /// waits, which in a tick of small kernels are a few percent.
    pub small_in_flight: usize,
    /// How many bytes of freed memory to keep for later allocations; what is above goes back to the
    /// driver. The default keeps everything.
    pub release_threshold: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { in_flight: 2, small_in_flight: 16, release_threshold: u64::MAX }
    }
}

impl MemoryOptions {
    /// What counts as small, in bytes.
    pub const SMALL_BLOCK: u64 = 256 << 10;

    /// How many free blocks of a size may be in use.
    pub(super) fn in_flight_of(&self, bytes: u64) -> usize {
        if bytes <= Self::SMALL_BLOCK { self.small_in_flight } else { self.in_flight }
    }
}

/// Describes an [`Allocator`](super::Allocator): how much memory it may take from its device, and in
/// which portions. A plain value; [`Platform::allocator`](crate::Platform::allocator) makes the live one.
///
/// However it is limited, memory that is dropped is used again only after everything that was queued
/// with it, on whatever stream, sinks included. So **a pipeline in flight needs more than one tick
/// does**: while a tick's last kernels still read a tensor and its owner is gone, the next tick's may
/// get the same memory, whose stream then waits; but a tensor that an operator or a queue still *holds*
/// takes its memory away. Count the tensors that a tick makes, and add those that wait in front of each
/// input and those that operators keep: twice a tick's is what most pipelines need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unbounded,
    Blocks { bytes: u64, count: u64 },
    StreamOrdered { initial: u64, max: u64, release: u64 },
}

impl MemoryLimits {
    /// As much as the device has: what tensors of the platform have. Holoscan's `UnboundedAllocator`.
    pub const fn unbounded() -> Self {
        Self(Kind::Unbounded)
    }

    /// A fixed number of blocks of a fixed size, each for one tensor or buffer of at most that size.
    /// Holoscan's `BlockMemoryPool` with `block_size` and `num_blocks`.
    ///
    /// # Panics
    /// For no blocks, or blocks of no bytes. In a `const` while compiling.
    pub const fn blocks(block_bytes: u64, count: u64) -> Self {
        assert!(block_bytes > 0, "a block has at least one byte");
        assert!(count > 0, "a block pool has at least one block");
        Self(Kind::Blocks { bytes: block_bytes, count })
    }

    /// Memory of any size, from an initial to a maximum amount, of which a part is kept when it is free.
    /// Without further calls nothing is taken beforehand, there is no maximum, and all is kept.
    /// Holoscan's `StreamOrderedAllocator`, and its `RMMAllocator`.
    pub const fn stream_ordered() -> Self {
        Self(Kind::StreamOrdered { initial: 0, max: u64::MAX, release: u64::MAX })
    }

    /// How many bytes to take from the device when the allocator is made, so that the first
    /// allocations up to this size need not ask the system. Holoscan's `device_memory_initial_size`.
    ///
    /// # Panics
    /// For other limits than [`stream_ordered`](Self::stream_ordered), and for more than the maximum.
    /// In a `const` while compiling.
    pub const fn initial_size(self, bytes: u64) -> Self {
        let (_, max, release) = self.amounts();
        Self::checked(bytes, max, release)
    }

    /// How many bytes it may have at a time. Holoscan's `device_memory_max_size`.
    ///
    /// # Panics
    /// As for [`initial_size`](Self::initial_size).
    pub const fn max_size(self, bytes: u64) -> Self {
        let (initial, _, release) = self.amounts();
        Self::checked(initial, bytes, release)
    }

    /// How many bytes of free memory to keep; what is above goes back to the device's driver, which keeps
    /// it for other memory of this platform until the device has no more. Holoscan's `release_threshold`.
    ///
    /// # Panics
    /// For other limits than [`stream_ordered`](Self::stream_ordered). In a `const` while compiling.
    pub const fn release_threshold(self, bytes: u64) -> Self {
        let (initial, max, _) = self.amounts();
        Self::checked(initial, max, bytes)
    }

    #[allow(
        clippy::panic,
        reason = "while compiling, where it is how a constant says what is wrong"
    )]
    const fn amounts(self) -> (u64, u64, u64) {
        match self.0 {
            Kind::StreamOrdered { initial, max, release } => (initial, max, release),
            Kind::Unbounded | Kind::Blocks { .. } => {
                panic!("only `MemoryLimits::stream_ordered()` has amounts of memory")
            }
        }
    }

    const fn checked(initial: u64, max: u64, release: u64) -> Self {
        assert!(initial <= max, "an allocator takes more at first than it may have");
        Self(Kind::StreamOrdered { initial, max, release })
    }

    /// What is taken when the allocator is made.
    pub(super) fn initial(self) -> u64 {
        match self.0 {
            Kind::StreamOrdered { initial, .. } => initial,
            Kind::Unbounded | Kind::Blocks { .. } => 0,
        }
    }

    /// How much free memory is kept at most; `unlimited` for those that say nothing.
    pub(super) fn kept(self, unlimited: u64) -> u64 {
        match self.0 {
            Kind::StreamOrdered { release, .. } => release,
            Kind::Unbounded => unlimited,
            Kind::Blocks { .. } => u64::MAX,
        }
    }

    /// How many free blocks may be in use before an allocation waits for one instead of taking more
    /// memory; `otherwise` for those without a fixed number.
    #[inline]
    pub(super) fn in_flight(self, otherwise: usize) -> usize {
        match self.0 {
            Kind::Blocks { count, .. } => usize::try_from(count).unwrap_or(usize::MAX),
            Kind::Unbounded | Kind::StreamOrdered { .. } => otherwise.max(1),
        }
    }

    pub(super) fn is_bounded(self) -> bool {
        !matches!(self.0, Kind::Unbounded)
    }

    /// The block that is made for `bytes`.
    ///
    /// # Errors
    /// [`Error::BlockSize`].
    pub(super) fn block_for(self, bytes: u64, pool: &str) -> Result<u64> {
        match self.0 {
            Kind::Blocks { bytes: block_bytes, .. } if bytes > block_bytes => {
                Err(Error::BlockSize { pool: pool.to_owned(), block_bytes, requested: bytes })
            }
            Kind::Blocks { bytes, .. } => Ok(granules(bytes)),
            Kind::Unbounded | Kind::StreamOrdered { .. } => Ok(granules(bytes.max(1))),
        }
    }

    /// Whether a block more of this size may be made when `reserved` bytes are.
    pub(super) fn allows(self, reserved: u64, bytes: u64) -> bool {
        let most = match self.0 {
            Kind::Unbounded => return true,
            Kind::Blocks { bytes, count } => granules(bytes).saturating_mul(count),
            Kind::StreamOrdered { max, .. } => max,
        };
        reserved.checked_add(bytes).is_some_and(|sum| sum <= most)
    }

    /// The error when nothing is left: who wanted how much, and who has it.
    pub(super) fn exhausted(
        self,
        pool: &str,
        usage: &PoolUsage,
        table: &StreamTable,
        who: &Timeline,
        requested: u64,
    ) -> Error {
        let (pool, who) = (pool.to_owned(), who.label());
        let mut holders: Vec<(String, usize)> = Vec::new();
        for stream in &usage.streams {
            let holder = table.timeline(*stream).label();
            match holders.iter_mut().find(|(name, _)| *name == holder) {
                Some((_, blocks)) => *blocks += 1,
                None => holders.push((holder, 1)),
            }
        }
        match self.0 {
            Kind::Blocks { count, .. } => {
                Error::BlocksExhausted { pool, who, blocks: count, holders }
            }
            Kind::StreamOrdered { max, .. } => {
                let used = usage.used;
                Error::MemoryExhausted { pool, who, requested, used, max_size: max, holders }
            }
            Kind::Unbounded => unreachable!("there is no limit to be met"),
        }
    }
}

/// Rounded up; what can't be is more than any device has, and stays so.
fn granules(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX - u64::MAX % GRANULE)
}
