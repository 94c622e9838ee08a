//! The free blocks of a pool, by size.

use std::collections::{BTreeMap, VecDeque};

use super::Block;
use super::asked::Asked;
use super::pooled::PooledBlock;
use super::rotation::{Bounds, Sets, Turn};

/// The free blocks of a stream or of a pool, by size.
pub(super) struct FreeList<P> {
    /// The blocks of the first size that was used. Most streams use only one size, and so need no map.
    first: SizeClass<P>,
    others: BTreeMap<u64, SizeClass<P>>,
    /// The length of `others` from which on sizes without blocks are removed before a new size is added. So `others` has at
    /// most twice as many sizes as have blocks, and the entry of a size that a program uses regularly is rarely removed.
    most: usize,
}

/// The number of sizes that `others` may have before sizes without blocks are removed for the first time.
const FEW: usize = 64;

/// How many sizes [`FreeList::largest`] compares. The size that it finds only decides which stream the driver is queried
/// about.
const COMPARED: usize = 16;

/// The free blocks of one size.
// With this order, the fields that a tick uses are in few cache lines.
#[repr(C)]
pub(super) struct SizeClass<P> {
    bytes: u64,
    /// The number of blocks at the front of `blocks` that [need no wait](super::reuse) on the stream of this list. Such a block
    /// never needs a wait later, even if the stream's clock forgets the wait by which the order was found.
    ready: usize,
    /// The free blocks: first the blocks that are ready, then the other blocks from the oldest to the latest.
    pub(super) blocks: VecDeque<Box<PooledBlock<P>>>,
    /// The free blocks that were allocated in replayed ticks. `None` before the first allocation in a replayed tick.
    pub(super) sets: Option<Box<Sets<Box<PooledBlock<P>>>>>,
    /// The results of the latest queries of the driver about blocks of this size.
    pub(super) queries: Asked,
}

impl<P> SizeClass<P> {
    /// Adds a returned block.
    #[inline]
    pub(super) fn put_back(&mut self, block: Box<PooledBlock<P>>) {
        if self.sets.is_none() {
            self.blocks.push_back(block)
        } else {
            self.put_back_in_turn(block)
        }
    }

    /// Adds a returned block whose uses are all on the stream of this list. The next allocation takes this block, because the
    /// block is most likely still in the processor's caches.
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

    /// Takes a block that is known to need no wait, if there is one.
    #[inline]
    pub(super) fn take_ready(&mut self) -> Option<Box<PooledBlock<P>>> {
        if self.ready == 0 {
            return None;
        }
        self.ready -= 1;
        self.blocks.pop_front()
    }

    /// Counts the blocks at the front of the list for which `is_ready` returns that they need no wait. Returns whether the list
    /// has such a block.
    pub(super) fn find_ready(&mut self, mut is_ready: impl FnMut(&mut Block) -> bool) -> bool {
        while let Some(block) = self.blocks.get_mut(self.ready)
            && is_ready(block)
        {
            self.ready += 1;
        }
        self.ready > 0
    }

    /// The sets of blocks of replayed ticks. The first call creates the sets, for this number of ticks in flight.
    fn sets(&mut self, ticks: usize) -> &mut Sets<Box<PooledBlock<P>>> {
        self.sets.get_or_insert_with(|| Box::new(Sets::new(ticks)))
    }

    /// Takes a free block for a [replayed tick](super::rotation). The caller makes the stream wait for the uses of the block.
    /// Returns `None` if the caller must allocate a new block.
    pub(super) fn take_in_turn(
        &mut self,
        turn: Turn,
        stream: u32,
        bounds: Bounds,
    ) -> Option<Box<PooledBlock<P>>> {
        self.sets(bounds.ticks);
        // The tick may take any of the ready blocks, so the number of ready blocks at the front is unknown afterwards.
        self.ready = 0;
        let Self { sets, blocks, .. } = self;
        sets.as_mut()?.take(turn, stream, bounds, blocks)
    }

    /// Takes the `nth` block in the order of a replayed tick's set, so that the caller can examine it.
    pub(super) fn take_nth(
        &mut self,
        turn: Turn,
        ticks: usize,
        nth: usize,
    ) -> Option<Box<PooledBlock<P>>> {
        self.sets(ticks).take_nth(turn, nth)
    }

    /// Puts back a block that the caller has taken by `take_nth` and does not use.
    pub(super) fn put_nth(&mut self, turn: Turn, nth: usize, block: Box<PooledBlock<P>>) {
        match &mut self.sets {
            Some(sets) => sets.put_nth(turn, nth, block),
            None => self.blocks.push_back(block),
        }
    }

    /// Moves the blocks of all sets to `blocks`, because an allocation outside of replayed ticks may take any block.
    #[inline]
    pub(super) fn end_turns(&mut self) {
        if let Some(sets) = &mut self.sets {
            sets.end(&mut self.blocks);
        }
    }

    /// Whether neither `blocks` nor a set has a block of this size.
    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.sets.as_ref().is_none_or(|sets| sets.is_empty())
    }

    /// Takes any block: the first of `blocks`, or else a block of a set.
    pub(super) fn pop(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.ready = self.ready.saturating_sub(1);
        let block = self.blocks.pop_front();
        block.or_else(|| self.sets.as_mut().and_then(|sets| sets.pop()))
    }
}

impl<P> SizeClass<P> {
    /// The size of `first` in a list that was never used. No block has this size.
    const NO_SIZE: u64 = 0;

    fn new(bytes: u64) -> Self {
        let (blocks, queries) = (VecDeque::new(), Asked::default());
        Self { bytes, ready: 0, blocks, sets: None, queries }
    }

    /// The size of each block, in bytes.
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

    /// The blocks of a size, if the list has an entry for the size.
    pub(super) fn known_class(&mut self, bytes: u64) -> Option<&mut SizeClass<P>> {
        if self.first.bytes == bytes { Some(&mut self.first) } else { self.others.get_mut(&bytes) }
    }

    /// The size class with the most free blocks, among `first` and the [`COMPARED`] smallest sizes of `others`.
    pub(super) fn largest(&mut self) -> &mut SizeClass<P> {
        let Self { first, others, .. } = self;
        others.values_mut().take(COMPARED).fold(first, |largest, class| {
            if class.blocks.len() > largest.blocks.len() { class } else { largest }
        })
    }

    /// The size classes: `others` from the largest size to the smallest, and then `first`.
    pub(super) fn largest_first(&mut self) -> impl Iterator<Item = &mut SizeClass<P>> {
        self.others.values_mut().rev().chain(std::iter::once(&mut self.first))
    }

    /// Takes a free block from the first size class that has a block, in the order of [`largest_first`](Self::largest_first).
    pub(super) fn pop_large(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.largest_first().find_map(SizeClass::pop)
    }

    /// Takes all blocks out of the list.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<PooledBlock<P>>> + use<P> {
        let Self { first, others, .. } = std::mem::take(self);
        let classes = std::iter::once(first).chain(others.into_values());
        classes.flat_map(|mut class| std::iter::from_fn(move || class.pop()))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;
    use crate::driver::MemoryRange;
    use crate::{Platform, device};

    /// A list with two ready blocks and one that is not ready.
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
