//! The state of a memory pool: its free blocks, and the bytes in use.

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
    /// An empty list, kept for its memory: a query of the driver fills it with uses.
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

/// The amounts of memory that a pool has.
#[derive(Debug, Default)]
pub(super) struct PoolUsage {
    /// The bytes from the driver, in use or free.
    pub(super) reserved: u64,
    /// The bytes that the reclaim stream is to free, except those whose room later blocks have taken. The device may not
    /// have executed these frees yet.
    pub(super) freed: u64,
    /// The total of freed bytes whose room later blocks have taken.
    taken: u64,
    /// The number of blocks in use, by the number of the stream that they were allocated for. Counted only in a pool with
    /// limits.
    in_use: Vec<u32>,
}

/// A snapshot of the frees that a pool has queued so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedFrees {
    freed: u64,
    taken: u64,
}

impl QueuedFrees {
    /// Whether no free is queued, so that there is nothing to wait for.
    pub(super) fn are_none(self) -> bool {
        self.freed == 0
    }
}

impl PoolUsage {
    /// Counts a block of a stream as in use.
    #[inline]
    pub(super) fn lent(&mut self, stream: u32) {
        let stream = stream as usize;
        if self.in_use.len() <= stream {
            self.in_use.resize(stream + 1, 0);
        }
        self.in_use[stream] += 1;
    }

    /// Counts a block of a stream as no longer in use.
    #[inline]
    pub(super) fn returned(&mut self, stream: u32) {
        if let Some(blocks) = self.in_use.get_mut(stream as usize) {
            *blocks = blocks.saturating_sub(1);
        }
    }

    /// The streams with blocks in use, and the number of these blocks.
    pub(super) fn holders(&self) -> impl Iterator<Item = (u32, usize)> {
        let all = (0..).zip(&self.in_use);
        all.filter(|(_, blocks)| **blocks > 0).map(|(stream, blocks)| (stream, *blocks as usize))
    }

    /// Takes the room of this number of freed bytes for a new block.
    pub(super) fn take_freed(&mut self, bytes: u64) {
        self.freed -= bytes;
        self.taken = self.taken.saturating_add(bytes);
    }

    /// A snapshot of the frees so far. All of them are queued.
    pub(super) fn queued_frees(&self) -> QueuedFrees {
        QueuedFrees { freed: self.freed, taken: self.taken }
    }

    /// Notes that the device has executed these frees. Their room that no block has taken then counts as never used.
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

    /// Takes the oldest free block of a size: of this stream if it has one, else of another stream.
    pub(super) fn pop_of_size(&mut self, stream: u32, bytes: u64) -> Option<Box<PooledBlock<P>>> {
        let pop = |list: &mut FreeList<P>| list.known_class(bytes)?.pop();
        pop(self.free_of(stream)).or_else(|| self.free.iter_mut().find_map(pop))
    }

    /// Takes free blocks of at least this number of bytes in total, or all if there are fewer, to be freed.
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
        // The bytes count as freed now, before the device has executed their frees.
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
