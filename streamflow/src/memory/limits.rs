//! The limits of an allocator on the memory that it takes, and the errors for requests beyond these limits.

use super::pool_state::PoolUsage;
use super::sizes::{block_size, round_up};
use crate::error::const_text::Text;
use crate::error::{Error, Result};
use crate::stream::{StreamTable, Timeline};

/// The number of bytes that the sizes of all blocks of device memory are multiples of.
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
    /// The number of [`in_flight`](Self::in_flight) for blocks of device memory of up to [`SMALL_BLOCK`](Self::SMALL_BLOCK)
    /// bytes, since more small blocks cost little; 16 by default. If the number for a size is at least 4, an allocation that
    /// would have to wait may first query the driver whether the device has completed an earlier use, once for several
    /// allocations. If it has, that saves the waits: a few percent of a tick of small kernels.
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
    /// that takes much of it slows all other programs down. A device copies 4 GiB in some tenths of a second, so a
    /// pipeline rarely has more in flight. A program that keeps more page-locked memory raises the limit.
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

    /// The number of free blocks of this size that may be in use by the device before an allocation waits for the oldest.
    pub(super) fn in_flight_of(&self, bytes: u64) -> usize {
        if bytes <= Self::SMALL_BLOCK { self.small_in_flight } else { self.in_flight }
    }
}

/// Describes an [`Allocator`](super::Allocator): how much memory it may take from its device, and in
/// which sizes. [`Platform::allocator`](crate::Platform::allocator) makes the allocator from this plain value.
///
/// With any limit, dropped memory is reused only after all work that uses it, on all streams, that of sinks
/// included. So **a running pipeline needs more memory than one tick**: if a tensor was dropped while a tick's last
/// kernels still read it, a tensor of the next tick may get the same memory, and its stream waits; but a tensor that an
/// operator or a queue *owns* keeps its memory. Count the tensors that a tick makes, and add the tensors that wait in
/// front of each input and the tensors that operators keep: most pipelines need twice the memory of a tick.
///
/// # Mistakes
/// The methods accept any values, since the values may come from the arguments of a program. `Platform::allocator` returns
/// an error for a mistake, for example a pool of blocks of 0 bytes. For a constant that ends with
/// [`checked`](Self::checked), rustc reports the mistake:
/// ```compile_fail
/// use streamflow::memory::MemoryLimits;
/// const FRAMES: MemoryLimits = MemoryLimits::blocks(0, 4).checked();
/// ```
#[must_use = "it describes an allocator, and makes none"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    kind: Kind,
    /// Whether the program has called a method that sets an amount for another kind of limits, which is a mistake.
    is_misplaced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unbounded,
    Blocks { bytes: u64, count: u64 },
    StreamOrdered { initial: u64, max: u64, release: u64 },
}

impl MemoryLimits {
    /// Limits that allow all memory of the device, as for tensors of the platform. Holoscan's `UnboundedAllocator`.
    pub const fn unbounded() -> Self {
        Self::of(Kind::Unbounded)
    }

    /// A fixed number of blocks of a fixed size, each for one tensor or buffer of at most that size.
    /// Holoscan's `BlockMemoryPool` with `block_size` and `num_blocks`. A count or a size of 0 is a mistake. Each block
    /// is allocated when it is first needed.
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

    /// How many bytes to take from the device when the allocator is made. The first allocations up to this total then
    /// need no memory from the system. Holoscan's `device_memory_initial_size`. An amount above the maximum is a mistake, and
    /// so is a call of this method for limits other than [`stream_ordered`](Self::stream_ordered).
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

    /// How many bytes of free memory to keep. Free memory above that returns to the device's driver. The driver keeps the
    /// returned memory for other allocations of this platform until the device runs out of memory. Holoscan's
    /// `release_threshold`. For limits other than [`stream_ordered`](Self::stream_ordered) this call is a mistake.
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
    /// For a [mistake](Self#mistakes). In a constant the panic is an error of the compiler.
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

    /// The number of bytes that the pool takes from the device when it is made.
    pub(super) fn initial(self) -> u64 {
        match self.kind {
            Kind::StreamOrdered { initial, .. } => initial,
            Kind::Unbounded | Kind::Blocks { .. } => 0,
        }
    }

    /// The most bytes of free memory that the pool keeps. For limits without a threshold of their own the result is `default`.
    pub(super) fn kept_at_most(self, default: u64) -> u64 {
        match self.kind {
            Kind::StreamOrdered { release, .. } => release,
            Kind::Unbounded => default,
            Kind::Blocks { .. } => u64::MAX,
        }
    }

    /// The number of free blocks that may be in use by the device before an allocation waits for one of them instead of taking
    /// more memory. For limits without a fixed number of blocks the result is `default`.
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

    /// The sizes, in bytes, of a block of a block pool: the size that the program set, and the rounded size that is allocated.
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
            // With a maximum, sizes are rounded up only to a multiple of [`GRANULE`], because each byte counts. Coarser sizes
            // serve to bound the free memory of many sizes, and the maximum already bounds it.
            Kind::StreamOrdered { max, .. } if max < u64::MAX => Ok(granules(bytes.max(1))),
            Kind::Unbounded | Kind::StreamOrdered { .. } => Ok(block_size(bytes, GRANULE)),
        }
    }

    /// Whether the limits allow one more block of `bytes` bytes, when `reserved` bytes are allocated already.
    pub(super) fn allows(self, reserved: u64, bytes: u64) -> bool {
        reserved.checked_add(bytes).is_some_and(|sum| sum <= self.most())
    }

    /// By how many bytes a total of `bytes` exceeds the limit. 0 if the total is within the limit.
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

    /// The error for a request when no memory is free. The error names the stream of the request, the requested size, and the
    /// streams that have blocks in use.
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

/// Rounds up to a multiple of [`GRANULE`]. If that would overflow, returns the largest multiple. No device has that much.
pub(super) fn granules(bytes: u64) -> u64 {
    round_up(bytes, GRANULE)
}
