//! Which free block an allocation takes.
//!
//! One whose uses come earlier on the stream anyway costs nothing. Else the stream would wait for the uses of the
//! oldest. Of small blocks there are [many](MemoryOptions::small_in_flight), and then the driver is asked
//! whether the device is done with one that was dropped lately: if it is, then nearly always also with those that
//! were dropped before, and the allocations that take them have nothing to wait for. On an H200 the three waits for
//! memory in a tick of three small kernels and a copy were 3 to 4 % of it.

use smallvec::SmallVec;

use super::pool::PoolBlock;
use super::pool_state::PoolState;
use super::{MemoryOptions, MemoryPool};
use crate::stream::{Point, Timeline};

/// So many blocks of a size are many.
const MANY: usize = 4;

/// What an allocation does about the free blocks of a size.
enum Choice {
    /// It takes this one. Whether its uses come earlier on the stream anyway.
    Take(usize, bool),
    /// It makes one more.
    Make,
    /// It asks about these uses of a block that was dropped lately.
    Ask(SmallVec<[Point; 4]>),
}

impl MemoryPool {
    /// A free block of the stream, and whether its uses come earlier on the stream anyway.
    #[inline]
    pub(super) fn reuse(&self, timeline: &Timeline, bytes: u64) -> Option<(PoolBlock, bool)> {
        let mut state = self.lock();
        let mut choice = self.choose(&mut state, timeline, bytes, true);
        if let Choice::Ask(points) = choice {
            // Without the lock: the simulator may execute work, and with it a user's code, when it is asked.
            drop(state);
            // Only advice: what is wrong is told to who waits for it.
            let is_done =
                points.iter().all(|point| matches!(self.table.is_complete(*point), Ok(true)));
            state = self.lock();
            let class = state.of(timeline.id()).class(bytes);
            class.patience = if is_done { 0 } else { class.blocks.len() };
            choice = self.choose(&mut state, timeline, bytes, false);
        }
        let Choice::Take(index, ready) = choice else { return None };
        let blocks = state.of(timeline.id()).of(bytes);
        // Nearly always the oldest, and that is cheaper to take.
        let block = if index == 0 { blocks.pop_front() } else { blocks.remove(index) };
        block.map(|block| (self.use_free(&mut state, block, timeline), ready))
    }

    fn choose(
        &self,
        state: &mut PoolState<Self>,
        timeline: &Timeline,
        bytes: u64,
        may_ask: bool,
    ) -> Choice {
        let most = self.most_in_flight(bytes);
        let reserved = state.usage.reserved;
        let class = state.of(timeline.id()).class(bytes);
        let Some(oldest) = class.blocks.front_mut() else { return Choice::Make };
        if oldest.is_ordered_before(timeline) {
            return Choice::Take(0, true);
        }
        let many = most >= MANY;
        // Not as ready: the stream notes that it comes after them, which needs no driver.
        if many && oldest.is_known_complete(timeline, &self.table) {
            return Choice::Take(0, false);
        }
        let ready = class.blocks.iter_mut().position(|block| block.is_ordered_before(timeline));
        if let Some(index) = ready {
            return Choice::Take(index, true);
        }
        let count = class.blocks.len();
        if count < most && self.limits.allows(reserved, bytes) {
            return Choice::Make;
        }
        if many && may_ask && count >= MANY {
            if class.patience == 0 {
                return Choice::Ask(class.blocks[count - count / 4 - 1].waited_for_by(timeline));
            }
            class.patience -= 1;
        }
        Choice::Take(0, false)
    }

    /// How many free blocks of a size may be in use before the oldest is taken. Not more than are kept.
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
