//! The state of a memory pool: its free blocks, and how much is in use.

use super::pooled::{FreeList, PooledBlock, SizeClass};
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
    /// The stream of each block in use. Only filled in a pool with limits.
    pub(super) streams: Vec<u32>,
}

impl PoolUsage {
    /// Notes that a block of a stream is in use no longer.
    pub(super) fn returned(&mut self, stream: u32) {
        if let Some(index) = self.streams.iter().position(|used| *used == stream) {
            self.streams.swap_remove(index);
        }
    }
}

impl<P> PoolState<P> {
    /// Bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.usage.reserved - self.free_bytes
    }

    /// Takes the oldest free block of a size: one of this stream if there is one, else one of another stream.
    pub(super) fn pop_of_size(&mut self, stream: u32, bytes: u64) -> Option<Box<PooledBlock<P>>> {
        let own = self.free_of(stream).size_class(bytes).pop();
        own.or_else(|| self.free.iter_mut().find_map(|list| list.size_class(bytes).pop()))
    }

    /// Takes any free block.
    pub(super) fn pop_any(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.free.iter_mut().flat_map(FreeList::all).find_map(SizeClass::pop)
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
