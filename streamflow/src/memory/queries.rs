//! The free block about which the driver is queried, and the number of queries. The answer is only a hint: it says for
//! which blocks a stream needs no wait.
//!
//! A query costs as much as half a launch. So it is asked when no free block is known to be ready, and then about one that
//! was dropped lately: if the device is done with it, it is almost always done with those that were dropped before, and
//! the allocations that reuse them need no query. How lately follows the device: a query that finds it behind is followed by
//! one about an older block.
//!
//! **The end of a chain is asked.** Memory is mostly used last on a stream that made memory of its own from it, which was
//! used last on a third stream. A record of the last such stream covers the uses on all of them, since each has waited for
//! the one before. So one answer is about the blocks of each operator of a chain. If it was not, the next query is about
//! the own blocks.
//!
//! So a tick makes 0.1 to 1.0 queries in place of 8.3 in a chain of 100, 1.1 in place of 42 in a chain of 500, and 2.7 to 4.9
//! in place of 15 to 18 in the patterns of Task Bench, on a device that is three ticks behind, counted by `floor --calls`.

use super::free_list::SizeClass;
use super::pool_state::PoolState;

/// From this many blocks of a size on, a query of the driver pays.
pub(super) const MIN_BLOCKS_TO_QUERY: usize = 4;

/// How many blocks are looked at for one with its last use on the stream of the oldest's. Ticks that take streams in turn
/// have a few sets of them.
const SETS: usize = 8;

/// How many streams of a chain are followed at once. The next time it goes on from there.
const HOPS: usize = 128;

/// The number of latest blocks that are not queried about, or a quarter of them: they were dropped just now. More would be
/// records that no ring holds any more.
const LATEST: usize = 8;

impl<P> SizeClass<P> {
    /// The block to query the driver about, if there is one.
    pub(super) fn block_to_query(&mut self) -> Option<usize> {
        let last = self.blocks.len().checked_sub(1)?;
        let latest = (self.blocks.len() / 4).min(LATEST);
        let late = last - self.queries.behind.clamp(latest.min(last), last);
        let mut last_stream = |index: usize| self.blocks[index].last_stream();
        let oldest = last_stream(0);
        let of_oldest = (0..=late).rev().take(SETS).find(|index| last_stream(*index) == oldest);
        Some(of_oldest.unwrap_or(late))
    }

    /// Notes the answer for the block at this index: the next query is about a later one, or an older one. Returns whether
    /// no older one is left to query about.
    pub(super) fn note_query(&mut self, index: usize, is_done: bool) -> bool {
        let behind = self.blocks.len().saturating_sub(index + 1);
        let next = if is_done { behind.saturating_sub(1 + behind / 8) } else { 2 * behind + 1 };
        self.queries.behind = next;
        is_done || index == 0
    }
}

impl<P> PoolState<P> {
    /// The stream to query: the last one of the chain that begins with the users of the free blocks of `stream`, and has
    /// memory of its own.
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

    /// The stream that used the block last which came back to a stream's list last.
    fn last_user(&mut self, stream: u32) -> Option<u32> {
        let list = self.free.get_mut(stream as usize)?;
        list.largest().blocks.back_mut()?.last_stream()
    }

    fn has_history(&mut self, stream: u32) -> bool {
        let list = self.free.get_mut(stream as usize);
        list.is_some_and(|list| list.largest().blocks.len() >= MIN_BLOCKS_TO_QUERY)
    }
}
