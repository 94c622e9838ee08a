//! The choice of the free block about which an allocation queries the driver. A query asks the driver whether the uses of a
//! block are complete. The result is only a hint about the blocks for which a stream needs no wait.
//!
//! A query costs as much as half a launch. So an allocation queries the driver only when no free block is known to be ready,
//! and then about a block that was dropped lately. If the device has completed the uses of this block, it has almost always
//! completed those of the blocks that were dropped earlier, and the allocations that reuse the earlier blocks need no query.
//! The choice follows the device's progress: if the uses of the block are not complete, the next query is about an older
//! block.
//!
//! **A query is about the last stream of a chain.** Mostly, the last use of a block is on the stream of the next
//! operator. That operator writes memory of its own stream, and the last use of that memory is on a third stream, and so
//! on. A record of the last stream covers the uses on all these streams, since each stream has waited for the one before.
//! So one result is about the blocks of all operators of a chain. If the result does not cover the blocks of the stream that
//! allocates, the next query is about those blocks.
//!
//! So a tick makes 0.1 to 1.0 queries in place of 8.3 in a chain of 100, 1.1 in place of 42 in a chain of 500, and 2.7 to 4.9
//! in place of 15 to 18 in the patterns of Task Bench, on a device that is three ticks behind, counted by `floor --calls`.

use super::free_list::SizeClass;
use super::pool_state::PoolState;

/// The smallest number of blocks of a size that makes a query of the driver worthwhile.
pub(super) const MIN_BLOCKS_TO_QUERY: usize = 4;

/// How many blocks are examined to find a block whose last use is on the same stream as the last use of the oldest block.
/// If successive ticks use several sets of streams in rotation, the list mixes the blocks of these sets.
const SETS: usize = 8;

/// The most streams of a chain that one search follows. The next search continues at the stream where this one ended.
const HOPS: usize = 128;

/// The number of the latest blocks, at most a quarter of all, that are left out of queries because they were dropped just
/// now. With a higher number, queries would be about records that are no longer in the ring of their stream.
const LATEST: usize = 8;

impl<P> SizeClass<P> {
    /// The index of the block about which the driver is queried. `None` if the list has no block.
    pub(super) fn block_to_query(&mut self) -> Option<usize> {
        let last = self.blocks.len().checked_sub(1)?;
        let latest = (self.blocks.len() / 4).min(LATEST);
        let late = last - self.queries.behind.clamp(latest.min(last), last);
        let mut last_stream = |index: usize| self.blocks[index].last_stream();
        let oldest = last_stream(0);
        let of_oldest = (0..=late).rev().take(SETS).find(|index| last_stream(*index) == oldest);
        Some(of_oldest.unwrap_or(late))
    }

    /// Notes the result of a query about the block at this index. If the device is done with the block, the next query is
    /// about a later block, else about an older block. Returns whether the allocation makes no further query: the device is
    /// done, or there is no older block.
    pub(super) fn mark_queried(&mut self, index: usize, is_done: bool) -> bool {
        let behind = self.blocks.len().saturating_sub(index + 1);
        let next = if is_done { behind.saturating_sub(1 + behind / 8) } else { 2 * behind + 1 };
        self.queries.behind = next;
        is_done || index == 0
    }
}

impl<P> PoolState<P> {
    /// Returns the number of the stream about whose blocks the driver is queried: the last stream of a chain that has enough
    /// free blocks of its own. Each next stream of the chain is the last user of the free blocks of the stream before, from
    /// `stream` on.
    pub(super) fn end_of_chain(&mut self, stream: u32, bytes: u64) -> u32 {
        let known = self.free_of(stream).size_class(bytes).queries.end;
        let mut end = known.unwrap_or(stream);
        for _ in 0..HOPS {
            match self.last_user(end) {
                Some(user) if user != end && user != stream && self.has_history(user) => end = user,
                _ => break,
            }
        }
        if self.has_history(end) { end } else { stream }
    }

    /// The stream of the last use of the latest free block in a stream's list. The block is of the size with the most blocks.
    fn last_user(&mut self, stream: u32) -> Option<u32> {
        let list = self.free.get_mut(stream as usize)?;
        list.largest().blocks.back_mut()?.last_stream()
    }

    fn has_history(&mut self, stream: u32) -> bool {
        let list = self.free.get_mut(stream as usize);
        list.is_some_and(|list| list.largest().blocks.len() >= MIN_BLOCKS_TO_QUERY)
    }
}
