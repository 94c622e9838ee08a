//! Law 9: Memory is freed after its last use.
//!
//! The pools of device memory. A pool chooses a block for an allocation, and frees blocks. `hand_over` makes each reuse of
//! a block come after the block's earlier uses, and `release` makes each free come after them.
//!
//! A dropped block goes to the free list of the stream that it was allocated for, together with its uses. The next
//! allocation of that size for that stream [reuses a block](super::reuse) whose uses come earlier on the stream, if there
//! is one. Else the pool allocates a new block, unless the device may still use [`MemoryOptions::in_flight`] free blocks.
//! In that case the allocation reuses the oldest block, and the stream of the *new* owner waits for that block's uses. So
//! memory is bounded, the steady state allocates none, and a drop neither waits nor makes a user's stream wait, unless a
//! call of the driver has failed.
//!
//! A pool that has reached its [limits](MemoryLimits) takes a free block of any stream, then returns free blocks
//! of other sizes to the driver, and only then reports that it is exhausted.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::Block;
use super::border::Border;
use super::limits::{MemoryLimits, MemoryOptions};
use super::platform_pools::Pools;
use super::pool_state::{PoolState, PoolUsage};
use super::pooled::{BlockPool, OwnedBlock, PoolHandle, PooledBlock, Reused};
use super::rotation::Turn;
use crate::driver::{
    DeviceId, DriverResult, Listeners, MemorySource, Note, first_error, is_inside_a_body,
    report_in_drop, report_unless_refused,
};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock};
use crate::stream::{CudaStream, PlatformNumber, StreamTable, Timeline};
use crate::sync::Mutex;

/// The name of the freeing of blocks, in log lines about a failure of it.
pub(super) const FREEING: &str = "freeing device memory";

/// A block of device memory, with its pool.
pub(super) type DeviceBlock = Box<PooledBlock<MemoryPool>>;

/// A pool of the memory of one device, with or without limits.
pub(crate) struct MemoryPool {
    pub(super) table: Arc<StreamTable>,
    device: DeviceId,
    /// The name of the pool in error texts.
    name: String,
    pub(super) limits: MemoryLimits,
    pub(super) options: MemoryOptions,
    pub(super) release_threshold: u64,
    /// The pool's own stream, on which blocks are freed: so a drop makes no stream of the program wait.
    pub(super) reclaim: Arc<Timeline>,
    /// CUDA's number of the device. `None` on the simulator, where memory is host memory.
    #[cfg_attr(not(feature = "dlpack"), allow(dead_code, reason = "only DLPack names devices"))]
    pub(super) ordinal: Option<u32>,
    /// Whether the driver can make a stream wait for all work of the device, that of other code included. Without this the pool
    /// could not take lent memory back.
    pub(super) waits_for_device: bool,
    pub(super) border: Border,
    state: Lock<PoolState<Self>>,
    /// The mutex that a thread holds while it frees blocks to make room for a new block, or takes the room of blocks that are
    /// being freed. Until these frees are queued, the memory counts neither as free nor as room, and another thread would not
    /// find it. A thread locks this mutex before `state`, and no drop locks it.
    pub(super) releasing: Mutex<()>,
    /// The schedulers whose nodes wait until this pool has free memory.
    listeners: Listeners,
}

impl MemoryPool {
    /// A pool without limits.
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
    ) -> DriverResult<PoolHandle<Self>> {
        let pool = Self::limited(table, device, options, "", MemoryLimits::unbounded())?;
        Pools::of(table).of_device(device).set_own(Arc::<Self>::downgrade(pool.pool()));
        Ok(pool)
    }

    pub(super) fn limited(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
        name: &str,
        limits: MemoryLimits,
    ) -> DriverResult<PoolHandle<Self>> {
        let info = table.driver().device_info(device)?;
        let pool = PoolHandle::new(Self {
            table: table.clone(),
            device,
            name: name.to_owned(),
            limits,
            options,
            release_threshold: limits.kept_at_most(options.release_threshold),
            reclaim: table.take_for_memory(device)?,
            ordinal: info.ordinal,
            waits_for_device: info.waits_for_device,
            border: Border::default(),
            state: Lock::default(),
            releasing: Mutex::new(()),
            listeners: Listeners::default(),
        });
        let weak = Arc::downgrade(pool.pool());
        Pools::of(table).of_device(device).add(weak);
        let initial = limits.initial();
        if initial > 0 {
            pool.reclaim.bind()?;
            let (driver, stream) = (table.driver(), pool.reclaim.raw());
            // The driver keeps the freed memory for later allocations. SAFETY: the timeline owns its stream. The memory is freed
            // at once on the same stream, and no other code gets its address.
            unsafe {
                driver.free(stream, driver.allocate(stream, initial, MemorySource::Unused)?)
            }?;
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
        self.lock().used()
    }

    /// The schedulers that are woken when memory of this pool is returned.
    pub(super) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    pub(super) fn reserved(&self) -> u64 {
        self.lock().usage.reserved.max(self.limits.initial())
    }

    /// Allocates a block. The caller may queue the first use on `stream`, which is a stream of this pool's device.
    #[track_caller]
    pub(super) fn allocate(
        self: &Arc<Self>,
        stream: &CudaStream,
        bytes: u64,
    ) -> Result<OwnedBlock<Self>> {
        let timeline = stream.timeline();
        timeline.ready()?;
        self.table.observe(&Note::At(Location::caller()));
        let bytes = self.limits.block_for(bytes, &self.name)?;
        self.take_lent_back();
        let turn = Turn::now(&self.table);
        let Some(reused) = self.reuse(timeline, bytes, turn) else {
            return self.allocate_anew(timeline, bytes, turn);
        };
        self.hand_over(reused, timeline, turn)
    }

    /// Counts a block as in use. The caller has taken the block out of a list of free blocks.
    #[inline]
    pub(super) fn mark_in_use(
        &self,
        state: &mut PoolState<Self>,
        mut block: DeviceBlock,
        timeline: &Timeline,
    ) -> DeviceBlock {
        let bytes = block.range().bytes;
        block.stream = timeline.id();
        state.free_bytes -= bytes;
        self.count_use(&mut state.usage, timeline);
        block
    }

    #[inline]
    pub(super) fn count_use(&self, usage: &mut PoolUsage, timeline: &Timeline) {
        if self.limits.is_bounded() {
            usage.lent(timeline.id());
        }
    }

    #[inline]
    pub(super) fn count_return(&self, usage: &mut PoolUsage, stream: u32) {
        if self.limits.is_bounded() {
            usage.returned(stream);
        }
        // The listeners are raised while the caller holds the lock of the state: after the unlock, the pool may be dropped.
        self.listeners.raise_if_awaited();
    }

    /// Prepares a free block for its new owner. If the block is ready, the stream already comes after the block's uses,
    /// or these uses are complete. If the block is not ready, this function makes the stream wait for its uses.
    #[inline(always)]
    pub(super) fn hand_over(
        &self,
        Reused { block, is_ready }: Reused<Self>,
        timeline: &Timeline,
        turn: Option<Turn>,
    ) -> Result<OwnedBlock<Self>> {
        // If a later step fails, the drop of `owned` returns the block to the pool.
        let mut owned = OwnedBlock::new(block);
        owned.set_turn(turn);
        let block = owned.block_mut();
        if !is_ready {
            block.wait_for_uses(timeline, &self.table)?;
        } else if self.table.is_watched() {
            block.rely_on_uses(timeline, &self.table);
        }
        // SAFETY: the block is allocated, and its last owner has dropped it. All work that the last owner had queued is
        // complete, or this stream comes after that work: by `wait_for_uses`, or already before.
        unsafe { self.table.driver().observer().recycle(timeline.raw(), block.range()) }?;
        block.allocated_on(timeline);
        Ok(owned)
    }

    /// Returns a block to the driver after all its uses, without blocking the host.
    ///
    /// If the reclaim stream can't be made to wait for the uses, the host waits for them: the block has no owner any
    /// more, and no other code would free it.
    pub(super) fn release(&self, block: &mut Block) -> Result<()> {
        let driver = self.table.driver();
        if driver.sticky_error().is_some() {
            return Ok(());
        }
        let is_lost = |done: &Result<()>| done.is_err() && driver.sticky_error().is_some();
        let mut ready = self.reclaim.bind().map_err(Error::from);
        if is_lost(&ready) {
            return ready;
        }
        let ordered = block.wait_for_uses(&self.reclaim, &self.table);
        let has_failed = ordered.is_err();
        ready = first_error(FREEING, ready, ordered);
        if is_lost(&ready) {
            return ready;
        }
        if has_failed && let Err(error) = block.wait_for_streams(&self.table) {
            return first_error(FREEING, ready, Err(error));
        }
        // SAFETY: this driver allocated the block. The block has no owner and is in no free list, and the reclaim stream or
        // the host has waited for all its uses.
        let freed = unsafe { driver.free(self.reclaim.raw(), block.range()) };
        first_error(FREEING, ready, freed.map_err(Error::from))
    }

    /// Releases a returned block that the pool does not keep.
    #[inline(never)]
    fn release_returned(&self, mut block: DeviceBlock) {
        let (stream, bytes) = (block.stream, block.range().bytes);
        let released = self.release(&mut block);
        // A refusal after a sticky error is not reported here: the call that found the sticky error reports it.
        if !released.as_ref().is_err_and(Error::is_refusal) {
            report_in_drop(FREEING, released);
        }
        // The counts change only after the free was queued. So a new block that takes this room comes after the free.
        let mut state = self.lock();
        state.usage.reserved -= bytes;
        state.usage.freed = state.usage.freed.saturating_add(bytes);
        self.count_return(&mut state.usage, stream);
    }

    /// Releases all free blocks.
    pub(super) fn release_all(&self) -> Result<()> {
        let blocks = self.lock().take_to_free(u64::MAX);
        self.release_each(blocks)
    }

    pub(super) fn release_each(&self, blocks: impl IntoIterator<Item = DeviceBlock>) -> Result<()> {
        let mut released = Ok(());
        for mut block in blocks {
            // After the failure of one block's free, the loop goes on with the other blocks.
            released = first_error(FREEING, released, self.release(&mut block));
        }
        released
    }

    pub(super) fn lock(&self) -> Held<'_, PoolState<Self>> {
        self.state.lock()
    }
}

impl BlockPool for MemoryPool {
    fn return_block(mut block: DeviceBlock) {
        if block.is_foreign() {
            return block.return_to_owner();
        }
        // SAFETY: this function does not use the pool after it has put the block into a list and released the list's lock, nor
        // after it has dropped the block.
        let pool: &Self = unsafe { block.pool() };
        let (stream, bytes) = (block.stream, block.range().bytes);
        let closed = block.close_uses(&pool.table, stream);
        let is_ready = match closed {
            Ok(is_on_own) => is_on_own,
            Err(error) => {
                report_unless_refused("recording the last uses of memory", Err(error));
                false
            }
        };
        let mut state = pool.lock();
        // While the simulator executes a kernel's Rust body, no memory can be freed. A block above the release threshold that
        // is returned there stays in the pool, until it is reused or another allocation needs the memory.
        let is_kept = state.free_bytes.saturating_add(bytes) <= pool.release_threshold;
        if !state.closed && (is_kept || is_inside_a_body()) {
            state.free_bytes += bytes;
            let class = state.free_of(stream).size_class(bytes);
            if is_ready {
                class.put_back_ready(block);
            } else {
                class.put_back(block);
            }
            return pool.count_return(&mut state.usage, stream);
        }
        drop(state);
        pool.release_returned(block);
    }

    fn close(&self) {
        self.close_lent();
        self.finish_returning();
        self.lock().closed = true;
        report_in_drop("freeing a device's memory", self.release_all());
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        self.finish_returning();
        self.table.return_memory_stream(self.reclaim.clone());
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool").field("device", &self.device).finish_non_exhaustive()
    }
}
