//! Law 12: The steady state allocates nothing.
//!
//! Device memory: who gets which block, and when: after its last use, by law 9.
//!
//! A dropped block goes to the free list of the stream that it was allocated for, uses and all. The
//! next allocation of that size for that stream [takes one](super::reuse) whose uses come earlier on the
//! stream anyway, if there is one. Else a new block is made, until [`MemoryOptions::in_flight`] blocks wait
//! for their users; from then on the oldest is taken, and the stream of its *new* owner comes after its uses.
//! So memory is bounded, the steady state makes none, and a drop never makes anybody wait.
//!
//! A pool with [limits](MemoryLimits) that are reached takes a free block of any stream, gives blocks of
//! other sizes back to the driver, and only then says that nothing is left.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::Block;
use super::limits::{MemoryLimits, MemoryOptions};
use super::pool_state::{PoolState, PoolUsage};
use super::pooled::{BlockPool, OwnedBlock, PoolHandle, PooledBlock};
use crate::driver::{DeviceId, DriverError, DriverResult, Note, StreamOptions, report_in_drop};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock};
use crate::stream::{CudaStream, PlatformNumber, StreamTable, Timeline};

/// A block of a memory pool.
pub(super) type PoolBlock = Box<PooledBlock<MemoryPool>>;

/// Memory of one device: all that it has, or what limits allow.
pub(crate) struct MemoryPool {
    pub(super) table: Arc<StreamTable>,
    device: DeviceId,
    /// For messages.
    name: String,
    pub(super) limits: MemoryLimits,
    pub(super) options: MemoryOptions,
    pub(super) release_threshold: u64,
    /// Frees what goes back to the driver, so that no stream of a user waits for that.
    reclaim: Arc<Timeline>,
    state: Lock<PoolState<Self>>,
}

impl MemoryPool {
    /// Without limits.
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
    ) -> DriverResult<PoolHandle<Self>> {
        Self::limited(table, device, options, "", MemoryLimits::unbounded())
    }

    pub(super) fn limited(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
        name: &str,
        limits: MemoryLimits,
    ) -> DriverResult<PoolHandle<Self>> {
        let pool = PoolHandle::new(Self {
            table: table.clone(),
            device,
            name: name.to_owned(),
            limits,
            options,
            release_threshold: limits.kept(options.release_threshold),
            reclaim: table.take(device, StreamOptions::default())?,
            state: Lock::default(),
        });
        let initial = limits.initial();
        if initial > 0 {
            pool.reclaim.bind()?;
            let (driver, stream) = (table.driver(), pool.reclaim.raw());
            // SAFETY: the timeline owns its stream. What is allocated is freed at once, behind it on
            // the same stream, and nobody else knows it: the driver keeps it for what comes.
            unsafe { driver.free(stream, driver.allocate(stream, initial)?) }?;
        }
        Ok(pool)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn device(&self) -> DeviceId {
        self.device
    }

    pub(super) fn platform(&self) -> PlatformNumber {
        self.table.platform()
    }

    pub(super) fn used(&self) -> u64 {
        self.lock().usage.used
    }

    pub(super) fn reserved(&self) -> u64 {
        self.lock().usage.reserved.max(self.limits.initial())
    }

    /// Memory whose first use may be queued on `stream`, which is one of this device.
    #[track_caller]
    pub(super) fn allocate(
        self: &Arc<Self>,
        stream: &CudaStream,
        bytes: u64,
    ) -> Result<OwnedBlock<Self>> {
        let timeline = stream.timeline();
        timeline.ready()?;
        self.table.tell(&Note::At(Location::caller()));
        let bytes = self.limits.block_for(bytes, &self.name)?;
        let free = match self.reuse(timeline, bytes) {
            None => self.make_room(timeline, bytes)?.map(|block| (block, false)),
            reused => reused,
        };
        let Some((block, ready)) = free else {
            return Ok(OwnedBlock::new(self.make(timeline, bytes)?));
        };
        // If it can't be handed over, it goes back.
        let mut owned = OwnedBlock::new(block);
        self.hand_over(owned.block_mut(), timeline, ready)?;
        Ok(owned)
    }

    /// Books a block that was free as lent.
    #[inline]
    pub(super) fn use_free(
        &self,
        state: &mut PoolState<Self>,
        mut block: PoolBlock,
        timeline: &Timeline,
    ) -> PoolBlock {
        let bytes = block.range().bytes;
        block.stream = timeline.id();
        state.free_bytes -= bytes;
        self.count_use(&mut state.usage, timeline, bytes);
        block
    }

    fn count_use(&self, usage: &mut PoolUsage, timeline: &Timeline, bytes: u64) {
        usage.used += bytes;
        if self.limits.is_bounded() {
            usage.streams.push(timeline.id());
        }
    }

    fn count_return(&self, usage: &mut PoolUsage, stream: u32, bytes: u64) {
        usage.used -= bytes;
        if let Some(index) = usage.streams.iter().position(|used| *used == stream) {
            usage.streams.swap_remove(index);
        }
    }

    /// Sees to it that a block may be made, which then counts as lent; or finds a free one that was
    /// made for another stream.
    fn make_room(&self, timeline: &Timeline, bytes: u64) -> Result<Option<PoolBlock>> {
        let mut state = self.lock();
        let mut given_back = Vec::new();
        if !self.limits.allows(state.usage.reserved, bytes)
            && let Some(block) = state.pop_of(timeline.id(), bytes)
        {
            return Ok(Some(self.use_free(&mut state, block, timeline)));
        }
        // What is free is given back only where that helps.
        let is_possible = self.limits.allows(state.usage.used, bytes);
        while !self.limits.allows(state.usage.reserved, bytes) {
            let Some(block) = is_possible.then(|| state.pop_any()).flatten() else {
                let (limits, usage) = (self.limits, &state.usage);
                let error = limits.exhausted(&self.name, usage, &self.table, timeline, bytes);
                drop(state);
                let released = self.release_each(given_back);
                return Err(released.err().unwrap_or(error));
            };
            state.free_bytes -= block.range().bytes;
            state.usage.reserved -= block.range().bytes;
            given_back.push(block);
        }
        state.usage.reserved += bytes;
        self.count_use(&mut state.usage, timeline, bytes);
        drop(state);
        if !given_back.is_empty() {
            // So that the driver can give the new block what the old ones had.
            let released = self.release_each(given_back);
            let freed = self.reclaim.open_point();
            let bound = timeline.bind();
            let ready = released.and(bound.map_err(Error::from));
            if let Err(error) = ready.and_then(|()| timeline.wait(&self.table, freed)) {
                self.forget(timeline, bytes);
                return Err(error);
            }
        }
        Ok(None)
    }

    /// Takes a block off the books that was to be made, and was not.
    fn forget(&self, timeline: &Timeline, bytes: u64) {
        let usage = &mut self.lock().usage;
        usage.reserved -= bytes;
        self.count_return(usage, timeline.id(), bytes);
    }

    /// Gives a block that was free to its new owner: the stream comes after its uses then. `ready` says that it did
    /// before.
    fn hand_over(&self, block: &mut Block, timeline: &Timeline, ready: bool) -> Result<()> {
        if !ready {
            block.retire(timeline, &self.table)?;
        }
        // SAFETY: the block is allocated, its last owner is gone, and this stream comes after all that
        // its owner had queued: `retire` has seen to it, or it did before.
        unsafe { self.table.driver().recycle(timeline.raw(), block.range()) }?;
        block.allocated_on(timeline);
        Ok(())
    }

    /// A new block; there is room for it.
    fn make(self: &Arc<Self>, timeline: &Timeline, bytes: u64) -> Result<PoolBlock> {
        let made = self.make_block(timeline, bytes);
        if made.is_err() {
            self.forget(timeline, bytes);
        }
        made
    }

    fn make_block(self: &Arc<Self>, timeline: &Timeline, bytes: u64) -> Result<PoolBlock> {
        let driver = self.table.driver();
        // SAFETY: the timeline owns its stream.
        let allocate = || unsafe { driver.allocate(timeline.raw(), bytes) };
        let range = match allocate() {
            Err(DriverError::OutOfMemory { .. }) if self.lock().free_bytes > 0 => {
                // What is only kept for later is worth less than this allocation. Rare, and the host
                // waits, so it is said.
                let device = self.device;
                tracing::warn!(%device, bytes, "out of memory: giving free memory back and trying again");
                self.release_all()?;
                self.reclaim.synchronize(&self.table)?;
                driver.trim(self.device, 0)?;
                allocate()?
            }
            other => other?,
        };
        let mut block = Block::new(self.table.platform(), self.device, range);
        block.allocated_on(timeline);
        Ok(PooledBlock::new(block, timeline.id(), self))
    }

    /// Gives a block back to the driver once all its uses are complete, without waiting for that.
    fn release(&self, block: &mut Block) -> Result<()> {
        if self.table.driver().sticky_error().is_some() {
            return Ok(());
        }
        self.reclaim.bind()?;
        block.retire(&self.reclaim, &self.table)?;
        // SAFETY: the block was allocated by this driver, its owner and its place in the free list
        // are gone, and the reclaim stream waits for all its uses.
        unsafe { self.table.driver().free(self.reclaim.raw(), block.range()) }?;
        Ok(())
    }

    fn release_all(&self) -> Result<()> {
        let mut state = self.lock();
        state.usage.reserved -= std::mem::take(&mut state.free_bytes);
        let free = std::mem::take(&mut state.free);
        drop(state);
        self.release_each(free.into_iter().flat_map(|mut list| list.take_all()))
    }

    fn release_each(&self, blocks: impl IntoIterator<Item = PoolBlock>) -> Result<()> {
        blocks.into_iter().map(|mut block| self.release(&mut block)).fold(Ok(()), Result::and)
    }

    pub(super) fn lock(&self) -> Held<'_, PoolState<Self>> {
        self.state.lock()
    }
}

impl BlockPool for MemoryPool {
    fn give_back(mut block: PoolBlock) {
        // SAFETY: used until the block is in a list and its lock is given up, or else before it is dropped.
        let pool: &Self = unsafe { block.pool() };
        let (stream, bytes) = (block.stream, block.range().bytes);
        let closed = block.close_uses(&pool.table, stream);
        // After a sticky error nothing is recorded any more, and that was reported once.
        if closed.is_err() && pool.table.driver().sticky_error().is_none() {
            report_in_drop("recording the last uses of memory", closed);
        }
        let mut state = pool.lock();
        pool.count_return(&mut state.usage, stream, bytes);
        if !state.closed && state.free_bytes.saturating_add(bytes) <= pool.release_threshold {
            state.free_bytes += bytes;
            return state.of(stream).of(bytes).push_back(block);
        }
        state.usage.reserved -= bytes;
        drop(state);
        report_in_drop("freeing device memory", pool.release(&mut block));
    }

    fn close(&self) {
        self.lock().closed = true;
        report_in_drop("freeing a device's memory", self.release_all());
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        self.table.return_stream(self.reclaim.clone());
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool").field("device", &self.device).finish_non_exhaustive()
    }
}
