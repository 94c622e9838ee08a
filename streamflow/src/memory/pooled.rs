//! Blocks of pools, and the owners of blocks. The drop of an owner returns its block to the pool, which puts the block into
//! a list of free blocks (`free_list.rs`).
//!
//! Each block owns a reference to its pool, also while the block is free. So allocating or returning a block does not
//! change the pool's reference count. The pool and its free blocks own each other. The drop of the [`PoolHandle`]
//! closes the pool, which ends that cycle: a closed pool releases its free blocks and keeps no block that is returned later.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;
use super::border::Owner;
use super::rotation::{InTurns, Turn};

/// The stream number of a block that was allocated for no stream.
const FOREIGN: u32 = u32::MAX;

/// A block, with the pool to which it returns. The type is aligned to cache lines, as the layout of [`Block`] requires.
#[repr(C, align(64))]
pub(crate) struct PooledBlock<P> {
    pool: Arc<P>,
    /// The number of the stream for which the block was last allocated. Blocks of host memory don't use this field.
    pub(super) stream: u32,
    /// The replayed tick in which the block was last allocated. `None` if the last allocation was in no replayed tick.
    pub(super) turn: Option<Turn>,
    block: Block,
    /// The value that keeps the block's memory alive, if other code owns that memory.
    pub(super) owner: Option<Owner>,
}

/// A free block that an allocation reuses. The block already counts as in use.
pub(super) struct Reused<P> {
    pub(super) block: Box<PooledBlock<P>>,
    /// Whether the stream of the allocation need not wait for the block's uses.
    pub(super) is_ready: bool,
}

// The fields of a block that a tick uses must lie in two cache lines.
#[cfg(not(loom))]
const _: () = assert!(std::mem::offset_of!(PooledBlock<()>, block) + Block::HOT_END <= 128);

impl<P> PooledBlock<P> {
    pub(super) fn new(block: Block, stream: u32, pool: &Arc<P>) -> Box<Self> {
        Box::new(Self { pool: pool.clone(), stream, turn: None, block, owner: None })
    }

    /// Creates a block of adopted memory, which is memory of other code. The block is allocated for no stream.
    pub(super) fn foreign(block: Block, pool: &Arc<P>) -> Box<Self> {
        Self::new(block, FOREIGN, pool)
    }

    /// Whether the block is adopted memory: memory that belongs to other code.
    pub(super) fn is_foreign(&self) -> bool {
        self.stream == FOREIGN
    }

    pub(super) fn pool_handle(&self) -> &Arc<P> {
        &self.pool
    }

    /// The block's pool, as a reference with a lifetime that the caller chooses.
    ///
    /// # Safety
    /// The caller uses the pool only while the block exists: no longer once it has dropped the block, or has put the
    /// block into a free list and released the list's lock.
    pub(super) unsafe fn pool<'a>(&self) -> &'a P {
        // SAFETY: `self` keeps the pool alive while `self` exists, and the caller does not use the pool longer. A block
        // in a list exists while the list's lock is held: a thread locks the list before it takes the block out to drop
        // it.
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

/// A pool of blocks. A block returns to its pool after the drop of its owner.
pub(crate) trait BlockPool: Sized {
    /// Takes a block back after the drop of its owner. The device may not have completed the uses of the block.
    fn return_block(block: Box<PooledBlock<Self>>);

    /// Releases the free blocks. From then on the pool keeps no block that is returned.
    fn close(&self);
}

/// The handle of a pool, by which callers allocate blocks. Dropping the handle closes the pool.
pub(crate) struct PoolHandle<P: BlockPool>(Arc<P>);

impl<P: BlockPool> PoolHandle<P> {
    pub(super) fn new(pool: P) -> Self {
        Self(Arc::new(pool))
    }

    /// The pool, to allocate blocks.
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
    /// The pointer to the block, from `Box::leak`. Slices store pointers to the block, which a move of a `Box` would
    /// invalidate.
    block: NonNull<PooledBlock<P>>,
}

// SAFETY: an `OwnedBlock` owns a box with a block, which is `Send` and `Sync`, with an `Arc` of the block's pool, and with
// the owner of adopted memory. That owner is `Send`, and is used only when the block is dropped.
unsafe impl<P: BlockPool + Send + Sync> Send for OwnedBlock<P> {}
// SAFETY: a `&OwnedBlock` gives access only to the block and to the pool, both of which are `Sync`.
unsafe impl<P: BlockPool + Send + Sync> Sync for OwnedBlock<P> {}

impl<P: BlockPool> OwnedBlock<P> {
    pub(super) fn new(block: Box<PooledBlock<P>>) -> Self {
        Self { block: NonNull::from(Box::leak(block)) }
    }

    pub(super) fn pool(&self) -> &P {
        // SAFETY: the pointer came from a box that only `drop` makes a box again.
        unsafe { &self.block.as_ref().pool }
    }

    /// The address of the block. The address stays the same while the block has this owner, even if the `OwnedBlock` is moved.
    pub(super) fn place(&self) -> NonNull<PooledBlock<P>> {
        self.block
    }

    /// Stores the replayed tick in which the block was allocated.
    #[inline]
    pub(super) fn set_turn(&mut self, turn: Option<Turn>) {
        // SAFETY: the pointer came from a box that only `drop` makes a box again, and slices of the block do not read
        // this field.
        unsafe { self.block.as_mut().turn = turn };
    }

    /// Returns the block as a mutable reference. The caller must not use slices of the block that were made before.
    pub(super) fn block_mut(&mut self) -> &mut Block {
        // SAFETY: the pointer came from a box that only `drop` makes a box again. `&mut self` excludes borrows of the
        // block through its owner. The owner makes its own slices again afterwards.
        unsafe { &mut self.block.as_mut().block }
    }
}

impl<P: BlockPool> Deref for OwnedBlock<P> {
    type Target = Block;

    fn deref(&self) -> &Block {
        // SAFETY: the pointer came from a box that only `drop` makes a box again.
        unsafe { &self.block.as_ref().block }
    }
}

impl<P: BlockPool> Drop for OwnedBlock<P> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and `drop` runs once. A slice of the block borrows from the owner, or is
        // in the same value as the owner, and that value is being dropped.
        P::return_block(unsafe { Box::from_raw(self.block.as_ptr()) });
    }
}

impl<P: BlockPool> fmt::Debug for OwnedBlock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedBlock").field(&**self).finish()
    }
}
