//! A new block of a pool: its room within the pool's limits, and its memory.
//!
//! A thread that finds neither a free block nor room releases free blocks of the pool. Another thread must not search for
//! memory during that time: see [`MemoryPool::releasing`]. If the driver has no memory for a thread, that thread releases
//! the free blocks of all pools of the device.

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

/// How often one allocation releases memory at most. Other threads may take the released memory, and return other memory.
const MOST_ROUNDS: u32 = 16;

/// The memory for an allocation.
enum BlockOrRoom {
    /// A free block. It counts as in use already.
    Block(DeviceBlock),
    /// Room for a new block. Its bytes count as in use already.
    New(MemorySource),
}

impl MemoryPool {
    /// Allocates a block where the stream has no free one.
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

    /// Makes room for a new block, or takes a free block that was allocated for another stream. Either counts as in use
    /// from then on.
    fn make_room(&self, timeline: &Timeline, bytes: u64) -> Result<BlockOrRoom> {
        let found = self.find_place(&mut self.lock(), timeline, bytes)?;
        found.map_or_else(|| self.make_room_of_freed(timeline, bytes), Ok)
    }

    /// Finds a free block, or room that was never used or that the device has freed: these need no wait for another
    /// thread. Returns `None` if free blocks must be released first, or the device must execute frees that are queued.
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
            // Free blocks are released only if that makes enough room. Another thread that releases free blocks does not
            // change the number of bytes in use.
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

    /// Returns for how many bytes a new block would need the room of freed blocks. The device may not have executed these
    /// frees yet.
    fn room_of_freed(&self, usage: &PoolUsage, bytes: u64) -> u64 {
        self.limits.excess(usage.reserved.saturating_add(bytes).saturating_add(usage.freed))
    }

    /// Takes the room of free blocks, and of blocks that are being freed. Invariant 9 of `memory/README.md` holds with
    /// several threads because `freed` counts blocks as soon as they are in no free list, and because one thread at a
    /// time takes their room and queues their frees.
    fn make_room_of_freed(&self, timeline: &Timeline, bytes: u64) -> Result<BlockOrRoom> {
        let _later = log::later();
        let held = lock::hold();
        let alone = locked(&self.releasing);
        let mut state = self.lock();
        // Another thread may have returned memory since.
        if let Some(place) = self.find_place(&mut state, timeline, bytes)? {
            return Ok(place);
        }
        // The free blocks suffice: `find_place` has checked that.
        let above = self.limits.excess(state.usage.reserved.saturating_add(bytes));
        let to_release = state.take_to_free(above);
        let taken = self.room_of_freed(&state.usage, bytes);
        state.usage.take_freed(taken);
        state.usage.reserved += bytes;
        self.count_use(&mut state.usage, timeline);
        drop(state);
        // The frees are queued, so the driver can reuse the memory of these blocks for the new one.
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

    /// Undoes the counts for a block that could not be made.
    fn undo_reservation(&self, timeline: &Timeline, bytes: u64) {
        let usage = &mut self.lock().usage;
        usage.reserved -= bytes;
        // The room counts as freed: the next block then waits for the frees that this block may have waited for.
        usage.freed = usage.freed.saturating_add(bytes);
        self.count_return(usage, timeline.id());
    }

    /// Makes a new block whose bytes are counted already.
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
        // The driver may reuse memory of frees that are not done, so the block is allocated on the reclaim stream: it
        // comes after them. That also keeps the program's stream free of allocations: on a stream of CUDA that has
        // allocated, each record and each wait costs more, for good.
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

    /// Allocates when the driver has no memory: the free memory of all pools of the device is released first.
    #[cold]
    fn allocate_out_of_memory(
        &self,
        bytes: u64,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
    ) -> Result<MemoryRange> {
        let mut rounds = 0;
        let made = self.release_and_allocate(bytes, allocate, &mut rounds);
        if rounds > 0 || made.is_ok() {
            // A log line, since such a release is rare and blocks the host. No mutex is held here, because the log's
            // subscriber is the program's code. 0 rounds mean that another thread had released the memory.
            let (device, made) = (self.device(), made.is_ok());
            tracing::warn!(%device, bytes, rounds, made, "out of memory: tried again when free memory was released");
        }
        made
    }

    /// Releases all free memory of the device's pools and allocates, until that succeeds or no memory is free. In the
    /// latter case all memory is in use, and the result is an error. If the driver has no memory for another thread
    /// either, that thread waits here, and then finds the memory that this one has released. While this thread holds the
    /// mutex, it waits only for the device and for no other thread. So such an allocation blocks, also the other
    /// thread's.
    fn release_and_allocate(
        &self,
        bytes: u64,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
        rounds: &mut u32,
    ) -> Result<MemoryRange> {
        let _later = log::later();
        let of_device = Pools::of(&self.table).of_device(self.device());
        // The pools are declared before the guard, so dropped after it: dropping the last owner of a pool returns its stream.
        let pools = of_device.pools();
        let _alone = of_device.out_of_memory();
        loop {
            // In the first round, another thread may just have released memory; in a later one, another thread may have
            // taken some.
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

    /// The error for a request when all memory of the device is in use.
    fn out_of_memory(&self, requested: u64, pools: &[Arc<dyn DevicePool>]) -> Error {
        let amounts = pools.iter().map(|pool| {
            let (name, used, free) = pool.amounts();
            // The requested block is counted as in use already.
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

    /// Holds the mutex `releasing` only while the frees are queued, not while the device executes them.
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
