//! Blocks and their owners. Dropping an owner returns its block to a pool. A free block is in a list (`free_list.rs`).
//!
//! A block keeps its pool alive, also while the block is free: so allocating or returning a block does not change the
//! pool's reference count. The pool and its free blocks own each other. That cycle ends when the last [`PoolHandle`] is
//! dropped and closes the pool. A closed pool releases its free blocks and keeps no block that is returned later.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;
use super::border::Owner;
use super::rotation::{InTurns, Turn};

/// The stream number of a block that no stream has allocated.
const FOREIGN: u32 = u32::MAX;

/// A block, and the pool that it returns to. Aligned to cache lines, as the layout of [`Block`] needs.
#[repr(C, align(64))]
pub(crate) struct PooledBlock<P> {
    pool: Arc<P>,
    /// The number of the stream that the block was last allocated for. Unused for host memory.
    pub(super) stream: u32,
    /// The replayed tick that the block was last allocated in.
    pub(super) turn: Option<Turn>,
    block: Block,
    /// The owner that keeps memory of other code alive.
    pub(super) owner: Option<Owner>,
}

/// A free block for an allocation. The block counts as in use already.
pub(super) struct Reused<P> {
    pub(super) block: Box<PooledBlock<P>>,
    /// Whether the stream need not wait for the block's uses.
    pub(super) is_ready: bool,
}

// The fields of a block that a tick uses are in two cache lines.
#[cfg(not(loom))]
const _: () = assert!(std::mem::offset_of!(PooledBlock<()>, block) + Block::HOT_END <= 128);

impl<P> PooledBlock<P> {
    pub(super) fn new(block: Block, stream: u32, pool: &Arc<P>) -> Box<Self> {
        Box::new(Self { pool: pool.clone(), stream, turn: None, block, owner: None })
    }

    /// A block of memory of other code. No stream has allocated it.
    pub(super) fn foreign(block: Block, pool: &Arc<P>) -> Box<Self> {
        Self::new(block, FOREIGN, pool)
    }

    /// Whether the memory belongs to other code.
    pub(super) fn is_foreign(&self) -> bool {
        self.stream == FOREIGN
    }

    pub(super) fn pool_handle(&self) -> &Arc<P> {
        &self.pool
    }

    /// The pool, with a lifetime that the caller chooses.
    ///
    /// # Safety
    /// The caller uses the pool only while the block exists: not after it has dropped the block, or has put it into a
    /// free list and released the list's lock.
    pub(super) unsafe fn pool<'a>(&self) -> &'a P {
        // SAFETY: `self` keeps the pool alive while it exists, and the caller uses the pool no longer. A block in a
        // list exists while the lock is held: a thread that takes the block out to drop it locks the list first.
        unsafe { &*Arc::as_ptr(&self.pool) }
    }
}

impl<P> InTurns for Box<PooledBlock<P>> {
    fn address(&self) -> u64 {
        self.block.range().address
    }

    fn is_used_only_on(&mut self, stream: u32) -> bool {
        self.block.is_used_only_on(stream)
    }

    fn turn(&self) -> Option<Turn> {
        self.turn
    }
}

impl<P> Deref for PooledBlock<P> {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.block
    }
}

impl<P> DerefMut for PooledBlock<P> {
    fn deref_mut(&mut self) -> &mut Block {
        &mut self.block
    }
}

/// A pool that blocks return to.
pub(crate) trait BlockPool: Sized {
    /// Takes back a block after the drop of its owner. The uses of the block may not be complete.
    fn return_block(block: Box<PooledBlock<Self>>);

    /// Releases the free blocks, and keeps none from now on.
    fn close(&self);
}

/// Access to a pool, to allocate blocks. Dropping the handle closes the pool.
pub(crate) struct PoolHandle<P: BlockPool>(Arc<P>);

impl<P: BlockPool> PoolHandle<P> {
    pub(super) fn new(pool: P) -> Self {
        Self(Arc::new(pool))
    }

    /// The pool, for an allocation.
    pub(crate) fn pool(&self) -> &Arc<P> {
        &self.0
    }
}

impl<P: BlockPool> Deref for PoolHandle<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P: BlockPool> Drop for PoolHandle<P> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<P: BlockPool + fmt::Debug> fmt::Debug for PoolHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The owner of a block. Dropping the owner returns the block to its pool.
pub(super) struct OwnedBlock<P: BlockPool> {
    /// From `Box::leak`: slices keep pointers to the block, and moving a box would invalidate them.
    block: NonNull<PooledBlock<P>>,
}

// SAFETY: an `OwnedBlock` is a box of a block (`Send` and `Sync`), of an `Arc` of its pool, and of the owner of foreign
// memory (`Send`, and only used when the block is dropped).
unsafe impl<P: BlockPool + Send + Sync> Send for OwnedBlock<P> {}
// SAFETY: as above.
unsafe impl<P: BlockPool + Send + Sync> Sync for OwnedBlock<P> {}

impl<P: BlockPool> OwnedBlock<P> {
    pub(super) fn new(block: Box<PooledBlock<P>>) -> Self {
        Self { block: NonNull::from(Box::leak(block)) }
    }

    pub(super) fn pool(&self) -> &P {
        // SAFETY: it came from a box that only `drop` rebuilds.
        unsafe { &self.block.as_ref().pool }
    }

    /// The address of the block. It stays the same while the block has this owner, even if the owner is moved.
    pub(super) fn place(&self) -> NonNull<PooledBlock<P>> {
        self.block
    }

    /// Notes the replayed tick that the block was allocated in.
    #[inline]
    pub(super) fn set_turn(&mut self, turn: Option<Turn>) {
        // SAFETY: the block came from a box that only `drop` rebuilds, and slices of the block do not read this field.
        unsafe { self.block.as_mut().turn = turn };
    }

    /// The block, to be changed. Earlier slices of it must not be used any more.
    pub(super) fn block_mut(&mut self) -> &mut Block {
        // SAFETY: the block came from a box that only `drop` rebuilds. `&mut self` excludes borrows of the block from
        // its owner, and the owner makes its own slices again afterwards.
        unsafe { &mut self.block.as_mut().block }
    }
}

impl<P: BlockPool> Deref for OwnedBlock<P> {
    type Target = Block;

    fn deref(&self) -> &Block {
        // SAFETY: it came from a box that only `drop` rebuilds.
        unsafe { &self.block.as_ref().block }
    }
}

impl<P: BlockPool> Drop for OwnedBlock<P> {
    fn drop(&mut self) {
        // SAFETY: the block came from a box, `drop` runs once, and slices of the block borrow from its owner or lie
        // beside it in the same value, and that value is being dropped.
        P::return_block(unsafe { Box::from_raw(self.block.as_ptr()) });
    }
}

impl<P: BlockPool> fmt::Debug for OwnedBlock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedBlock").field(&**self).finish()
    }
}
