//! The allocation of a new block of a pool. A new block needs *room*, which are bytes within the pool's limits, and memory
//! of the driver.
//!
//! A thread that finds neither a free block nor room releases free blocks of the pool. Meanwhile no other thread may search
//! for memory, which the mutex [`MemoryPool::releasing`] ensures. If the driver has no memory for a thread, that thread
//! releases the free blocks of all pools of the device.

use std::cmp::Reverse;
use std::ptr;
use std::sync::Arc;

use super::Block;
use super::platform_pools::{DevicePool, Pools, give_back_free};
use super::pool::{DeviceBlock, FREEING, MemoryPool};
use super::pool_state::{PoolState, PoolUsage, QueuedFrees};
use super::pooled::{OwnedBlock, PooledBlock, Reused};
use super::rotation::Turn;
use crate::driver::{DriverError, DriverResult, MemoryRange, MemorySource, first_error, promise};
use crate::error::{Error, Result};
use crate::lock::{self, locked};
use crate::log;
use crate::stream::Timeline;

/// How often one allocation releases memory at most. More than one round is needed if other threads take the memory that
/// this allocation has released.
const MOST_ROUNDS: u32 = 16;

/// The result of a search for memory for an allocation.
enum BlockOrRoom {
    /// A free block, which already counts as in use.
    Block(DeviceBlock),
    /// Room for a new block. The bytes of the new block already count as in use.
    New(MemorySource),
}

impl MemoryPool {
    /// Allocates a block when the stream's list has no free block that the stream may take.
    #[inline(never)]
    pub(super) fn allocate_anew(
        self: &Arc<Self>,
        timeline: &Timeline,
        bytes: u64,
        turn: Option<Turn>,
    ) -> Result<OwnedBlock<Self>> {
        match self.make_room(timeline, bytes)? {
            BlockOrRoom::Block(block) => {
                self.hand_over(Reused { block, is_ready: false }, timeline, turn)
            }
            BlockOrRoom::New(source) => {
                let mut block = self.make(timeline, bytes, source)?;
                block.turn = turn;
                Ok(OwnedBlock::new(block))
            }
        }
    }

    /// Makes room for a new block, or takes a free block, perhaps one that was allocated for another stream. The bytes of the
    /// result count as in use from then on.
    fn make_room(&self, timeline: &Timeline, bytes: u64) -> Result<BlockOrRoom> {
        let found = self.find_place(&mut self.lock(), timeline, bytes)?;
        found.map_or_else(|| self.make_room_of_freed(timeline, bytes), Ok)
    }

    /// Finds a free block, or room that was never used or whose free the device has executed. Returns `None` if free blocks
    /// must be released first, or if the new block must come after frees that are queued.
    fn find_place(
        &self,
        state: &mut PoolState<Self>,
        timeline: &Timeline,
        bytes: u64,
    ) -> Result<Option<BlockOrRoom>> {
        if !self.limits.allows(state.usage.reserved, bytes) {
            if let Some(block) = state.pop_of_size(timeline.id(), bytes) {
                return Ok(Some(BlockOrRoom::Block(self.mark_in_use(state, block, timeline))));
            }
            // If the bytes in use leave no room, releasing free blocks can't help. The number of bytes in use does not change
            // while another thread releases free blocks.
            if !self.limits.allows(state.used(), bytes) {
                let (limits, usage, used) = (self.limits, &state.usage, state.used());
                return Err(limits.exhausted(
                    self.name(),
                    usage,
                    used,
                    &self.table,
                    timeline,
                    bytes,
                ));
            }
            return Ok(None);
        }
        if self.room_of_freed(&state.usage, bytes) > 0 {
            return Ok(None);
        }
        state.usage.reserved += bytes;
        self.count_use(&mut state.usage, timeline);
        Ok(Some(BlockOrRoom::New(MemorySource::Unused)))
    }

    /// Returns how many bytes of a new block would need room of blocks whose frees are queued. The device may not have executed
    /// these frees yet.
    fn room_of_freed(&self, usage: &PoolUsage, bytes: u64) -> u64 {
        self.limits.excess(usage.reserved.saturating_add(bytes).saturating_add(usage.freed))
    }

    /// Releases free blocks, and takes their room and the room of blocks whose frees are queued. Invariant 9 of
    /// `memory/README.md` holds with several threads because `freed` counts blocks as soon as they are in no free list, and
    /// because one thread at a time takes the room of such blocks and queues their frees.
    fn make_room_of_freed(&self, timeline: &Timeline, bytes: u64) -> Result<BlockOrRoom> {
        let _later = log::later();
        let held = lock::hold();
        let alone = locked(&self.releasing);
        let mut state = self.lock();
        // Another thread may have returned memory before this thread locked `releasing`, so the search is repeated.
        if let Some(place) = self.find_place(&mut state, timeline, bytes)? {
            return Ok(place);
        }
        // The free blocks have enough bytes: `find_place` has compared the bytes in use with the limit.
        let above = self.limits.excess(state.usage.reserved.saturating_add(bytes));
        let to_release = state.take_to_free(above);
        let taken = self.room_of_freed(&state.usage, bytes);
        state.usage.take_freed(taken);
        state.usage.reserved += bytes;
        self.count_use(&mut state.usage, timeline);
        drop(state);
        // This queues the frees of the blocks, so that the driver can use their memory for the new block.
        let released = self.release_each(to_release);
        let bound = timeline.bind();
        drop((alone, held));
        self.table.driver().observer().catch_up();
        if let Err(error) = released.and(bound.map_err(Error::from)) {
            self.undo_reservation(timeline, bytes);
            return Err(error);
        }
        Ok(BlockOrRoom::New(MemorySource::Freed))
    }

    /// Undoes the counts of a new block whose allocation has failed.
    fn undo_reservation(&self, timeline: &Timeline, bytes: u64) {
        let usage = &mut self.lock().usage;
        usage.reserved -= bytes;
        // The room counts as freed, so that the next block in this room comes after the frees that the failed block may have
        // needed.
        usage.freed = usage.freed.saturating_add(bytes);
        self.count_return(usage, timeline.id());
    }

    /// Allocates a new block whose bytes are counted already. After an error the counts are undone.
    fn make(
        self: &Arc<Self>,
        timeline: &Timeline,
        bytes: u64,
        source: MemorySource,
    ) -> Result<DeviceBlock> {
        let made = self.make_block(timeline, bytes, source);
        if made.is_err() {
            self.undo_reservation(timeline, bytes);
        }
        made
    }

    fn make_block(
        self: &Arc<Self>,
        timeline: &Timeline,
        bytes: u64,
        source: MemorySource,
    ) -> Result<DeviceBlock> {
        let driver = self.table.driver();
        // The driver may reuse memory whose free is queued on the reclaim stream. So the block is allocated on the same
        // stream, after these frees. That also keeps allocations off the program's stream: after one allocation on a stream
        // of CUDA, each record and each wait on that stream costs more, for good.
        let on = if source == MemorySource::Freed { &self.reclaim } else { timeline };
        // SAFETY: the timeline owns its stream.
        let allocate = || unsafe { driver.allocate(on.raw(), bytes, source) };
        let range = match allocate() {
            Err(DriverError::OutOfMemory { .. }) => self.allocate_out_of_memory(bytes, allocate)?,
            other => other?,
        };
        let range = promise::check_allocated("allocate", self.device(), bytes, range)?;
        let block = Block::new(self.table.platform(), self.device(), range);
        let mut block = PooledBlock::new(block, timeline.id(), self);
        if source == MemorySource::Freed {
            let waited = timeline.wait(&self.table, self.reclaim.open_point());
            if waited.is_err() {
                first_error(FREEING, waited, self.release(&mut block))?;
            }
        }
        block.allocated_on(timeline);
        Ok(block)
    }

    /// Allocates memory when the driver has none left: first releases the free memory of all pools of the device.
    #[cold]
    fn allocate_out_of_memory(
        &self,
        bytes: u64,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
    ) -> Result<MemoryRange> {
        let mut rounds = 0;
        let made = self.release_and_allocate(bytes, allocate, &mut rounds);
        if rounds > 0 || made.is_ok() {
            // The release is logged, because it is rare and blocks the host. No mutex is held during the log call, because the
            // log's subscriber is code of the program. 0 rounds mean that another thread had released the memory.
            let (device, made) = (self.device(), made.is_ok());
            tracing::warn!(%device, bytes, rounds, made, "out of memory: tried again when free memory was released");
        }
        made
    }

    /// Releases all free memory of the device's pools and calls `allocate`, until `allocate` succeeds or no pool has free
    /// memory. If no pool has free memory, all memory is in use, and the result is an error. Another thread for which the
    /// driver has no memory blocks at the mutex `out_of_memory`, and then finds the memory that this thread has released.
    /// The thread that holds the mutex waits only for the device, and for no other thread.
    fn release_and_allocate(
        &self,
        bytes: u64,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
        rounds: &mut u32,
    ) -> Result<MemoryRange> {
        let _later = log::later();
        let of_device = Pools::of(&self.table).of_device(self.device());
        // The pools are declared before the guard, so that they are dropped after the unlock: the drop of the last owner of a
        // pool returns the pool's stream.
        let pools = of_device.pools();
        let _alone = of_device.out_of_memory();
        loop {
            // The first call may succeed because another thread has just released memory. A later call may fail because
            // another thread has taken the memory that this thread has released.
            match allocate() {
                Err(DriverError::OutOfMemory { .. })
                    if *rounds < MOST_ROUNDS && pools.iter().any(|pool| pool.amounts().2 > 0) => {}
                Err(DriverError::OutOfMemory { .. }) => {
                    return Err(self.out_of_memory(bytes, &pools));
                }
                done => return Ok(done?),
            }
            *rounds += 1;
            give_back_free(&pools)?;
            self.table.driver().trim(self.device(), 0)?;
        }
    }

    /// The error for a request of this many bytes when all memory of the device is in use.
    fn out_of_memory(&self, requested: u64, pools: &[Arc<dyn DevicePool>]) -> Error {
        let amounts = pools.iter().map(|pool| {
            let (name, used, free) = pool.amounts();
            // The requested bytes are subtracted, because this pool already counts them as in use.
            let counted = if ptr::addr_eq(Arc::as_ptr(pool), self) { requested } else { 0 };
            (name, used.saturating_sub(counted), free)
        });
        let mut pools: Vec<_> = amounts.filter(|(_, used, free)| used + free > 0).collect();
        pools.sort_by_key(|(_, used, free)| Reverse(used + free));
        let info = self.table.driver().device_info(self.device());
        let (total, is_simulated) =
            info.map_or((0, false), |info| (info.total_memory, info.is_simulated));
        Error::OutOfMemory { device: self.device(), requested, total, pools, is_simulated }
    }
}

impl DevicePool for MemoryPool {
    fn amounts(&self) -> (String, u64, u64) {
        let state = self.lock();
        (self.name().to_owned(), state.used(), state.free_bytes)
    }

    /// Queues the frees of all free blocks. Holds the mutex `releasing` only while it queues the frees, and not while the
    /// device executes them.
    fn queue_frees(&self) -> (Result<u64>, QueuedFrees) {
        let held = lock::hold();
        let alone = locked(&self.releasing);
        let mut state = self.lock();
        let bytes = state.free_bytes;
        let blocks = state.take_to_free(u64::MAX);
        drop(state);
        let released = self.release_each(blocks);
        let frees = self.lock().usage.queued_frees();
        drop((alone, held));
        self.table.driver().observer().catch_up();
        (released.map(|()| bytes), frees)
    }

    fn finish_frees(&self, frees: QueuedFrees) -> Result<()> {
        self.reclaim.bind()?;
        self.reclaim.synchronize(&self.table)?;
        self.lock().usage.frees_are_done(frees);
        Ok(())
    }
}
