//! The books of a memory pool: which blocks are free, and what is lent to whom.

use super::pooled::{FreeList, PooledBlock};

/// What is free and lent of the blocks whose pool is a `P`.
pub(super) struct PoolState<P> {
    /// By stream number.
    pub(super) free: Vec<FreeList<P>>,
    pub(super) free_bytes: u64,
    /// Nothing is lent any more, and nothing that comes back is kept.
    pub(super) closed: bool,
    pub(super) usage: PoolUsage,
}

impl<P> Default for PoolState<P> {
    fn default() -> Self {
        Self { free: Vec::new(), free_bytes: 0, closed: false, usage: PoolUsage::default() }
    }
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

impl<P> PoolState<P> {
    /// The oldest free block of a size: one of this stream if there is one, else of another.
    pub(super) fn pop_of(&mut self, stream: u32, bytes: u64) -> Option<Box<PooledBlock<P>>> {
        let own = self.of(stream).of(bytes).pop_front();
        own.or_else(|| self.free.iter_mut().find_map(|list| list.of(bytes).pop_front()))
    }

    /// Any free block.
    pub(super) fn pop_any(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.free.iter_mut().flat_map(FreeList::all).find_map(|blocks| blocks.pop_front())
    }

    pub(super) fn of(&mut self, stream: u32) -> &mut FreeList<P> {
        let stream = stream as usize;
        if self.free.len() <= stream {
            self.free.resize_with(stream + 1, FreeList::default);
        }
        &mut self.free[stream]
    }
}
