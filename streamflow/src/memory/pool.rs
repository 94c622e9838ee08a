//! Law 9: Memory is freed after its last use.
//!
//! Pools of device memory: which block an allocation gets, and how a block is freed. Both come after the block's uses:
//! `hand_over` orders a reuse, and `release` a free.
//!
//! A dropped block goes to the free list of the stream that it was allocated for, together with its uses. The
//! next allocation of that size for that stream [reuses a block](super::reuse) whose uses come earlier on the
//! stream, if there is one. Else a new block is made, until [`MemoryOptions::in_flight`] free blocks are still
//! in use by the device; from then on the oldest is reused, and the stream of its *new* owner waits for its uses.
//! So memory is bounded, the steady state allocates none, and a drop never waits and makes no user's stream wait,
//! unless a call of the driver has failed.
//!
//! A pool that has reached its [limits](MemoryLimits) takes a free block of any stream, then returns free blocks
//! of other sizes to the driver, and only then reports that it is exhausted.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::Block;
use super::foreign::border::Border;
use super::limits::{MemoryLimits, MemoryOptions};
use super::pool_state::{PoolState, PoolUsage};
use super::pooled::{BlockPool, OwnedBlock, PoolHandle, PooledBlock, Reused};
use super::rotation::Turn;
use crate::driver::{
    DeviceId, DriverError, DriverResult, Listeners, MemoryRange, MemorySource, Note, StreamOptions,
    first_error, report_in_drop, report_unless_refused,
};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock, locked};
use crate::stream::{CudaStream, PlatformNumber, StreamTable, Timeline};
use crate::sync::Mutex;

/// What fails, in the log.
const FREEING: &str = "freeing device memory";

/// A block of device memory, with its pool.
pub(super) type DeviceBlock = Box<PooledBlock<MemoryPool>>;

/// How often memory is released for one allocation: other threads may take what was released, and return other memory.
const MOST_ROUNDS: u32 = 16;

/// What an allocation is made of.
enum Place {
    /// A free block, which counts as in use.
    Block(DeviceBlock),
    /// Room for a new block, which counts as in use.
    New(MemorySource),
}

/// A pool of the memory of one device, with or without limits.
pub(crate) struct MemoryPool {
    pub(super) table: Arc<StreamTable>,
    device: DeviceId,
    /// For messages.
    name: String,
    pub(super) limits: MemoryLimits,
    pub(super) options: MemoryOptions,
    pub(super) release_threshold: u64,
    /// The stream on which blocks are freed, so that a drop makes no stream of a user wait.
    pub(super) reclaim: Arc<Timeline>,
    /// CUDA's number of the device; `None` on the simulator, whose memory is host memory.
    #[cfg_attr(not(feature = "dlpack"), allow(dead_code, reason = "only DLPack names devices"))]
    pub(super) ordinal: Option<u32>,
    pub(super) border: Border,
    state: Lock<PoolState<Self>>,
    /// Held by a thread that releases free memory for a block of its own, or takes the room of memory that is being freed:
    /// until the frees are queued, that memory is neither free nor room, and another thread that looks for some would
    /// find none. It is taken before the lock of the state, and no drop takes it.
    releasing: Mutex<()>,
    /// Schedulers whose nodes wait for free memory.
    listeners: Listeners,
}

impl MemoryPool {
    /// A pool without limits.
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
            release_threshold: limits.kept_at_most(options.release_threshold),
            reclaim: table.take(device, StreamOptions::default())?,
            ordinal: table.driver().device_info(device)?.ordinal,
            border: Border::default(),
            state: Lock::default(),
            releasing: Mutex::new(()),
            listeners: Listeners::default(),
        });
        let initial = limits.initial();
        if initial > 0 {
            pool.reclaim.bind()?;
            let (driver, stream) = (table.driver(), pool.reclaim.raw());
            // SAFETY: the timeline owns its stream. The memory is freed at once, on the same stream, and is
            // never shared: the driver keeps it for later allocations.
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

    /// The schedulers to wake when memory is given back.
    pub(super) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    pub(super) fn reserved(&self) -> u64 {
        self.lock().usage.reserved.max(self.limits.initial())
    }

    /// A block whose first use may be queued on `stream`, which is on this device.
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
        self.take_lent_back();
        let turn = Turn::now(&self.table);
        let Some(reused) = self.reuse(timeline, bytes, turn) else {
            return self.allocate_anew(timeline, bytes, turn);
        };
        self.hand_over(reused, timeline, turn)
    }

    /// An allocation for which there is no free block of its stream.
    #[inline(never)]
    fn allocate_anew(
        self: &Arc<Self>,
        timeline: &Timeline,
        bytes: u64,
        turn: Option<Turn>,
    ) -> Result<OwnedBlock<Self>> {
        match self.make_room(timeline, bytes)? {
            Place::Block(block) => {
                self.hand_over(Reused { block, is_ready: false }, timeline, turn)
            }
            Place::New(source) => {
                let mut block = self.make(timeline, bytes, source)?;
                block.turn = turn;
                Ok(OwnedBlock::new(block))
            }
        }
    }

    /// Counts a block that was free as in use.
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
    fn count_use(&self, usage: &mut PoolUsage, timeline: &Timeline) {
        if self.limits.is_bounded() {
            usage.streams.push(timeline.id());
        }
    }

    #[inline]
    fn count_return(&self, usage: &mut PoolUsage, stream: u32) {
        if self.limits.is_bounded() {
            usage.returned(stream);
        }
        // With the lock: when it is released, the pool may be gone.
        self.listeners.raise_if_awaited();
    }

    /// Makes room for a new block, which counts as in use from then on; or returns a free block that was
    /// allocated for another stream.
    fn make_room(&self, timeline: &Timeline, bytes: u64) -> Result<Place> {
        let found = self.find_place(&mut self.lock(), timeline, bytes)?;
        found.map_or_else(|| self.make_room_of_freed(timeline, bytes), Ok)
    }

    /// A free block, or room that no other block has had, or whose block the device has freed: for these an allocation waits
    /// for no other thread. `None` if free blocks must be released, or their frees be waited for.
    fn find_place(
        &self,
        state: &mut PoolState<Self>,
        timeline: &Timeline,
        bytes: u64,
    ) -> Result<Option<Place>> {
        if !self.limits.allows(state.usage.reserved, bytes) {
            if let Some(block) = state.pop_of_size(timeline.id(), bytes) {
                return Ok(Some(Place::Block(self.mark_in_use(state, block, timeline))));
            }
            // Free blocks are released only if that makes enough room. What is in use does not change while another thread
            // releases some.
            if !self.limits.allows(state.used(), bytes) {
                let (limits, usage, used) = (self.limits, &state.usage, state.used());
                return Err(limits.exhausted(
                    &self.name,
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
        Ok(Some(Place::New(MemorySource::Unused)))
    }

    /// How much of a new block would be in the room of frees that the device may not have done yet.
    fn room_of_freed(&self, usage: &PoolUsage, bytes: u64) -> u64 {
        self.limits.excess(usage.reserved.saturating_add(bytes).saturating_add(usage.freed))
    }

    /// Takes the room of free blocks, and of blocks that are being freed. It keeps invariant 9 of this module's page for
    /// several threads: `freed` counts blocks as soon as they are in no free list, and one thread at a time takes their room,
    /// when it has queued their frees.
    fn make_room_of_freed(&self, timeline: &Timeline, bytes: u64) -> Result<Place> {
        let _alone = locked(&self.releasing);
        let mut state = self.lock();
        // Memory may have been returned meanwhile.
        if let Some(place) = self.find_place(&mut state, timeline, bytes)? {
            return Ok(place);
        }
        let mut to_release = Vec::new();
        // All of them are enough, as `find_place` has seen.
        while !self.limits.allows(state.usage.reserved, bytes)
            && let Some(block) = state.pop_any()
        {
            let released = block.range().bytes;
            state.free_bytes -= released;
            state.usage.reserved -= released;
            state.usage.freed = state.usage.freed.saturating_add(released);
            to_release.push(block);
        }
        let taken = self.room_of_freed(&state.usage, bytes);
        state.usage.freed -= taken;
        state.usage.reserved += bytes;
        self.count_use(&mut state.usage, timeline);
        drop(state);
        // So that the driver can reuse their memory for the new block.
        let released = self.release_each(to_release);
        let freed = self.reclaim.open_point();
        let bound = timeline.bind();
        let ready = released.and(bound.map_err(Error::from));
        if let Err(error) = ready.and_then(|()| timeline.wait(&self.table, freed)) {
            self.undo_reservation(timeline, bytes);
            return Err(error);
        }
        Ok(Place::New(MemorySource::Freed))
    }

    /// Undoes the count of a block that could not be made.
    fn undo_reservation(&self, timeline: &Timeline, bytes: u64) {
        let usage = &mut self.lock().usage;
        usage.reserved -= bytes;
        // The next block waits for the frees that this one may have waited for.
        usage.freed = usage.freed.saturating_add(bytes);
        self.count_return(usage, timeline.id());
    }

    /// Prepares a block that was free for its new owner: makes the stream come after its uses, unless it is ready, which
    /// means that the stream already does, or that they are complete.
    #[inline(always)]
    fn hand_over(
        &self,
        Reused { block, is_ready }: Reused<Self>,
        timeline: &Timeline,
        turn: Option<Turn>,
    ) -> Result<OwnedBlock<Self>> {
        // After an error, dropping this returns the block.
        let mut owned = OwnedBlock::new(block);
        owned.set_turn(turn);
        let block = owned.block_mut();
        if !is_ready {
            block.wait_for_uses(timeline, &self.table)?;
        } else if self.table.is_watched() {
            block.rely_on_uses(timeline, &self.table);
        }
        // SAFETY: the block is allocated, its last owner has dropped it, and this stream comes after everything
        // that this owner had queued: by `wait_for_uses`, or already before; or all of it is complete.
        unsafe { self.table.driver().recycle(timeline.raw(), block.range()) }?;
        block.allocated_on(timeline);
        Ok(owned)
    }

    /// Makes a new block, which is counted already.
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
        // SAFETY: the timeline owns its stream.
        let allocate = || unsafe { driver.allocate(timeline.raw(), bytes, source) };
        let range = match allocate() {
            Err(DriverError::OutOfMemory { .. }) => self.allocate_out_of_memory(bytes, allocate)?,
            other => other?,
        };
        let mut block = Block::new(self.table.platform(), self.device, range);
        block.allocated_on(timeline);
        Ok(PooledBlock::new(block, timeline.id(), self))
    }

    /// An allocation for which the driver has no memory: it matters more than free memory.
    #[cold]
    fn allocate_out_of_memory(
        &self,
        bytes: u64,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
    ) -> Result<MemoryRange> {
        let mut rounds = 0;
        let made = self.release_and_allocate(allocate, &mut rounds);
        if rounds > 0 || made.is_ok() {
            // It is rare and blocks the host, so it is logged: without the mutex, since what logs is the user's code. In 0
            // rounds another thread had released the memory.
            let (device, made) = (self.device, made.is_ok());
            tracing::warn!(%device, bytes, rounds, made, "out of memory: tried again when free memory was released");
        }
        made
    }

    /// Releases all free memory and allocates, until that succeeds or no memory is free: then all of it is in use, and that is
    /// an error. Another thread that finds no memory waits here, and then finds what this one has released. Nothing that
    /// it holds the mutex for needs another thread: it waits for the device alone.
    fn release_and_allocate(
        &self,
        allocate: impl Fn() -> DriverResult<MemoryRange>,
        rounds: &mut u32,
    ) -> Result<MemoryRange> {
        let _alone = locked(&self.releasing);
        loop {
            // At first since another thread may just have released memory, and then since it may have taken some.
            match allocate() {
                Err(DriverError::OutOfMemory { .. })
                    if *rounds < MOST_ROUNDS && self.lock().free_bytes > 0 => {}
                done => return Ok(done?),
            }
            *rounds += 1;
            self.release_all()?;
            let freed = self.lock().usage.freed;
            self.reclaim.synchronize(&self.table)?;
            // Their frees are done. No other thread takes of them without the mutex.
            self.lock().usage.freed -= freed;
            self.table.driver().trim(self.device, 0)?;
        }
    }

    /// Returns a block to the driver after all its uses, without blocking the host.
    ///
    /// If the reclaim stream can't be made to wait for the uses, the host waits for them: the block has no owner any
    /// more, so nothing else would free it.
    fn release(&self, block: &mut Block) -> Result<()> {
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
        // SAFETY: the block was allocated by this driver, it has no owner and is in no free list, and the
        // reclaim stream or the host has waited for all its uses.
        let freed = unsafe { driver.free(self.reclaim.raw(), block.range()) };
        first_error(FREEING, ready, freed.map_err(Error::from))
    }

    /// Releases a block that was returned, and that the pool does not keep.
    #[inline(never)]
    fn release_returned(&self, mut block: DeviceBlock) {
        let (stream, bytes) = (block.stream, block.range().bytes);
        let released = self.release(&mut block);
        // Another thread may meet a sticky error meanwhile, and reports it.
        if !released.as_ref().is_err_and(Error::is_refusal) {
            report_in_drop(FREEING, released);
        }
        // After the free was queued: a block that takes its room waits for it.
        let mut state = self.lock();
        state.usage.reserved -= bytes;
        state.usage.freed = state.usage.freed.saturating_add(bytes);
        self.count_return(&mut state.usage, stream);
    }

    fn release_all(&self) -> Result<()> {
        let mut state = self.lock();
        let released = std::mem::take(&mut state.free_bytes);
        state.usage.reserved -= released;
        // Until their frees are done.
        state.usage.freed = state.usage.freed.saturating_add(released);
        let free = std::mem::take(&mut state.free);
        drop(state);
        self.release_each(free.into_iter().flat_map(|mut list| list.take_all()))
    }

    fn release_each(&self, blocks: impl IntoIterator<Item = DeviceBlock>) -> Result<()> {
        let mut released = Ok(());
        for mut block in blocks {
            // Also after a failure.
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
        // SAFETY: used until the block is in a list and the list's lock is released, or else before the block is
        // dropped.
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
        if !state.closed && state.free_bytes.saturating_add(bytes) <= pool.release_threshold {
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
        self.table.return_stream(self.reclaim.clone());
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool").field("device", &self.device).finish_non_exhaustive()
    }
}
