//! The books of a memory pool: which blocks are free, and what is lent to whom.

use super::MemoryPool;
use super::pooled::{FreeList, PooledBlock};

/// A block of a memory pool.
pub(super) type PoolBlock = Box<PooledBlock<MemoryPool>>;

#[derive(Default)]
pub(super) struct PoolState {
    /// By stream number.
    pub(super) free: Vec<FreeList<MemoryPool>>,
    pub(super) free_bytes: u64,
    /// Nothing is lent any more, and nothing that comes back is kept.
    pub(super) closed: bool,
    pub(super) usage: PoolUsage,
}

/// What a pool has made and lent.
#[derive(Debug, Default)]
pub(super) struct PoolUsage {
    /// Bytes from the driver.
    pub(super) reserved: u64,
    /// Bytes that are lent.
    pub(super) used: u64,
    /// For whose streams, once for each block; only where there are limits.
    pub(super) streams: Vec<u32>,
}

impl PoolState {
    /// The oldest free block of a size: one of this stream if there is one, else of another.
    pub(super) fn pop_of(&mut self, stream: u32, bytes: u64) -> Option<PoolBlock> {
        let own = self.of(stream).of(bytes).pop_front();
        own.or_else(|| self.free.iter_mut().find_map(|list| list.of(bytes).pop_front()))
    }

    /// Any free block.
    pub(super) fn pop_any(&mut self) -> Option<PoolBlock> {
        self.free.iter_mut().flat_map(FreeList::all).find_map(|blocks| blocks.pop_front())
    }

    pub(super) fn of(&mut self, stream: u32) -> &mut FreeList<MemoryPool> {
        let stream = stream as usize;
        if self.free.len() <= stream {
            self.free.resize_with(stream + 1, FreeList::default);
        }
        &mut self.free[stream]
    }
}
