//! The state of a memory pool: its free blocks, and how much is in use.

use std::collections::VecDeque;

use super::free_list::FreeList;
use super::pooled::PooledBlock;
use crate::stream::Point;

/// The free blocks of a pool, whose type is `P`, and its counts.
pub(super) struct PoolState<P> {
    /// Free blocks, by the number of the stream that they were allocated for.
    pub(super) free: Vec<FreeList<P>>,
    pub(super) free_bytes: u64,
    /// No block is allocated any more, and returned blocks are not kept.
    pub(super) closed: bool,
    pub(super) usage: PoolUsage,
    /// The list for the uses that the driver is queried about, which keeps its memory.
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

/// How much memory a pool has, and how much of it is in use.
#[derive(Debug, Default)]
pub(super) struct PoolUsage {
    /// Bytes from the driver, in use or free.
    pub(super) reserved: u64,
    /// Bytes that the reclaim stream frees, and whose room no later block has taken: the device may still have them.
    pub(super) freed: u64,
    /// All bytes so far whose room later blocks have taken of the freed ones.
    taken: u64,
    /// How many blocks of each stream are in use, by the stream's number. Only filled in a pool with limits.
    in_use: Vec<u32>,
}

/// The frees that a pool has queued by a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedFrees {
    freed: u64,
    taken: u64,
}

impl QueuedFrees {
    /// Whether the device has done all frees.
    pub(super) fn are_none(self) -> bool {
        self.freed == 0
    }
}

impl PoolUsage {
    /// Notes that a block of a stream is in use.
    #[inline]
    pub(super) fn lent(&mut self, stream: u32) {
        let stream = stream as usize;
        if self.in_use.len() <= stream {
            self.in_use.resize(stream + 1, 0);
        }
        self.in_use[stream] += 1;
    }

    /// Notes that a block of a stream is in use no longer.
    #[inline]
    pub(super) fn returned(&mut self, stream: u32) {
        if let Some(blocks) = self.in_use.get_mut(stream as usize) {
            *blocks = blocks.saturating_sub(1);
        }
    }

    /// The streams whose blocks are in use, and how many of each.
    pub(super) fn holders(&self) -> impl Iterator<Item = (u32, usize)> {
        let all = (0..).zip(&self.in_use);
        all.filter(|(_, blocks)| **blocks > 0).map(|(stream, blocks)| (stream, *blocks as usize))
    }

    /// Takes so much of the room of freed blocks.
    pub(super) fn take_freed(&mut self, bytes: u64) {
        self.freed -= bytes;
        self.taken = self.taken.saturating_add(bytes);
    }

    /// The frees so far. All are queued.
    pub(super) fn queued_frees(&self) -> QueuedFrees {
        QueuedFrees { freed: self.freed, taken: self.taken }
    }

    /// Notes that these frees are done: the rest of their room is as that of memory which was never used.
    pub(super) fn frees_are_done(&mut self, QueuedFrees { freed, taken }: QueuedFrees) {
        let taken_since = self.taken.saturating_sub(taken);
        self.freed = self.freed.saturating_sub(freed.saturating_sub(taken_since));
    }
}

impl<P> PoolState<P> {
    /// Bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.usage.reserved - self.free_bytes
    }

    /// Takes the oldest free block of a size: one of this stream if there is one, else one of another stream.
    pub(super) fn pop_of_size(&mut self, stream: u32, bytes: u64) -> Option<Box<PooledBlock<P>>> {
        let pop = |list: &mut FreeList<P>| list.known_class(bytes)?.pop();
        pop(self.free_of(stream)).or_else(|| self.free.iter_mut().find_map(pop))
    }

    /// Takes free blocks of so many bytes together, if there are as many, to be freed.
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
        // Until their frees are done.
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
