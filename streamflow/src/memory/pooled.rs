//! Blocks between owners: the free lists, and owners that return their block when they are dropped.
//!
//! A block keeps its pool alive, also while it is free: so allocating or returning a block does not change the pool's
//! reference count. The pool and its free blocks own each other. That cycle ends when the last [`PoolHandle`] is dropped:
//! it closes the pool, which releases its free blocks and keeps no block that is returned later.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;
use super::asked::Asked;
use super::foreign::border::Owner;
use super::rotation::{Bounds, InTurns, Sets, Turn};

/// The number of the stream of a block that no stream has allocated.
const FOREIGN: u32 = u32::MAX;

/// A block, and the pool that it returns to. Aligned to cache lines, as the layout of [`Block`] needs.
#[repr(C, align(64))]
pub(crate) struct PooledBlock<P> {
    pool: Arc<P>,
    /// The number of the stream that it was last allocated for. Unused for host memory.
    pub(super) stream: u32,
    /// The replayed tick that it was last allocated in.
    pub(super) turn: Option<Turn>,
    block: Block,
    /// What keeps the memory alive, if it is other code's.
    pub(super) owner: Option<Owner>,
}

/// A free block for an allocation, which counts as in use.
pub(super) struct Reused<P> {
    pub(super) block: Box<PooledBlock<P>>,
    /// The stream need not wait for its uses.
    pub(super) is_ready: bool,
}

// A tick uses two cache lines of a block.
#[cfg(not(loom))]
const _: () = assert!(std::mem::offset_of!(PooledBlock<()>, block) + Block::HOT_END <= 128);

impl<P> PooledBlock<P> {
    pub(super) fn new(block: Block, stream: u32, pool: &Arc<P>) -> Box<Self> {
        Box::new(Self { pool: pool.clone(), stream, turn: None, block, owner: None })
    }

    /// A block of memory of other code, which no stream has allocated.
    pub(super) fn foreign(block: Block, pool: &Arc<P>) -> Box<Self> {
        Self::new(block, FOREIGN, pool)
    }

    /// Whether the memory is other code's.
    pub(super) fn is_foreign(&self) -> bool {
        self.stream == FOREIGN
    }

    pub(super) fn pool_handle(&self) -> &Arc<P> {
        &self.pool
    }

    /// The pool, with a lifetime that the caller chooses.
    ///
    /// # Safety
    /// The caller uses it only while the block exists: not after it has dropped the block, or has put it into a free list
    /// and released the list's lock.
    pub(super) unsafe fn pool<'a>(&self) -> &'a P {
        // SAFETY: `self` keeps the pool alive while it exists, and the caller uses the pool no longer. A block in a list
        // exists while the lock is held: a thread that takes it out to drop it locks the list first.
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

/// Free blocks by size.
pub(super) struct FreeList<P> {
    /// Most streams use one size.
    first: SizeClass<P>,
    others: BTreeMap<u64, SizeClass<P>>,
    /// Before there are more others than this, those without blocks are removed: so there are at most twice as many as
    /// have blocks, and a size that a program uses in turns keeps its place.
    most: usize,
}

/// So many others may be without blocks.
const FEW: usize = 64;

/// How many sizes are compared for the one with the most blocks. It only decides which stream the driver is queried about.
const COMPARED: usize = 16;

/// The free blocks of one size.
// In this order, so that a tick needs few cache lines.
#[repr(C)]
pub(super) struct SizeClass<P> {
    bytes: u64,
    /// So many of the first blocks [need no wait](super::reuse) on the stream of this list. That stays true, also where the
    /// clock that has shown it forgets.
    ready: usize,
    /// Those that are ready, and then the oldest first.
    pub(super) blocks: VecDeque<Box<PooledBlock<P>>>,
    /// The free blocks of replayed ticks, once there are any.
    pub(super) sets: Option<Box<Sets<Box<PooledBlock<P>>>>>,
    /// What is known about queries of the driver.
    pub(super) queries: Asked,
}

impl<P> SizeClass<P> {
    /// Takes back a block.
    #[inline]
    pub(super) fn put_back(&mut self, block: Box<PooledBlock<P>>) {
        if self.sets.is_none() {
            self.blocks.push_back(block)
        } else {
            self.put_back_in_turn(block)
        }
    }

    /// Takes back a block whose uses are all on the stream of this list: that one is the next to be reused, since it is the
    /// one that is most likely in the caches.
    #[inline]
    pub(super) fn put_back_ready(&mut self, block: Box<PooledBlock<P>>) {
        if self.sets.is_none() {
            self.blocks.push_front(block);
            self.ready += 1;
        } else {
            self.put_back_in_turn(block);
        }
    }

    #[inline(never)]
    fn put_back_in_turn(&mut self, block: Box<PooledBlock<P>>) {
        match (&mut self.sets, block.turn) {
            (Some(sets), Some(turn)) => sets.put_back(turn, block),
            _ => self.blocks.push_back(block),
        }
    }

    /// Takes a block that needs no wait, if one is known.
    #[inline]
    pub(super) fn take_ready(&mut self) -> Option<Box<PooledBlock<P>>> {
        if self.ready == 0 {
            return None;
        }
        self.ready -= 1;
        self.blocks.pop_front()
    }

    /// Counts the first blocks that need no wait. Returns whether there is one.
    pub(super) fn find_ready(&mut self, mut is_ready: impl FnMut(&mut Block) -> bool) -> bool {
        while let Some(block) = self.blocks.get_mut(self.ready)
            && is_ready(block)
        {
            self.ready += 1;
        }
        self.ready > 0
    }

    /// The sets of replayed ticks. So many ticks may be in flight.
    fn sets(&mut self, ticks: usize) -> &mut Sets<Box<PooledBlock<P>>> {
        self.sets.get_or_insert_with(|| Box::new(Sets::new(ticks)))
    }

    /// A free block for a [replayed tick](super::rotation). The block's uses may be unordered; `None` if a new one is to
    /// be made.
    pub(super) fn take_in_turn(
        &mut self,
        turn: Turn,
        stream: u32,
        bounds: Bounds,
    ) -> Option<Box<PooledBlock<P>>> {
        self.sets(bounds.ticks);
        // It may take any of these.
        self.ready = 0;
        let Self { sets, blocks, .. } = self;
        sets.as_mut()?.take(turn, stream, bounds, blocks)
    }

    /// Takes the block of a replayed tick that is taken after so many others, to look at it.
    pub(super) fn take_nth(
        &mut self,
        turn: Turn,
        ticks: usize,
        nth: usize,
    ) -> Option<Box<PooledBlock<P>>> {
        self.sets(ticks).take_nth(turn, nth)
    }

    /// Puts a block back that was looked at.
    pub(super) fn put_nth(&mut self, turn: Turn, nth: usize, block: Box<PooledBlock<P>>) {
        match &mut self.sets {
            Some(sets) => sets.put_nth(turn, nth, block),
            None => self.blocks.push_back(block),
        }
    }

    /// Moves the blocks of replayed ticks to the others: an allocation outside of such ticks takes any.
    #[inline]
    pub(super) fn end_turns(&mut self) {
        if let Some(sets) = &mut self.sets {
            sets.end(&mut self.blocks);
        }
    }

    /// Whether it has no block.
    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.sets.as_ref().is_none_or(|sets| sets.is_empty())
    }

    /// Takes any block, the oldest of no replayed tick first.
    pub(super) fn pop(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.ready = self.ready.saturating_sub(1);
        let block = self.blocks.pop_front();
        block.or_else(|| self.sets.as_mut().and_then(|sets| sets.pop()))
    }
}

impl<P> SizeClass<P> {
    /// What no block has.
    const NO_SIZE: u64 = 0;

    fn new(bytes: u64) -> Self {
        let (blocks, queries) = (VecDeque::new(), Asked::default());
        Self { bytes, ready: 0, blocks, sets: None, queries }
    }

    /// The size of its blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P> Default for FreeList<P> {
    fn default() -> Self {
        let first = SizeClass::new(SizeClass::<P>::NO_SIZE);
        Self { first, others: BTreeMap::new(), most: FEW }
    }
}

impl<P> FreeList<P> {
    #[inline]
    pub(super) fn size_class(&mut self, bytes: u64) -> &mut SizeClass<P> {
        if self.first.bytes == bytes { &mut self.first } else { self.other_class(bytes) }
    }

    #[inline(never)]
    fn other_class(&mut self, bytes: u64) -> &mut SizeClass<P> {
        if self.first.bytes == SizeClass::<P>::NO_SIZE {
            self.first.bytes = bytes;
            return &mut self.first;
        }
        if self.others.len() >= self.most && !self.others.contains_key(&bytes) {
            self.remove_empty();
        }
        self.others.entry(bytes).or_insert_with(|| SizeClass::new(bytes))
    }

    #[cold]
    fn remove_empty(&mut self) {
        self.others.retain(|_, class| !class.is_empty());
        self.most = FEW.max(2 * self.others.len());
    }

    /// The blocks of a size, if it has a place.
    pub(super) fn known_class(&mut self, bytes: u64) -> Option<&mut SizeClass<P>> {
        if self.first.bytes == bytes { Some(&mut self.first) } else { self.others.get_mut(&bytes) }
    }

    /// The size with the most free blocks, of some.
    pub(super) fn largest(&mut self) -> &mut SizeClass<P> {
        let Self { first, others, .. } = self;
        others.values_mut().take(COMPARED).fold(first, |largest, class| {
            if class.blocks.len() > largest.blocks.len() { class } else { largest }
        })
    }

    /// The free blocks of each size, the largest first, and those of the first size last.
    pub(super) fn largest_first(&mut self) -> impl Iterator<Item = &mut SizeClass<P>> {
        self.others.values_mut().rev().chain(std::iter::once(&mut self.first))
    }

    /// Takes a free block of the first of these sizes that has one.
    pub(super) fn pop_large(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.largest_first().find_map(SizeClass::pop)
    }

    /// Takes all blocks out.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<PooledBlock<P>>> + use<P> {
        let Self { first, others, .. } = std::mem::take(self);
        let classes = std::iter::once(first).chain(others.into_values());
        classes.flat_map(|mut class| std::iter::from_fn(move || class.pop()))
    }
}

/// A pool that blocks return to.
pub(crate) trait BlockPool: Sized {
    /// Takes back a block whose owner was dropped; its uses may not be complete.
    fn return_block(block: Box<PooledBlock<Self>>);

    /// Releases the free blocks, and keeps none from now on.
    fn close(&self);
}

/// Access to a pool, to allocate blocks. Dropping it closes the pool.
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

/// The owner of a block. Dropping it returns the block to its pool.
pub(super) struct OwnedBlock<P: BlockPool> {
    /// From `Box::leak`: slices keep pointers to the block, and moving a box would invalidate them.
    block: NonNull<PooledBlock<P>>,
}

// SAFETY: an `OwnedBlock` is a box of a block, which is `Send` and `Sync`, of an `Arc` of its pool, and of the owner of
// foreign memory, which is `Send` and only used when the block is dropped.
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

    /// Where the block is as long as it has this owner, also when the owner is moved.
    pub(super) fn place(&self) -> NonNull<PooledBlock<P>> {
        self.block
    }

    /// Notes the replayed tick that it was allocated in.
    #[inline]
    pub(super) fn set_turn(&mut self, turn: Option<Turn>) {
        // SAFETY: it came from a box that only `drop` rebuilds, and slices of it do not read this.
        unsafe { self.block.as_mut().turn = turn };
    }

    /// The block, to be changed. Earlier slices of it must not be used any more.
    pub(super) fn block_mut(&mut self) -> &mut Block {
        // SAFETY: it came from a box that only `drop` rebuilds. `&mut self` excludes borrows of the block
        // from its owner, and the owner makes its own slices again afterwards.
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
        P::return_block(unsafe { Box::from_raw(self.block.as_ptr()) });
    }
}

impl<P: BlockPool> fmt::Debug for OwnedBlock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedBlock").field(&**self).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::driver::MemoryRange;
    use crate::{Platform, device};

    /// Two blocks that are ready, and one that is not.
    fn class() -> SizeClass<()> {
        let stream = Platform::host().build().unwrap().default_stream(device(0)).unwrap();
        let (pool, bytes) = (Arc::new(()), 256);
        let block = |number: u64| {
            let range = MemoryRange { address: number * bytes, bytes };
            PooledBlock::new(
                Block::new(stream.timeline().platform(), stream.device(), range),
                0,
                &pool,
            )
        };
        let mut class = SizeClass::new(bytes);
        class.put_back(block(1));
        [2, 3].into_iter().for_each(|number| class.put_back_ready(block(number)));
        class
    }

    #[test]
    fn a_block_that_is_not_ready_is_not_counted_when_others_are_taken_away() {
        let mut class = class();
        assert_eq!([(); 2].map(|()| class.pop().unwrap().range().address), [768, 512]);
        assert!(class.take_ready().is_none());
        assert_eq!(class.pop().unwrap().range().address, 256);
    }

    #[test]
    fn no_block_is_counted_as_ready_after_a_replayed_tick() {
        let mut class = class();
        let bounds = Bounds { ticks: 1, blocks: 1, may_grow: false };
        assert!(class.take_in_turn(Turn::of(1), 0, bounds).is_some());
        class.end_turns();
        assert!(class.take_ready().is_none() && !class.blocks.is_empty());
    }
}
