//! Law 12: The steady state allocates nothing.
//!
//! This module chooses the free block that an allocation reuses. A program in its steady state needs no new block.
//!
//! A free block is *ready* for a stream if the stream can use the block without a wait: the block's uses come earlier on the
//! stream, or are known to be complete. A ready block stays ready. A list of free blocks counts the ready blocks at its
//! front, so almost every allocation takes the first block of its list without examining another. A block that is returned
//! with uses only on its own stream is ready at once. If no block is ready, the allocation examines the other blocks, and
//! may [query](super::queries) the driver about their uses. If that finds no ready block, the stream waits for the uses of
//! the oldest free block. A pool keeps [many](MemoryOptions::small_in_flight) small blocks to avoid such waits: on an H200,
//! three waits for memory were 3 to 4 % of a tick of three small kernels and a copy.
//!
//! With the count of ready blocks, and with `memory::queries`, a task of a chain of 100 takes 2,792 instructions in place
//! of 3,371, counted by callgrind on `floor`. Reusing the list `to_query` saves 0.3 to 2.4 allocations of a tick where
//! memory has more than 4 readers. The choice of the block to query about saves 32 of 96 waits of a planned tick of a fan of
//! 64, counted by `floor --calls`.

use std::mem;

use super::block::KnownOrder;
use super::pool::DeviceBlock;
use super::pool_state::PoolState;
use super::pooled::Reused;
use super::queries::MIN_BLOCKS_TO_QUERY;
use super::rotation::{Bounds, Turn};
use super::{MemoryOptions, MemoryPool};
use crate::driver::{DriverError, report_in_drop};
use crate::lock::Held;
use crate::stream::{Point, Timeline};

/// The decision of an allocation: whether, and which, free block of its size it takes.
enum Decision {
    /// Take the first block of the list: it is ready.
    Ready,
    /// Reuse the block at this index of the list. The flag is `true` if the stream already comes after the block's uses.
    Reuse(usize, bool),
    /// Allocate a new block.
    Allocate,
    /// Query the driver, and decide again.
    Query,
}

/// The queries of the driver by one allocation: the next one, and whether one was made.
struct Asking {
    /// The number of the stream whose list of free blocks the next query is about. `None` if no query follows.
    about: Option<u32>,
    /// Whether this allocation has queried the driver already.
    has_asked: bool,
}

impl MemoryPool {
    /// Takes a block of this size from the free blocks of the stream. Returns `None` if the caller must allocate a new block.
    #[inline]
    pub(super) fn reuse(
        &self,
        timeline: &Timeline,
        bytes: u64,
        turn: Option<Turn>,
    ) -> Option<Reused<Self>> {
        let mut state = self.lock();
        // Fast path: the list has a ready block at its front, and the tick is not replayed.
        if turn.is_none()
            && let Some(block) = state.free_of(timeline.id()).size_class(bytes).take_ready()
        {
            let block = self.mark_in_use(&mut state, block, timeline);
            return Some(Reused { block, is_ready: true });
        }
        self.find_to_reuse(state, timeline, bytes, turn)
    }

    #[inline(never)]
    fn find_to_reuse<'a>(
        &'a self,
        mut state: Held<'a, PoolState<Self>>,
        timeline: &Timeline,
        bytes: u64,
        turn: Option<Turn>,
    ) -> Option<Reused<Self>> {
        if let Some(turn) = turn {
            let block = self.reuse_in_turn(&mut state, timeline, bytes, turn)?;
            return Some(Reused { block, is_ready: false });
        }
        let own = timeline.id();
        let mut asking = Asking { about: Some(own), has_asked: false };
        let mut decision = self.decide(&mut state, timeline, bytes, &asking);
        while let Decision::Query = decision {
            if !asking.has_asked {
                asking = Asking { about: Some(state.end_of_chain(own, bytes)), has_asked: true };
            }
            state = self.query(state, timeline, bytes, &mut asking);
            decision = self.decide(&mut state, timeline, bytes, &asking);
        }
        let (index, is_ready) = match decision {
            Decision::Allocate | Decision::Query => return None,
            Decision::Ready => (None, true),
            Decision::Reuse(index, is_ready) => (Some(index), is_ready),
        };
        let class = state.free_of(own).size_class(bytes);
        let block = match index {
            None => class.take_ready(),
            Some(index) => class.blocks.remove(index),
        }?;
        Some(Reused { block: self.mark_in_use(&mut state, block, timeline), is_ready })
    }

    /// Queries the driver whether the uses of one free block are complete, and notes the result.
    fn query<'a>(
        &'a self,
        mut state: Held<'a, PoolState<Self>>,
        timeline: &Timeline,
        bytes: u64,
        asking: &mut Asking,
    ) -> Held<'a, PoolState<Self>> {
        let own = timeline.id();
        let about = asking.about.unwrap_or(own);
        let mut points = mem::take(&mut state.to_query);
        points.clear();
        let list = state.free_of(about);
        let class = if about == own { list.size_class(bytes) } else { list.largest() };
        let (size, index) = (class.bytes(), class.block_to_query().unwrap_or(0));
        if let Some(late) = class.blocks.get_mut(index) {
            if about == own {
                late.add_unordered_uses(timeline, &mut points);
            } else {
                // Each stream of the chain has waited for the one before. So if this use is complete, the uses of the other
                // blocks of the chain are complete, too.
                points.extend(late.last_use());
            }
        }
        // The lock is released before the query, because the simulator may execute queued work in it, and so the program's code.
        drop(state);
        let is_done = self.are_complete(&points);
        state = self.lock();
        state.to_query = points;
        let is_over = state.free_of(about).size_class(size).mark_queried(index, is_done);
        let class = state.free_of(own).size_class(bytes);
        let end = (about != own).then_some(about);
        if is_done {
            class.queries.set_answer(end);
            // If the result was about another stream's block, the next query is about this stream's own blocks.
            asking.about = end.map(|_| own);
        } else if is_over {
            asking.about = None;
            class.queries.set_behind(class.blocks.len());
        }
        state
    }

    /// Takes a free block for a [replayed tick](super::rotation). Returns `None` if the caller must allocate a new block.
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
            // A block above the release threshold would be freed when it is returned, and each tick would allocate a new block.
            may_grow: self.limits.allows(reserved, bytes)
                && reserved.saturating_add(bytes) <= self.release_threshold,
        };
        let class = state.free_of(timeline.id()).size_class(bytes);
        let block = class.take_in_turn(turn, timeline.id(), bounds);
        block.map(|block| self.mark_in_use(state, block, timeline))
    }

    /// Queries the driver whether these uses of a block are complete. The result is only a hint, so an error of the query is
    /// only logged and counts as "not complete". The stream then waits for the uses of the block that the allocation takes.
    #[inline(never)]
    fn are_complete(&self, points: &[Point]) -> bool {
        points.iter().all(|point| match self.table.is_complete(*point) {
            Ok(is_complete) => is_complete,
            // A sticky error is not logged here: the call that found the sticky error has reported it.
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
        asking: &Asking,
    ) -> Decision {
        let most = self.most_in_flight(bytes);
        let reserved = state.usage.reserved;
        let class = state.free_of(timeline.id()).size_class(bytes);
        class.end_turns();
        let has_many = most >= MIN_BLOCKS_TO_QUERY;
        let known = KnownOrder::new(timeline, &self.table, has_many);
        if class.find_ready(|block| block.needs_no_wait(&known)) {
            return Decision::Ready;
        }
        if class.blocks.is_empty() {
            return Decision::Allocate;
        }
        let ordered = class.blocks.iter_mut().position(|block| block.is_ordered_before(timeline));
        if let Some(index) = ordered {
            return Decision::Reuse(index, true);
        }
        let count = class.blocks.len();
        if count < most && self.limits.allows(reserved, bytes) {
            return Decision::Allocate;
        }
        if asking.about.is_none() || !has_many || count < MIN_BLOCKS_TO_QUERY {
            return Decision::Reuse(0, false);
        }
        if !asking.has_asked && class.queries.skip() {
            return Decision::Reuse(0, false);
        }
        Decision::Query
    }

    /// The number of free blocks of a size from which on an allocation reuses the oldest block and waits for its uses, instead
    /// of allocating a new block. The result is at most the number of free blocks that the pool may keep.
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
