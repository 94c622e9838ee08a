//! How much memory an allocator may take, and the errors when that is not enough.

use super::pool_state::PoolUsage;
use super::sizes::{block_size, round_up};
use crate::error::const_text::Text;
use crate::error::{Error, Result};
use crate::stream::{StreamTable, Timeline};

/// The number of bytes that all sizes are multiples of.
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
#[must_use = "pass it to the builder of a platform"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// How many dropped blocks of one size and stream may still be in use by the device before an
    /// allocation waits for the oldest instead of taking more memory. A higher number lets the host run further ahead;
    /// 2, the default, is double buffering.
    pub in_flight: usize,
    /// The same for blocks of device memory of up to [`SMALL_BLOCK`](Self::SMALL_BLOCK) bytes, since more small blocks
    /// cost little; 16 by default. From 4 on, for either size, an allocation that would have to wait first queries the
    /// driver whether the device is done with an earlier use, once for several allocations. If it is done, that saves
    /// the waits: a few percent of a tick of small kernels.
    pub small_in_flight: usize,
    /// How many bytes of free device memory to keep for later allocations; memory above that returns to the
    /// driver. The default keeps everything, until the device has no memory for an allocation of this platform, or
    /// [`Platform::trim`](crate::Platform::trim) is called.
    pub release_threshold: u64,
    /// The most page-locked host memory of each device, in bytes: the memory in use, as a [`Pinned`](super::Pinned) or
    /// a [`Download`](super::Download), together with the memory that is free for later ones. Below this limit, free
    /// memory is given back only at a run's end and by [`Platform::trim`](crate::Platform::trim), because giving it
    /// back synchronises the device. A request that finds no room waits for the uses of free memory and gives that
    /// memory back. If the memory in use leaves no room, the request is an [`Error::PinnedExhausted`]. The default is
    /// [`PINNED_LIMIT`](Self::PINNED_LIMIT).
    pub pinned_limit: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryOptions {
    /// The largest small block, in bytes.
    pub const SMALL_BLOCK: u64 = 256 << 10;

    /// The default of [`pinned_limit`](Self::pinned_limit): 4 GiB. The system can't swap page-locked memory, so a program
    /// that takes much of it slows all others down. A device copies that amount in some tenths of a second, so a
    /// pipeline has less in flight; a program that keeps more raises the limit.
    pub const PINNED_LIMIT: u64 = 4 << 30;

    /// Creates the default options.
    pub const fn new() -> Self {
        Self {
            in_flight: 2,
            small_in_flight: 16,
            release_threshold: u64::MAX,
            pinned_limit: Self::PINNED_LIMIT,
        }
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

    /// Sets [`pinned_limit`](Self::pinned_limit).
    pub const fn pinned_limit(mut self, bytes: u64) -> Self {
        self.pinned_limit = bytes;
        self
    }

    /// The most free blocks of a size that the device may still use.
    pub(super) fn in_flight_of(&self, bytes: u64) -> usize {
        if bytes <= Self::SMALL_BLOCK { self.small_in_flight } else { self.in_flight }
    }
}

/// Describes an [`Allocator`](super::Allocator): how much memory it may take from its device, and in
/// which portions. A plain value; [`Platform::allocator`](crate::Platform::allocator) makes the live one.
///
/// With any limit, dropped memory is reused only after all work that was queued with it, on all streams, sinks
/// included. So **a running pipeline needs more memory than one tick**: if a tensor was dropped while a tick's last
/// kernels still read it, a tensor of the next tick may get the same memory, and its stream waits; but a tensor that an
/// operator or a queue still *holds* keeps its memory. Count the tensors that a tick makes, and add those that wait in
/// front of each input and those that operators keep: most pipelines need twice the memory of a tick.
///
/// # Mistakes
/// The methods accept any values, since these may come from the arguments of a program. A mistake, for example a pool
/// of blocks of 0 bytes, is an error of `Platform::allocator`, and of rustc for a constant that ends with
/// [`checked`](Self::checked):
/// ```compile_fail
/// use streamflow::memory::MemoryLimits;
/// const FRAMES: MemoryLimits = MemoryLimits::blocks(0, 4).checked();
/// ```
#[must_use = "it describes an allocator, and makes none"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    kind: Kind,
    /// Whether a method has set an amount that this kind of limits does not have.
    is_misplaced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unbounded,
    Blocks { bytes: u64, count: u64 },
    StreamOrdered { initial: u64, max: u64, release: u64 },
}

impl MemoryLimits {
    /// No limit but the device's memory, as for tensors of the platform. Holoscan's `UnboundedAllocator`.
    pub const fn unbounded() -> Self {
        Self::of(Kind::Unbounded)
    }

    /// A fixed number of blocks of a fixed size, each for one tensor or buffer of at most that size.
    /// Holoscan's `BlockMemoryPool` with `block_size` and `num_blocks`. A count or a size of 0 is a mistake. Each block
    /// is made when it is first needed.
    pub const fn blocks(block_bytes: u64, count: u64) -> Self {
        Self::of(Kind::Blocks { bytes: block_bytes, count })
    }

    /// Blocks of any size, with an initial and a maximum amount of memory, and a limit on the free memory that is kept.
    /// Without further calls the initial amount is 0, there is no maximum, and all free memory is kept.
    /// Holoscan's `StreamOrderedAllocator`, and its `RMMAllocator`.
    pub const fn stream_ordered() -> Self {
        Self::of(Kind::StreamOrdered { initial: 0, max: u64::MAX, release: u64::MAX })
    }

    const fn of(kind: Kind) -> Self {
        Self { kind, is_misplaced: false }
    }

    /// How many bytes to take from the device when the allocator is made. The first allocations up to this size then
    /// need no memory from the system. Holoscan's `device_memory_initial_size`. More than the maximum is a mistake, and
    /// so is an amount for limits other than [`stream_ordered`](Self::stream_ordered).
    pub const fn initial_size(mut self, bytes: u64) -> Self {
        match &mut self.kind {
            Kind::StreamOrdered { initial, .. } => *initial = bytes,
            Kind::Unbounded | Kind::Blocks { .. } => self.is_misplaced = true,
        }
        self
    }

    /// The most bytes that the allocator may have at a time. Holoscan's `device_memory_max_size`. Mistakes are as for
    /// [`initial_size`](Self::initial_size).
    pub const fn max_size(mut self, bytes: u64) -> Self {
        match &mut self.kind {
            Kind::StreamOrdered { max, .. } => *max = bytes,
            Kind::Unbounded | Kind::Blocks { .. } => self.is_misplaced = true,
        }
        self
    }

    /// How many bytes of free memory to keep. Memory above that returns to the device's driver. The driver keeps it for
    /// other memory of this platform until the device runs out of memory. Holoscan's `release_threshold`. For limits
    /// other than [`stream_ordered`](Self::stream_ordered) this call is a mistake.
    pub const fn release_threshold(mut self, bytes: u64) -> Self {
        match &mut self.kind {
            Kind::StreamOrdered { release, .. } => *release = bytes,
            Kind::Unbounded | Kind::Blocks { .. } => self.is_misplaced = true,
        }
        self
    }

    /// Returns the same description after a check that it has no mistake.
    ///
    /// # Panics
    /// For a [mistake](Self#mistakes): in a constant, while compiling.
    #[track_caller]
    #[must_use = "it returns the checked limits"]
    pub const fn checked(self) -> Self {
        match self.problem("") {
            None => self,
            Some(problem) => problem.fail(),
        }
    }

    /// The mistake in these limits, as a text that begins with the allocator's name, if that is known. `None` without a
    /// mistake.
    pub(super) const fn problem(&self, name: &str) -> Option<Text> {
        let of = if name.is_empty() {
            Text::new().add("an allocator")
        } else {
            Text::new().add("allocator `").add(name).add("`")
        };
        match self.kind {
            _ if self.is_misplaced => {
                let text = of.add(" has no amounts of memory; begin with");
                Some(text.add(" `MemoryLimits::stream_ordered()`, or leave them out"))
            }
            Kind::Blocks { bytes: 0, .. } => {
                Some(of.add(" has blocks of 0 bytes; give `blocks` at least 1"))
            }
            Kind::Blocks { count: 0, .. } => {
                Some(of.add(" has 0 blocks; give `blocks` at least 1"))
            }
            Kind::StreamOrdered { max: 0, .. } => {
                let text = of.add(" holds no memory; give `max_size` at least 1");
                Some(text.add(", or leave it out for no maximum"))
            }
            Kind::StreamOrdered { initial, max, .. } if initial > max => {
                let text = of.add(" takes ").add_number(initial as usize).add(" bytes at first");
                let text = text.add(", but holds ").add_number(max as usize);
                Some(text.add("; raise `max_size`, or lower `initial_size`"))
            }
            Kind::Unbounded | Kind::Blocks { .. } | Kind::StreamOrdered { .. } => None,
        }
    }

    /// The bytes that are taken when the allocator is made.
    pub(super) fn initial(self) -> u64 {
        match self.kind {
            Kind::StreamOrdered { initial, .. } => initial,
            Kind::Unbounded | Kind::Blocks { .. } => 0,
        }
    }

    /// The most bytes of free memory to keep. Limits without a threshold of their own have `default`.
    pub(super) fn kept_at_most(self, default: u64) -> u64 {
        match self.kind {
            Kind::StreamOrdered { release, .. } => release,
            Kind::Unbounded => default,
            Kind::Blocks { .. } => u64::MAX,
        }
    }

    /// The most free blocks that the device may still use before an allocation waits for one of them instead of taking
    /// more memory. Limits without a fixed number of blocks have `default`.
    #[inline]
    pub(super) fn in_flight(self, default: usize) -> usize {
        match self.kind {
            Kind::Blocks { count, .. } => usize::try_from(count).unwrap_or(usize::MAX),
            Kind::Unbounded | Kind::StreamOrdered { .. } => default.max(1),
        }
    }

    pub(super) fn is_bounded(self) -> bool {
        !matches!(self.kind, Kind::Unbounded)
    }

    /// The sizes of the blocks of a block pool: the size that the user asked for, and the size that a block takes.
    pub(super) fn block_sizes(self) -> Option<(u64, u64)> {
        match self.kind {
            Kind::Blocks { bytes, .. } => Some((bytes, granules(bytes))),
            Kind::Unbounded | Kind::StreamOrdered { .. } => None,
        }
    }

    /// The size of the block for a request of `bytes`.
    ///
    /// # Errors
    /// [`Error::BlockSize`].
    pub(super) fn block_for(self, bytes: u64, pool: &str) -> Result<u64> {
        match self.kind {
            Kind::Blocks { bytes: block_bytes, .. } if bytes > block_bytes => {
                Err(Error::BlockSize { pool: pool.to_owned(), block_bytes, requested: bytes })
            }
            Kind::Blocks { bytes, .. } => Ok(granules(bytes)),
            // With a maximum, sizes are rounded up only to [`GRANULE`]: each byte counts, and the maximum also bounds the
            // free memory of other sizes.
            Kind::StreamOrdered { max, .. } if max < u64::MAX => Ok(granules(bytes.max(1))),
            Kind::Unbounded | Kind::StreamOrdered { .. } => Ok(block_size(bytes, GRANULE)),
        }
    }

    /// Whether one more block of this size may be made when `reserved` bytes are allocated already.
    pub(super) fn allows(self, reserved: u64, bytes: u64) -> bool {
        reserved.checked_add(bytes).is_some_and(|sum| sum <= self.most())
    }

    /// By how much a sum of `bytes` exceeds the limit.
    pub(super) fn excess(self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.most())
    }

    fn most(self) -> u64 {
        match self.kind {
            Kind::Unbounded => u64::MAX,
            Kind::Blocks { bytes, count } => granules(bytes).saturating_mul(count),
            Kind::StreamOrdered { max, .. } => max,
        }
    }

    /// The error when no memory is free. It names the stream that needs memory, the size, and the streams that have
    /// blocks in use.
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
        for (stream, count) in usage.holders() {
            let label = table.timeline(stream).label();
            match holders.iter_mut().find(|(known, _)| *known == label) {
                Some((_, blocks)) => *blocks += count,
                None => holders.push((label, count)),
            }
        }
        match self.kind {
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

/// Rounds up to a multiple of [`GRANULE`]. If that would overflow, returns the largest multiple, which no device has.
pub(super) fn granules(bytes: u64) -> u64 {
    round_up(bytes, GRANULE)
}
