//! How much memory an allocator may take, and its errors when that is not enough.

use super::pool_state::PoolUsage;
use crate::error::{Error, Result};
use crate::stream::{StreamTable, Timeline};

/// Sizes are rounded up to a multiple of this many bytes, so that almost equal sizes share blocks.
const GRANULE: u64 = 512;

/// How a platform manages device memory: an option of [`Platform::builder`](crate::Platform::builder).
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::memory::MemoryOptions;
///
/// # fn main() -> Result<()> {
/// let memory = MemoryOptions::new().in_flight(3);
/// let platform = Platform::builder().memory(memory).detect()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// How many dropped blocks of one size and stream may still be in use by the device before an
    /// allocation waits for the oldest instead of taking more memory. More of them let the host run further
    /// ahead; 2, the default, is double buffering.
    pub in_flight: usize,
    /// The same for blocks of device memory of up to [`SMALL_BLOCK`](Self::SMALL_BLOCK) bytes, since more of these cost
    /// little; 16 by default. With 4 or more, of either kind, an allocation whose stream would have to wait first
    /// queries the driver whether the device is done with an earlier use, once for several allocations. If it is, that
    /// saves the waits, which are a few percent of a tick of small kernels.
    pub small_in_flight: usize,
    /// How many bytes of free memory to keep for later allocations; memory above that returns to the
    /// driver. The default keeps everything.
    pub release_threshold: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryOptions {
    /// The largest small block, in bytes.
    pub const SMALL_BLOCK: u64 = 256 << 10;

    /// The defaults.
    pub const fn new() -> Self {
        Self { in_flight: 2, small_in_flight: 16, release_threshold: u64::MAX }
    }

    /// Sets [`in_flight`](Self::in_flight).
    pub const fn in_flight(mut self, blocks: usize) -> Self {
        self.in_flight = blocks;
        self
    }

    /// Sets [`small_in_flight`](Self::small_in_flight).
    pub const fn small_in_flight(mut self, blocks: usize) -> Self {
        self.small_in_flight = blocks;
        self
    }

    /// Sets [`release_threshold`](Self::release_threshold).
    pub const fn release_threshold(mut self, bytes: u64) -> Self {
        self.release_threshold = bytes;
        self
    }

    /// How many free blocks of a size the device may still use.
    pub(super) fn in_flight_of(&self, bytes: u64) -> usize {
        if bytes <= Self::SMALL_BLOCK { self.small_in_flight } else { self.in_flight }
    }
}

/// Describes an [`Allocator`](super::Allocator): how much memory it may take from its device, and in
/// which portions. A plain value; [`Platform::allocator`](crate::Platform::allocator) makes the live one.
///
/// With any limit, dropped memory is reused only after everything that was queued with it, on all streams, sinks
/// included. So **a running pipeline needs more memory than one tick**: if a tensor was dropped while a tick's last
/// kernels still read it, a tensor of the next tick may get the same memory, and its stream waits; but a tensor that an
/// operator or a queue still *holds* keeps its memory. Count the tensors that a tick makes, and add those that wait in
/// front of each input and those that operators keep: most pipelines need twice the memory of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unbounded,
    Blocks { bytes: u64, count: u64 },
    StreamOrdered { initial: u64, max: u64, release: u64 },
}

impl MemoryLimits {
    /// No limit but the device's memory, as for tensors of the platform. Holoscan's `UnboundedAllocator`.
    pub const fn unbounded() -> Self {
        Self(Kind::Unbounded)
    }

    /// A fixed number of blocks of a fixed size, each for one tensor or buffer of at most that size.
    /// Holoscan's `BlockMemoryPool` with `block_size` and `num_blocks`.
    ///
    /// # Panics
    /// For a count or a size of 0. In a `const` while compiling.
    pub const fn blocks(block_bytes: u64, count: u64) -> Self {
        assert!(block_bytes > 0, "a block has at least one byte");
        assert!(count > 0, "a block pool has at least one block");
        Self(Kind::Blocks { bytes: block_bytes, count })
    }

    /// Blocks of any size, with an initial and a maximum amount of memory, and a limit on the free memory that is kept.
    /// Without further calls the initial amount is 0, there is no maximum, and all free memory is kept.
    /// Holoscan's `StreamOrderedAllocator`, and its `RMMAllocator`.
    pub const fn stream_ordered() -> Self {
        Self(Kind::StreamOrdered { initial: 0, max: u64::MAX, release: u64::MAX })
    }

    /// How many bytes to take from the device when the allocator is made, so that the first allocations up to this size
    /// need no memory from the system. Holoscan's `device_memory_initial_size`.
    ///
    /// # Panics
    /// For limits other than [`stream_ordered`](Self::stream_ordered), and for more than the maximum.
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

    /// How many bytes of free memory to keep. Memory above that returns to the device's driver, which keeps it for other
    /// memory of this platform until the device runs out of memory. Holoscan's `release_threshold`.
    ///
    /// # Panics
    /// For limits other than [`stream_ordered`](Self::stream_ordered). In a `const` while compiling.
    pub const fn release_threshold(self, bytes: u64) -> Self {
        let (initial, max, _) = self.amounts();
        Self::checked(initial, max, bytes)
    }

    #[allow(clippy::panic, reason = "in a constant, a panic is the compile error")]
    const fn amounts(self) -> (u64, u64, u64) {
        match self.0 {
            Kind::StreamOrdered { initial, max, release } => (initial, max, release),
            Kind::Unbounded | Kind::Blocks { .. } => {
                panic!(
                    "only `MemoryLimits::stream_ordered()` has these amounts of memory; begin with it"
                )
            }
        }
    }

    const fn checked(initial: u64, max: u64, release: u64) -> Self {
        assert!(
            initial <= max,
            "an allocator takes more at first than it may have; raise `max_size`, or lower `initial_size`"
        );
        Self(Kind::StreamOrdered { initial, max, release })
    }

    /// The bytes that are taken when the allocator is made.
    pub(super) fn initial(self) -> u64 {
        match self.0 {
            Kind::StreamOrdered { initial, .. } => initial,
            Kind::Unbounded | Kind::Blocks { .. } => 0,
        }
    }

    /// How many bytes of free memory are kept at most; `default` for limits without a threshold of their own.
    pub(super) fn kept_at_most(self, default: u64) -> u64 {
        match self.0 {
            Kind::StreamOrdered { release, .. } => release,
            Kind::Unbounded => default,
            Kind::Blocks { .. } => u64::MAX,
        }
    }

    /// How many free blocks the device may still use before an allocation waits for one instead of taking more
    /// memory; `default` for limits without a fixed number of blocks.
    #[inline]
    pub(super) fn in_flight(self, default: usize) -> usize {
        match self.0 {
            Kind::Blocks { count, .. } => usize::try_from(count).unwrap_or(usize::MAX),
            Kind::Unbounded | Kind::StreamOrdered { .. } => default.max(1),
        }
    }

    pub(super) fn is_bounded(self) -> bool {
        !matches!(self.0, Kind::Unbounded)
    }

    /// The size of the blocks of a block pool: what the user asked for, and what each takes.
    pub(super) fn block_sizes(self) -> Option<(u64, u64)> {
        match self.0 {
            Kind::Blocks { bytes, .. } => Some((bytes, granules(bytes))),
            Kind::Unbounded | Kind::StreamOrdered { .. } => None,
        }
    }

    /// The size of the block for a request of `bytes`.
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

    /// Whether one more block of this size may be made when `reserved` bytes are allocated already.
    pub(super) fn allows(self, reserved: u64, bytes: u64) -> bool {
        reserved.checked_add(bytes).is_some_and(|sum| sum <= self.most())
    }

    /// How many of so many bytes are above the limit.
    pub(super) fn excess(self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.most())
    }

    fn most(self) -> u64 {
        match self.0 {
            Kind::Unbounded => u64::MAX,
            Kind::Blocks { bytes, count } => granules(bytes).saturating_mul(count),
            Kind::StreamOrdered { max, .. } => max,
        }
    }

    /// The error when no memory is free: the stream that needs it, the size, and the streams whose blocks are in use.
    pub(super) fn exhausted(
        self,
        pool: &str,
        usage: &PoolUsage,
        used: u64,
        table: &StreamTable,
        stream: &Timeline,
        requested: u64,
    ) -> Error {
        let (pool, who) = (pool.to_owned(), stream.label());
        let mut holders: Vec<(String, usize)> = Vec::new();
        for stream in &usage.streams {
            let label = table.timeline(*stream).label();
            match holders.iter_mut().find(|(known, _)| *known == label) {
                Some((_, blocks)) => *blocks += 1,
                None => holders.push((label, 1)),
            }
        }
        match self.0 {
            Kind::Blocks { count, .. } => {
                Error::BlocksExhausted { pool, who, blocks: count, holders }
            }
            Kind::StreamOrdered { max, .. } => {
                Error::MemoryExhausted { pool, who, requested, used, max_size: max, holders }
            }
            Kind::Unbounded => unreachable!("memory without limits is never exhausted"),
        }
    }
}

/// Rounds up to granules. A size that would overflow gives the largest multiple, which is more than any device has.
pub(super) fn granules(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX - u64::MAX % GRANULE)
}
