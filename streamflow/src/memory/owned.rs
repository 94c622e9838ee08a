//! Blocks between owners: the free lists, and the duty to give a block back.

use std::collections::VecDeque;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;

/// Free blocks by size, the oldest of each size first.
#[derive(Default)]
pub(super) struct FreeList {
    /// Programs use few sizes, so looking through them is faster than any map.
    classes: Vec<(u64, VecDeque<Box<Block>>)>,
}

impl FreeList {
    /// The free blocks of a size.
    pub(super) fn of(&mut self, bytes: u64) -> &mut VecDeque<Box<Block>> {
        let found = self.classes.iter().position(|(size, _)| *size == bytes);
        let index = found.unwrap_or_else(|| {
            self.classes.push((bytes, VecDeque::new()));
            self.classes.len() - 1
        });
        &mut self.classes[index].1
    }

    /// The free blocks of all sizes.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut VecDeque<Box<Block>>> {
        self.classes.iter_mut().map(|(_, blocks)| blocks)
    }

    /// Takes all blocks out.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<Block>> + use<> {
        std::mem::take(&mut self.classes).into_iter().flat_map(|(_, blocks)| blocks)
    }
}

/// Where blocks go back to.
pub(super) trait Home {
    /// Takes a block back whose owner is gone; its uses may not be complete. `stream` is the one
    /// that it was allocated for.
    fn give_back(&self, stream: u32, block: Box<Block>);
}

/// A block with its owner's duty: to give it back.
#[derive(Debug)]
pub(super) struct Owned<H: Home> {
    /// From `Box::into_raw`: slices keep pointers to the block, which a box that moves would not
    /// allow.
    block: NonNull<Block>,
    stream: u32,
    home: Arc<H>,
}

// SAFETY: an `Owned` is a box of a block, which is `Send` and `Sync`, and an `Arc`.
unsafe impl<H: Home + Send + Sync> Send for Owned<H> {}
// SAFETY: as above.
unsafe impl<H: Home + Send + Sync> Sync for Owned<H> {}

impl<H: Home> Owned<H> {
    pub(super) fn new(block: Box<Block>, stream: u32, home: &Arc<H>) -> Self {
        Self { block: NonNull::from(Box::leak(block)), stream, home: home.clone() }
    }

    pub(super) fn home(&self) -> &H {
        &self.home
    }
}

impl<H: Home> Owned<H> {
    /// The block, to change. Slices of it from before are not to be used any more.
    pub(super) fn block_mut(&mut self) -> &mut Block {
        // SAFETY: it came from a box that only `drop` rebuilds. `&mut self`: nobody borrows the block
        // from its owner, and the owner's own slices are made anew afterwards.
        unsafe { self.block.as_mut() }
    }
}

impl<H: Home> Deref for Owned<H> {
    type Target = Block;

    fn deref(&self) -> &Block {
        // SAFETY: it came from a box that only `drop` rebuilds.
        unsafe { self.block.as_ref() }
    }
}

impl<H: Home> Drop for Owned<H> {
    fn drop(&mut self) {
        // SAFETY: it came from a box, `drop` runs once, and slices of the block borrow from its
        // owner or lie beside it in the same value, which is being dropped.
        let block = unsafe { Box::from_raw(self.block.as_ptr()) };
        self.home.give_back(self.stream, block);
    }
}
