//! The pools of page-locked host memory. This memory is pooled, because freeing it synchronises the device.
//!
//! A pool keeps each returned block for the next owner. A pool frees blocks only where a program expects a wait: when a new
//! block would exceed [`MemoryOptions::pinned_limit`], when the system has no memory, at the end of a run, in
//! [`Platform::trim`](crate::Platform::trim), and when the pool is closed. The thread that frees a block holds no lock.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::free_list::FreeList;
use super::platform_pools::{HostPool, Pools};
use super::pooled::{BlockPool, OwnedBlock, PoolHandle, PooledBlock};
use super::rotation::{Bounds, Turn};
use super::sizes::{block_size, round_up};
use super::{Block, MemoryOptions};
use crate::driver::{
    AccessMode, DeviceId, DriverError, DriverResult, MemoryRange, Note, SourceLocation,
    first_error, promise, report_in_drop,
};
use crate::error::{Error, Result};
use crate::lock::{Held, Lock};
use crate::stream::{Awaited, CudaStream, StreamTable};
use crate::sync::yield_now;
use crate::turns;

/// The name of the freeing of blocks, in log lines about a failure of it.
const FREEING: &str = "freeing page-locked memory";

/// The number of bytes that all block sizes are multiples of: the smallest page size of any machine. Some AArch64 machines
/// have pages of 64 KiB. There limits count the size that was requested from the driver, and not whole pages.
const PAGE: u64 = 4096;

/// The page-locked memory of one device.
pub(crate) struct PinnedPool {
    table: Arc<StreamTable>,
    device: DeviceId,
    /// The number of free blocks of one size from which on a stream reuses the oldest of them, and waits for its uses, instead
    /// of taking a new block.
    in_flight: usize,
    /// The most bytes that all blocks of the pool together may have.
    limit: u64,
    free: Lock<Free>,
    /// The asynchronous tasks that await downloads to memory of this pool.
    awaited: Arc<Awaited>,
}

#[derive(Default)]
struct Free {
    blocks: FreeList<PinnedPool>,
    /// The bytes of the blocks that have an owner, and of the blocks that a thread is allocating.
    used: u64,
    /// The bytes of all blocks, including the blocks that a thread is allocating or freeing.
    reserved: u64,
    /// Whether the pool is closed: returned blocks are then freed, and not kept.
    closed: bool,
}

/// The result of `make`: a new block, or a free block that the device may still use.
struct Made {
    block: OwnedBlock<PinnedPool>,
    is_new: bool,
}

impl Free {
    /// Counts the bytes of a block that the caller will allocate, if the limit has room for them. Returns whether it has.
    fn reserve(&mut self, bytes: u64, limit: u64) -> bool {
        let has_room = self.reserved.saturating_add(bytes) <= limit;
        if has_room {
            self.reserved += bytes;
            self.used += bytes;
        }
        has_room
    }
}

impl PinnedPool {
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
    ) -> PoolHandle<Self> {
        let free = Lock::default();
        let (table, awaited) = (table.clone(), Arc::default());
        let MemoryOptions { in_flight, pinned_limit: limit, .. } = options;
        let in_flight = in_flight.max(1);
        PoolHandle::new(Self { table, device, in_flight, limit, free, awaited })
    }

    /// Makes this pool the pool from which all streams of its device take page-locked memory.
    pub(crate) fn publish(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        Pools::of(&self.table).of_device(self.device).set_pinned(weak);
    }

    /// The pool of a stream's device. After the platform was dropped, returns a new pool, which frees its blocks when they are
    /// returned.
    pub(super) fn of(stream: &CudaStream) -> Arc<Self> {
        let (table, device) = (stream.table(), stream.device());
        let pool = Pools::of(table).of_device(device).pinned();
        pool.unwrap_or_else(|| {
            Self::new(table, device, MemoryOptions::new().in_flight(1)).pool().clone()
        })
    }

    pub(super) fn table(&self) -> &Arc<StreamTable> {
        &self.table
    }

    pub(super) fn awaited(&self) -> &Arc<Awaited> {
        &self.awaited
    }

    /// The size of the block for a request of this many bytes. If the request is within the limit, so is the rounded size.
    #[inline]
    fn block_size(&self, bytes: u64) -> u64 {
        block_size(bytes, PAGE).min(self.limit).max(round_up(bytes.max(1), PAGE))
    }

    /// Returns a block whose uses are all complete, so that the host may access the memory at once.
    #[track_caller]
    pub(super) fn for_host(self: &Arc<Self>, bytes: u64) -> Result<OwnedBlock<Self>> {
        let bytes = self.block_size(bytes);
        let turn = Turn::now(&self.table);
        if let Some(turn) = turn
            && let Some(block) = self.for_host_in_turn(bytes, turn)?
        {
            return Ok(block);
        }
        let (free, mut first) = {
            let mut free = self.lock();
            let class = free.blocks.size_class(bytes);
            if turn.is_none() {
                class.end_turns();
            }
            (class.blocks.len(), class.blocks.pop_front())
        };
        for index in 0..free {
            let next = || self.lock().blocks.size_class(bytes).blocks.remove(index);
            let Some(mut block) = first.take().or_else(next) else { break };
            // The pool's lock is not held during this call, because the call queries the driver.
            let complete = block.is_complete(&self.table, AccessMode::Write);
            if let Ok(true) = complete {
                self.touched(block.range(), AccessMode::Write, Location::caller());
                block.turn = turn;
                return Ok(self.hand_out(block));
            }
            let mut free = self.lock();
            let blocks = &mut free.blocks.size_class(bytes).blocks;
            // The block goes back to its old index: the oldest block is reused first.
            blocks.insert(index.min(blocks.len()), block);
            complete?;
        }
        let made = self.make(bytes, turn)?;
        if !made.is_new {
            made.block.wait(&self.table, AccessMode::Write)?;
            made.block.renew();
            self.touched(made.block.range(), AccessMode::Write, Location::caller());
        }
        Ok(made.block)
    }

    /// Returns a block whose uses are all complete from the tick's set of blocks, in a replayed tick. `None` if the set has no
    /// such block.
    #[track_caller]
    fn for_host_in_turn(
        self: &Arc<Self>,
        bytes: u64,
        turn: Turn,
    ) -> Result<Option<OwnedBlock<Self>>> {
        for nth in 0.. {
            let block = self.lock().blocks.size_class(bytes).take_nth(turn, self.in_flight, nth);
            let Some(mut block) = block else { break };
            // The pool's lock is not held during this call, because the call may query the driver.
            let is_done = block.is_complete(&self.table, AccessMode::Write);
            if let Ok(true) = is_done {
                self.touched(block.range(), AccessMode::Write, Location::caller());
                block.turn = Some(turn);
                return Ok(Some(self.hand_out(block)));
            }
            self.lock().blocks.size_class(bytes).put_nth(turn, nth, block);
            is_done?;
        }
        Ok(None)
    }

    /// Counts a block as in use. The caller has taken the block out of the list of free blocks.
    fn hand_out(&self, block: Box<PooledBlock<Self>>) -> OwnedBlock<Self> {
        self.lock().used += block.range().bytes;
        block.renew();
        OwnedBlock::new(block)
    }

    /// Returns a block that a copy on `stream` may write: the stream comes after all earlier uses of the block.
    pub(super) fn for_stream(
        self: &Arc<Self>,
        stream: &CudaStream,
        bytes: u64,
    ) -> Result<OwnedBlock<Self>> {
        let bytes = self.block_size(bytes);
        let timeline = stream.timeline();
        let turn = Turn::now(&self.table);
        let mut free = self.lock();
        let class = free.blocks.size_class(bytes);
        let mut ready = None;
        let block = if let Some(turn) = turn {
            let ticks = self.in_flight;
            let bounds = Bounds { ticks, blocks: ticks, may_grow: true };
            class.take_in_turn(turn, timeline.id(), bounds)
        } else {
            class.end_turns();
            let blocks = &mut class.blocks;
            ready = blocks.iter_mut().position(|block| block.is_ordered_before(timeline));
            let index = ready.or((blocks.len() >= self.in_flight).then_some(0));
            index.and_then(|index| blocks.remove(index))
        };
        if block.is_some() {
            free.used += bytes;
        }
        drop(free);
        let mut owned = match block {
            Some(mut block) => {
                block.turn = turn;
                OwnedBlock::new(block)
            }
            None => self.make(bytes, turn)?.block,
        };
        // If the stream does not come after the block's earlier uses yet, the stream waits for them. So the copy comes after
        // these uses, and the block's next use comes after the copy.
        if ready.is_none() {
            owned.block_mut().wait_for_uses(timeline, &self.table)?;
        }
        owned.block_mut().allocated_on(timeline);
        Ok(owned)
    }

    /// Allocates a new block. If the limit has no room for a new block, takes a free block, which the device may still use.
    #[inline(never)]
    fn make(self: &Arc<Self>, bytes: u64, turn: Option<Turn>) -> Result<Made> {
        if let Some(mut block) = self.reserve(bytes)? {
            block.turn = turn;
            return Ok(Made { block: OwnedBlock::new(block), is_new: false });
        }
        let range = self.allocate(bytes).inspect_err(|_| {
            let mut free = self.lock();
            free.used -= bytes;
            free.reserved -= bytes;
        })?;
        // SAFETY: the memory was just allocated with this length, and no other code has its address yet. The driver's memory
        // is uninitialised in Rust's sense. This write initialises it.
        unsafe { std::ptr::write_bytes(range.address as *mut u8, 0, range.bytes as usize) };
        let block = Block::new(self.table.platform(), self.device, range);
        let mut pooled = PooledBlock::new(block, 0, self);
        pooled.turn = turn;
        Ok(Made { block: OwnedBlock::new(pooled), is_new: true })
    }

    /// Counts a new block as in use, and returns `None`. If the limit has no room for a new block, returns a free block of this
    /// size instead. If there is none, frees blocks of other sizes, the largest first, until there is room for a new block.
    ///
    /// # Errors
    /// [`Error::PinnedExhausted`]; the driver's.
    fn reserve(&self, bytes: u64) -> Result<Option<Box<PooledBlock<Self>>>> {
        loop {
            let mut free = self.lock();
            if free.reserve(bytes, self.limit) {
                return Ok(None);
            }
            let same = free.blocks.size_class(bytes).pop();
            if same.is_some() {
                free.used += bytes;
                return Ok(same);
            }
            if free.used.saturating_add(bytes) > self.limit {
                let (used, limit, device) = (free.used, self.limit, self.device);
                return Err(Error::PinnedExhausted { device, requested: bytes, used, limit });
            }
            let large = free.blocks.pop_large();
            drop(free);
            match large {
                Some(block) => self.give_back(&block)?,
                // The list is empty, because another thread has taken a free block out of it, to examine or to free the block.
                None => {
                    turns::yield_turn();
                    yield_now();
                }
            }
        }
    }

    /// Allocates memory from the driver. If the driver has no memory, frees the free page-locked memory of all devices, because
    /// all of it is memory of the same host, and then calls the driver again.
    fn allocate(&self, bytes: u64) -> Result<MemoryRange> {
        let driver = self.table.driver();
        self.table.bind(self.device)?;
        let made = driver.allocate_pinned(self.device, bytes);
        let check = |range| promise::check_allocated("allocate_pinned", self.device, bytes, range);
        let Err(DriverError::OutOfMemory { .. }) = made else { return Ok(made.and_then(check)?) };
        let device = self.device;
        tracing::warn!(%device, bytes, "out of page-locked memory: freeing what is free");
        let pools = Pools::of(&self.table).pinned();
        pools.iter().try_for_each(|pool| pool.give_back_free(0).map(drop))?;
        self.table.bind(self.device)?;
        Ok(driver.allocate_pinned(self.device, bytes).and_then(check)?)
    }

    /// Waits for the uses of a block that is in no list of free blocks, and frees the block.
    fn give_back(&self, block: &Block) -> Result<()> {
        let waited = block.wait(&self.table, AccessMode::Write);
        let freed = waited.and_then(|()| self.free(block));
        // The count falls even if the free has failed, because the block is in no list any more.
        self.lock().reserved -= block.range().bytes;
        freed
    }

    /// Puts a block back into the list of free blocks, or frees the block if the pool is closed. `used` is the number of bytes
    /// of the block that still count as in use: all or 0.
    fn take_back(&self, block: Box<PooledBlock<Self>>, used: u64) {
        let bytes = block.range().bytes;
        let mut free = self.lock();
        free.used -= used;
        if !free.closed {
            return free.blocks.size_class(bytes).put_back(block);
        }
        free.reserved -= bytes;
        drop(free);
        self.free_in_drop(&block);
    }

    pub(super) fn touched(&self, range: MemoryRange, mode: AccessMode, location: SourceLocation) {
        self.table.observe(&Note::HostAccess { range, mode, location });
    }

    /// Frees a block whose uses are all complete.
    fn free(&self, block: &Block) -> Result<()> {
        let driver = self.table.driver();
        let bound: DriverResult<()> = self.table.bind(self.device);
        if bound.is_err() && driver.sticky_error().is_some() {
            return Ok(bound?);
        }
        // The block is freed even if binding the device has failed: the driver finds the context by the address, and no other
        // code would free the memory. SAFETY: this driver allocated the block. The block has no owner and is in no free list,
        // and all its uses are complete.
        let freed = unsafe { driver.free_pinned(self.device, block.range()) };
        Ok(first_error(FREEING, bound, freed)?)
    }

    /// Waits for the uses of a block that a closed pool does not keep, and frees the block. Only logs errors.
    fn free_in_drop(&self, block: &Block) {
        let is_lost = || self.table.driver().sticky_error().is_some();
        if is_lost() {
            return;
        }
        let mut complete = block.wait(&self.table, AccessMode::Write);
        if complete.is_err() {
            report_in_drop(FREEING, complete);
            if is_lost() {
                return;
            }
            complete = block.wait_for_streams(&self.table);
        }
        report_in_drop(FREEING, complete.and_then(|()| self.free(block)));
    }

    fn lock(&self) -> Held<'_, Free> {
        self.free.lock()
    }
}

impl HostPool for PinnedPool {
    /// Frees free blocks, the largest first, until at most `keep` bytes are free. Waits for the uses of each block first.
    /// Returns the number of freed bytes. After an error the other blocks stay free in the pool. The block whose free failed
    /// is lost: the driver may or may not have freed it.
    fn give_back_free(&self, keep: u64) -> Result<u64> {
        let mut blocks = Vec::new();
        let mut free = self.lock();
        let mut left = free.reserved - free.used;
        while left > keep
            && let Some(block) = free.blocks.pop_large()
        {
            left = left.saturating_sub(block.range().bytes);
            blocks.push(block);
        }
        drop(free);
        let mut freed = Ok(0);
        for block in blocks {
            match freed {
                Ok(bytes) => {
                    freed = self.give_back(&block).map(|()| bytes + block.range().bytes);
                }
                Err(_) => self.take_back(block, 0),
            }
        }
        freed
    }
}

impl BlockPool for PinnedPool {
    fn return_block(block: Box<PooledBlock<Self>>) {
        // SAFETY: this function does not use the pool after it has put the block into a list and released the list's lock, nor
        // after it has dropped the block.
        let pool: &Self = unsafe { block.pool() };
        let bytes = block.range().bytes;
        pool.take_back(block, bytes);
    }

    fn close(&self) {
        let mut free = self.lock();
        free.closed = true;
        let blocks: Vec<_> = free.blocks.take_all().collect();
        free.reserved -= blocks.iter().map(|block| block.range().bytes).sum::<u64>();
        drop(free);
        blocks.iter().for_each(|block| self.free_in_drop(block));
    }
}

impl fmt::Debug for PinnedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedPool").field("device", &self.device).finish_non_exhaustive()
    }
}
