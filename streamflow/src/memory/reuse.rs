//! Law 12: The steady state allocates nothing.
//!
//! Which free block an allocation reuses, so that a program in its steady state needs no new one.
//!
//! A block whose uses come earlier on the stream costs nothing. Else the stream would wait for the uses of the oldest
//! free block. There are [many](MemoryOptions::small_in_flight) small blocks, and with many, the driver is first
//! queried whether the device is done with a block that was dropped lately: if it is, it is almost always done with
//! those that were dropped before on the same streams, and the allocations that reuse them have nothing to wait for. How
//! lately follows the device: a query that finds it behind is followed by one of an older block. On an H200 the three waits
//! for memory in a tick of three small kernels and a copy were 3 to 4 % of it.

use std::mem;

use super::pool::DeviceBlock;
use super::pool_state::PoolState;
use super::pooled::SizeClass;
use super::rotation::{Bounds, Turn};
use super::{MemoryOptions, MemoryPool};
use crate::driver::{DriverError, report_in_drop};
use crate::stream::{Point, Timeline};

/// From this many blocks of a size on, a query of the driver pays.
const MIN_BLOCKS_TO_QUERY: usize = 4;

/// How many blocks are looked at for one with its last use on the stream of the oldest's. Ticks that take streams in turn
/// have a few sets of them.
const SETS: usize = 8;

impl<P> SizeClass<P> {
    /// The block to query the driver about, of three quarters of them at most: the later ones were dropped just now.
    fn block_to_query(&mut self) -> usize {
        let count = self.blocks.len();
        let late = self.next_query.min(count - count / 4 - 1);
        let mut last_stream = |index: usize| self.blocks[index].last_stream();
        let oldest = last_stream(0);
        (0..=late).rev().take(SETS).find(|index| last_stream(*index) == oldest).unwrap_or(late)
    }

    /// Notes the answer for the block at this index. Returns whether no older one is left to query about.
    fn note_query(&mut self, index: usize, is_done: bool) -> bool {
        self.next_query = if is_done { index + 1 + index / 4 } else { index / 2 };
        let is_over = is_done || index == 0;
        if is_over && !is_done {
            self.queries_to_skip = self.blocks.len();
        }
        is_over
    }
}

/// What an allocation does with the free blocks of a size.
enum Decision {
    /// Reuse the block at this index. Whether its uses come earlier on the stream.
    Reuse(usize, bool),
    /// Allocate a new block.
    Allocate,
    /// Query the driver about the uses of the block at this index, and decide again.
    Query(usize),
}

impl MemoryPool {
    /// A free block of the stream, and whether its uses come earlier on the stream.
    #[inline]
    pub(super) fn reuse(
        &self,
        timeline: &Timeline,
        bytes: u64,
        turn: Option<Turn>,
    ) -> Option<(DeviceBlock, bool)> {
        let mut state = self.lock();
        if let Some(turn) = turn {
            let block = self.reuse_in_turn(&mut state, timeline, bytes, turn);
            return block.map(|block| (block, false));
        }
        let mut decision = self.decide(&mut state, timeline, bytes, true);
        while let Decision::Query(index) = decision {
            let mut points = mem::take(&mut state.to_query);
            points.clear();
            let late = &mut state.free_of(timeline.id()).of_size(bytes)[index];
            late.add_unordered_uses(timeline, &mut points);
            // Without the lock: the simulator may execute work in a query, and so a user's code.
            drop(state);
            let is_done = self.are_complete(&points);
            state = self.lock();
            state.to_query = points;
            let class = state.free_of(timeline.id()).size_class(bytes);
            let is_over = class.note_query(index, is_done);
            decision = self.decide(&mut state, timeline, bytes, !is_over);
        }
        let Decision::Reuse(index, ready) = decision else { return None };
        let blocks = state.free_of(timeline.id()).of_size(bytes);
        // Fast path: the oldest, which is cheaper to take.
        let block = if index == 0 { blocks.pop_front() } else { blocks.remove(index) };
        block.map(|block| (self.mark_in_use(&mut state, block, timeline), ready))
    }

    /// A free block for a [replayed tick](super::rotation).
    #[inline(never)]
    fn reuse_in_turn(
        &self,
        state: &mut PoolState<Self>,
        timeline: &Timeline,
        bytes: u64,
        turn: Turn,
    ) -> Option<DeviceBlock> {
        let reserved = state.usage.reserved;
        let bounds = Bounds {
            ticks: self.options.in_flight_of(bytes),
            blocks: self.most_in_flight(bytes),
            // Above the threshold a block is freed when it comes back, and made again for each tick.
            may_grow: self.limits.allows(reserved, bytes)
                && reserved.saturating_add(bytes) <= self.release_threshold,
        };
        let class = state.free_of(timeline.id()).size_class(bytes);
        let block = class.take_in_turn(turn, timeline.id(), bounds);
        block.map(|block| self.mark_in_use(state, block, timeline))
    }

    /// Queries the driver about uses of a block. The answer is only a hint, so an error is logged: the stream then waits
    /// for the uses of the block that it gets, which may be another one.
    #[inline(never)]
    fn are_complete(&self, points: &[Point]) -> bool {
        points.iter().all(|point| match self.table.is_complete(*point) {
            Ok(is_complete) => is_complete,
            // This was reported when it was met.
            Err(DriverError::Sticky { .. }) => false,
            Err(error) => {
                report_in_drop("querying the uses of free memory", Err(error));
                false
            }
        })
    }

    fn decide(
        &self,
        state: &mut PoolState<Self>,
        timeline: &Timeline,
        bytes: u64,
        may_query: bool,
    ) -> Decision {
        let most = self.most_in_flight(bytes);
        let reserved = state.usage.reserved;
        let class = state.free_of(timeline.id()).size_class(bytes);
        class.end_turns();
        let Some(oldest) = class.blocks.front_mut() else { return Decision::Allocate };
        if oldest.is_ordered_before(timeline) {
            return Decision::Reuse(0, true);
        }
        let has_many = most >= MIN_BLOCKS_TO_QUERY;
        // `false`, so that the stream's clock is raised by these uses, which needs no driver call.
        if has_many && oldest.is_known_complete(timeline, &self.table) {
            return Decision::Reuse(0, false);
        }
        let ready = class.blocks.iter_mut().position(|block| block.is_ordered_before(timeline));
        if let Some(index) = ready {
            return Decision::Reuse(index, true);
        }
        let count = class.blocks.len();
        if count < most && self.limits.allows(reserved, bytes) {
            return Decision::Allocate;
        }
        if has_many && may_query && count >= MIN_BLOCKS_TO_QUERY {
            if class.queries_to_skip == 0 {
                return Decision::Query(class.block_to_query());
            }
            class.queries_to_skip -= 1;
        }
        Decision::Reuse(0, false)
    }

    /// How many free blocks of a size may be in use by the device before the oldest is reused. Not more than the pool
    /// keeps.
    #[inline]
    fn most_in_flight(&self, bytes: u64) -> usize {
        let MemoryOptions { in_flight, small_in_flight, .. } = self.options;
        let most = self.limits.in_flight(self.options.in_flight_of(bytes));
        if self.release_threshold == u64::MAX {
            return most;
        }
        let kept = usize::try_from(self.release_threshold / bytes).unwrap_or(usize::MAX);
        most.min(kept.max(in_flight.min(small_in_flight)).max(1))
    }
}
