//! Device memory: who gets which block, and when (law 9).
//!
//! A dropped block goes to the free list of the stream that it was allocated for, uses and all. The
//! next allocation of that size for that stream takes a block whose uses come earlier on the stream
//! anyway, if there is one. Else a new block is made, until [`MemoryOptions::in_flight`] blocks wait
//! for their users; from then on the oldest is taken, and the stream of its *new* owner waits. So the
//! steady state needs no driver, memory is bounded, and a drop never makes anybody wait.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Block;
use super::owned::{FreeList, Home, Owned};
use crate::driver::{DeviceId, DriverError, DriverResult, Note, StreamOptions, report_in_drop};
use crate::error::Result;
use crate::stream::{CudaStream, StreamTable, Timeline};

/// Sizes are rounded up to this many bytes, so that almost equal ones share blocks.
const GRANULE: u64 = 512;

/// How a platform manages device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryOptions {
    /// How many freed blocks of one size and stream may still be in use by the device before an
    /// allocation waits for the oldest instead of taking more memory. More lets the host run further
    /// ahead; 2, the default, is double buffering.
    pub in_flight: usize,
    /// How many bytes of freed memory to keep for later allocations; what is above goes back to the
    /// driver. The default keeps everything.
    pub release_threshold: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { in_flight: 2, release_threshold: u64::MAX }
    }
}

/// The memory of one device.
pub(crate) struct MemoryPool {
    table: Arc<StreamTable>,
    device: DeviceId,
    options: MemoryOptions,
    /// Frees what goes back to the driver, so that no stream of a user waits for that.
    reclaim: Arc<Timeline>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By stream number.
    free: Vec<FreeList>,
    free_bytes: u64,
}

impl MemoryPool {
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
    ) -> DriverResult<Arc<Self>> {
        let reclaim = table.take(device, StreamOptions::default())?;
        let state = Mutex::default();
        Ok(Arc::new(Self { table: table.clone(), device, options, reclaim, state }))
    }

    /// Memory whose first use may be queued on `stream`, which is one of this device.
    #[track_caller]
    pub(super) fn allocate(
        self: &Arc<Self>,
        stream: &CudaStream,
        bytes: u64,
    ) -> Result<Owned<Self>> {
        let timeline = stream.timeline();
        timeline.bind()?;
        self.table.tell(&Note::At(Location::caller()));
        let bytes = bytes.max(1).next_multiple_of(GRANULE);
        let block = match self.reuse(timeline, bytes)? {
            Some(block) => block,
            None => self.make(timeline, bytes)?,
        };
        Ok(Owned::new(block, timeline.id(), self))
    }

    fn reuse(&self, timeline: &Timeline, bytes: u64) -> Result<Option<Box<Block>>> {
        let mut state = self.lock();
        let blocks = state.of(timeline.id()).of(bytes);
        let ready = blocks.iter_mut().position(|block| block.is_ordered_before(timeline));
        let index = match ready {
            Some(index) => index,
            None if blocks.len() >= self.options.in_flight.max(1) => 0,
            None => return Ok(None),
        };
        // Nearly always the oldest, and that is cheaper to take.
        let taken = if index == 0 { blocks.pop_front() } else { blocks.remove(index) };
        let Some(mut block) = taken else { return Ok(None) };
        if let Err(error) = self.hand_over(&mut block, timeline) {
            blocks.push_back(block);
            return Err(error);
        }
        state.free_bytes -= bytes;
        Ok(Some(block))
    }

    fn hand_over(&self, block: &mut Block, timeline: &Timeline) -> Result<()> {
        block.retire(timeline, &self.table)?;
        // SAFETY: the block is allocated, its last owner is gone, and `retire` has ordered this
        // stream after all that its owner had queued.
        unsafe { self.table.driver().recycle(timeline.raw(), block.range()) }?;
        block.allocated_on(timeline);
        Ok(())
    }

    fn make(&self, timeline: &Timeline, bytes: u64) -> Result<Box<Block>> {
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
                self.reclaim.synchronize()?;
                driver.trim(self.device, 0)?;
                allocate()?
            }
            other => other?,
        };
        let mut block = Block::new(self.table.platform(), self.device, range);
        block.allocated_on(timeline);
        Ok(Box::new(block))
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
        state.free_bytes = 0;
        let free = std::mem::take(&mut state.free);
        drop(state);
        let blocks = free.into_iter().flat_map(|mut list| list.take_all());
        blocks.map(|mut block| self.release(&mut block)).fold(Ok(()), Result::and)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&mut self, stream: u32) -> &mut FreeList {
        let stream = stream as usize;
        if self.free.len() <= stream {
            self.free.resize_with(stream + 1, FreeList::default);
        }
        &mut self.free[stream]
    }
}

impl Home for MemoryPool {
    fn give_back(&self, stream: u32, mut block: Box<Block>) {
        let closed = block.close_uses(&self.table, stream);
        // After a sticky error nothing is recorded any more, and that was reported once.
        if closed.is_err() && self.table.driver().sticky_error().is_none() {
            report_in_drop("recording the last uses of memory", closed);
        }
        let mut state = self.lock();
        let bytes = block.range().bytes;
        if state.free_bytes.saturating_add(bytes) <= self.options.release_threshold {
            state.free_bytes += bytes;
            state.of(stream).of(bytes).push_back(block);
            return;
        }
        drop(state);
        report_in_drop("freeing device memory", self.release(&mut block));
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        report_in_drop("freeing a device's memory", self.release_all());
        self.table.give_back(self.reclaim.clone());
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool").field("device", &self.device).finish_non_exhaustive()
    }
}
