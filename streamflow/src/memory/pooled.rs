//! Law 9: Memory is freed after its last use.
//!
//! Blocks between owners: the free lists, and the duty to give a block back.
//!
//! A block keeps its home alive, also while it is free: so lending one, or giving it back, counts no owners of
//! the home. That would be a circle for ever, if a home were not closed when its last [`PoolHandle`] is gone: then it
//! gives up its free blocks, and keeps none that comes back later.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;

/// A block, and where it goes back to. Aligned to lines of the cache, as [`Block`] is laid out for.
#[repr(C, align(64))]
pub(crate) struct PooledBlock<P> {
    pool: Arc<P>,
    /// The number of the stream that it is lent for, or was last; of no meaning for host memory.
    pub(super) stream: u32,
    block: Block,
}

impl<P> PooledBlock<P> {
    pub(super) fn new(block: Block, stream: u32, pool: &Arc<P>) -> Box<Self> {
        Box::new(Self { pool: pool.clone(), stream, block })
    }

    /// The home, for as long as the caller likes.
    ///
    /// # Safety
    /// It is not used any more once the block may be gone: when it was dropped, or when it was put into a free
    /// list and the list's lock was given up.
    pub(super) unsafe fn pool<'a>(&self) -> &'a P {
        // SAFETY: `self` keeps it alive while it is there, and the caller uses it no longer. Of a block in a
        // list: who takes it out to drop it has the list's lock before.
        unsafe { &*Arc::as_ptr(&self.pool) }
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

/// Free blocks by size.
pub(super) struct FreeList<P> {
    /// Programs use few sizes, so looking through them is faster than any map.
    classes: Vec<Class<P>>,
}

/// The free blocks of one size.
pub(super) struct Class<P> {
    bytes: u64,
    /// The oldest first.
    pub(super) blocks: VecDeque<Box<PooledBlock<P>>>,
    /// For so many allocations nobody is [asked](super::reuse) about them.
    pub(super) patience: usize,
}

impl<P> Default for FreeList<P> {
    fn default() -> Self {
        Self { classes: Vec::new() }
    }
}

impl<P> FreeList<P> {
    pub(super) fn class(&mut self, bytes: u64) -> &mut Class<P> {
        let found = self.classes.iter().position(|class| class.bytes == bytes);
        let index = found.unwrap_or_else(|| self.add(bytes));
        &mut self.classes[index]
    }

    /// The free blocks of a size.
    pub(super) fn of(&mut self, bytes: u64) -> &mut VecDeque<Box<PooledBlock<P>>> {
        &mut self.class(bytes).blocks
    }

    #[cold]
    fn add(&mut self, bytes: u64) -> usize {
        self.classes.push(Class { bytes, blocks: VecDeque::new(), patience: 0 });
        self.classes.len() - 1
    }

    /// The free blocks of all sizes.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut VecDeque<Box<PooledBlock<P>>>> {
        self.classes.iter_mut().map(|class| &mut class.blocks)
    }

    /// Takes all blocks out.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<PooledBlock<P>>> + use<P> {
        std::mem::take(&mut self.classes).into_iter().flat_map(|class| class.blocks)
    }
}

/// Where blocks go back to.
pub(crate) trait BlockPool: Sized {
    /// Takes a block back whose owner is gone; its uses may not be complete.
    fn give_back(block: Box<PooledBlock<Self>>);

    /// Gives up the free blocks, and keeps none from now on.
    fn close(&self);
}

/// Who may have blocks of a home lent. With the last one the home is closed.
pub(crate) struct PoolHandle<P: BlockPool>(Arc<P>);

impl<P: BlockPool> PoolHandle<P> {
    pub(super) fn new(pool: P) -> Self {
        Self(Arc::new(pool))
    }

    /// The home, for who lends a block of it right now.
    pub(super) fn pool(&self) -> &Arc<P> {
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

/// A block with its owner's duty: to give it back.
pub(super) struct OwnedBlock<P: BlockPool> {
    /// From `Box::leak`: slices keep pointers to the block, which a box that moves would not allow.
    block: NonNull<PooledBlock<P>>,
}

// SAFETY: an `OwnedBlock` is a box of a block, which is `Send` and `Sync`, and of an `Arc` of its home.
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

    /// The block, to change. Slices of it from before are not to be used any more.
    pub(super) fn block_mut(&mut self) -> &mut Block {
        // SAFETY: it came from a box that only `drop` rebuilds. `&mut self`: nobody borrows the block
        // from its owner, and the owner's own slices are made anew afterwards.
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
        // SAFETY: it came from a box, `drop` runs once, and slices of the block borrow from its
        // owner or lie beside it in the same value, which is being dropped.
        P::give_back(unsafe { Box::from_raw(self.block.as_ptr()) });
    }
}

impl<P: BlockPool> fmt::Debug for OwnedBlock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedBlock").field(&**self).finish()
    }
}
