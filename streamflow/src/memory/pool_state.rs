//! The state of a memory pool: its free blocks, and the counts of its bytes.

use std::collections::VecDeque;

use super::free_list::FreeList;
use super::pooled::PooledBlock;
use crate::stream::Point;

/// The free blocks of a pool of type `P`, and its counts.
pub(super) struct PoolState<P> {
    /// The free blocks, by the number of the stream that they were allocated for.
    pub(super) free: Vec<FreeList<P>>,
    pub(super) free_bytes: u64,
    /// Whether the pool is closed: no block is allocated any more, and returned blocks are not kept.
    pub(super) closed: bool,
    pub(super) usage: PoolUsage,
    /// A list that each query of the driver fills with uses, and that stays allocated between the queries.
    pub(super) to_query: Vec<Point>,
}

impl<P> Default for PoolState<P> {
    fn default() -> Self {
        Self {
            free: Vec::new(),
            free_bytes: 0,
            closed: false,
            usage: PoolUsage::default(),
            to_query: Vec::new(),
        }
    }
}

/// The counts of a pool's bytes, and of its blocks in use.
#[derive(Debug, Default)]
pub(super) struct PoolUsage {
    /// The bytes that the pool has from the driver, in use or free.
    pub(super) reserved: u64,
    /// The bytes of blocks whose frees are queued on the reclaim stream, or will be queued, without the bytes whose room later
    /// blocks have taken. The device may not have executed these frees yet.
    pub(super) freed: u64,
    /// The number of freed bytes whose room later blocks have taken, since the pool was made.
    taken: u64,
    /// The number of blocks in use, by the number of the stream for which they were allocated. Only a pool with limits counts
    /// these blocks.
    in_use: Vec<u32>,
}

/// A snapshot of the frees that a pool has queued so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedFrees {
    freed: u64,
    taken: u64,
}

impl QueuedFrees {
    /// Whether the snapshot has no queued free, so that a caller need not wait for the device.
    pub(super) fn are_none(self) -> bool {
        self.freed == 0
    }
}

impl PoolUsage {
    /// Counts a block that was allocated for this stream as in use.
    #[inline]
    pub(super) fn lent(&mut self, stream: u32) {
        let stream = stream as usize;
        if self.in_use.len() <= stream {
            self.in_use.resize(stream + 1, 0);
        }
        self.in_use[stream] += 1;
    }

    /// Counts a block that was allocated for this stream as no longer in use.
    #[inline]
    pub(super) fn returned(&mut self, stream: u32) {
        if let Some(blocks) = self.in_use.get_mut(stream as usize) {
            *blocks = blocks.saturating_sub(1);
        }
    }

    /// The numbers of the streams with blocks in use, each with the number of its blocks.
    pub(super) fn holders(&self) -> impl Iterator<Item = (u32, usize)> {
        let all = (0..).zip(&self.in_use);
        all.filter(|(_, blocks)| **blocks > 0).map(|(stream, blocks)| (stream, *blocks as usize))
    }

    /// Takes the room of this number of bytes, whose frees are queued, for a new block.
    pub(super) fn take_freed(&mut self, bytes: u64) {
        self.freed -= bytes;
        self.taken = self.taken.saturating_add(bytes);
    }

    /// A snapshot of the frees so far. The caller has queued all of them.
    pub(super) fn queued_frees(&self) -> QueuedFrees {
        QueuedFrees { freed: self.freed, taken: self.taken }
    }

    /// Notes that the device has executed these frees. The part of their room that no block has taken counts as never used.
    pub(super) fn frees_are_done(&mut self, QueuedFrees { freed, taken }: QueuedFrees) {
        let taken_since = self.taken.saturating_sub(taken);
        self.freed = self.freed.saturating_sub(freed.saturating_sub(taken_since));
    }
}

impl<P> PoolState<P> {
    /// The bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.usage.reserved - self.free_bytes
    }

    /// Takes the oldest free block of this size: from the list of this stream, or if that has none, from another stream's.
    pub(super) fn pop_of_size(&mut self, stream: u32, bytes: u64) -> Option<Box<PooledBlock<P>>> {
        let pop = |list: &mut FreeList<P>| list.known_class(bytes)?.pop();
        pop(self.free_of(stream)).or_else(|| self.free.iter_mut().find_map(pop))
    }

    /// Takes free blocks out of the lists until they have at least `bytes` bytes in total, or until no block is left. The caller
    /// frees the blocks.
    pub(super) fn take_to_free(&mut self, bytes: u64) -> VecDeque<Box<PooledBlock<P>>> {
        let (mut blocks, mut sum) = (VecDeque::new(), 0_u64);
        for class in self.free.iter_mut().flat_map(FreeList::largest_first) {
            while sum < bytes
                && let Some(block) = class.pop()
            {
                sum = sum.saturating_add(class.bytes());
                blocks.push_back(block);
            }
        }
        self.free_bytes -= sum;
        self.usage.reserved -= sum;
        // The bytes count as freed from here on, before the caller queues the frees and the device executes them.
        self.usage.freed = self.usage.freed.saturating_add(sum);
        blocks
    }

    #[inline]
    pub(super) fn free_of(&mut self, stream: u32) -> &mut FreeList<P> {
        let stream = stream as usize;
        if self.free.len() <= stream {
            self.add_lists(stream);
        }
        &mut self.free[stream]
    }

    #[cold]
    fn add_lists(&mut self, stream: usize) {
        self.free.resize_with(stream + 1, FreeList::default);
    }
}
