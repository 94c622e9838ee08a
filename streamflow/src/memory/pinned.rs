//! Page-locked host memory: the only host memory that copies can use without blocking.
//!
//! It is pooled, because freeing it synchronises the device.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::pooled::{BlockPool, FreeList, OwnedBlock, PoolHandle, PooledBlock};
use super::rotation::{Bounds, Turn};
use super::slice::has_room;
use super::{Block, Element, Shape};
use crate::driver::{
    AccessMode, DeviceId, DriverError, MemoryRange, Note, SourceLocation, first_error,
    report_in_drop,
};
use crate::error::Result;
use crate::lock::{Held, Lock};
use crate::stream::{Awaited, CudaStream, StreamTable};

/// What fails, in the log.
const FREEING: &str = "freeing page-locked memory";

/// The page-locked memory of one device.
pub(crate) struct PinnedPool {
    table: Arc<StreamTable>,
    device: DeviceId,
    /// How many free blocks of a size the device may still use before a stream waits for the oldest.
    in_flight: usize,
    free: Lock<Free>,
    /// The tasks that await downloads.
    awaited: Arc<Awaited>,
}

#[derive(Default)]
struct Free {
    blocks: FreeList<PinnedPool>,
    /// Returned blocks are freed, and not kept any more.
    closed: bool,
}

/// The pools of a platform's devices, for its streams. They own the table of the streams, so that can't own them.
pub(crate) struct PinnedPools(Box<[Weak<PinnedPool>]>);

impl PinnedPools {
    pub(crate) fn new<'a>(pools: impl Iterator<Item = &'a PoolHandle<PinnedPool>>) -> Self {
        Self(pools.map(|pool| Arc::downgrade(pool.pool())).collect())
    }

    /// The pool of a stream's device. After the platform is dropped, a pool for a single block.
    pub(super) fn of(stream: &CudaStream) -> Arc<PinnedPool> {
        let (table, device) = (stream.table(), stream.device());
        let pool = table.beside::<Self>().and_then(|pools| pools.0.get(device.index())?.upgrade());
        pool.unwrap_or_else(|| PinnedPool::new(table, device, 1).pool().clone())
    }
}

impl PinnedPool {
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        in_flight: usize,
    ) -> PoolHandle<Self> {
        let free = Lock::default();
        let (table, awaited) = (table.clone(), Arc::default());
        PoolHandle::new(Self { table, device, in_flight: in_flight.max(1), free, awaited })
    }

    /// Memory that the host may touch at once.
    #[track_caller]
    fn for_host(self: &Arc<Self>, bytes: u64) -> Result<OwnedBlock<Self>> {
        let bytes = granules(bytes);
        let turn = Turn::now(&self.table);
        if let Some(turn) = turn
            && let Some(block) = self.for_host_in_turn(bytes, turn)?
        {
            return Ok(block);
        }
        let free = {
            let mut free = self.lock();
            let class = free.blocks.size_class(bytes);
            if turn.is_none() {
                class.end_turns();
            }
            class.blocks.len()
        };
        for index in 0..free {
            let Some(mut block) = self.lock().blocks.of_size(bytes).remove(index) else { break };
            // Without the lock, since this queries the driver.
            let complete = block.is_complete(&self.table, AccessMode::Write);
            if let Ok(true) = complete {
                self.touched(block.range(), AccessMode::Write, Location::caller());
                block.turn = turn;
                return Ok(OwnedBlock::new(block));
            }
            let mut free = self.lock();
            let blocks = free.blocks.of_size(bytes);
            // At its old place, since the oldest is reused first.
            blocks.insert(index.min(blocks.len()), block);
            complete?;
        }
        self.make(bytes, turn)
    }

    /// Such memory for a replayed tick: of its set.
    #[track_caller]
    fn for_host_in_turn(
        self: &Arc<Self>,
        bytes: u64,
        turn: Turn,
    ) -> Result<Option<OwnedBlock<Self>>> {
        for nth in 0.. {
            let block = self.lock().blocks.size_class(bytes).take_nth(turn, self.in_flight, nth);
            let Some(mut block) = block else { break };
            // Without the lock, since this may query the driver.
            let is_done = block.is_complete(&self.table, AccessMode::Write);
            if let Ok(true) = is_done {
                self.touched(block.range(), AccessMode::Write, Location::caller());
                block.turn = Some(turn);
                return Ok(Some(OwnedBlock::new(block)));
            }
            self.lock().blocks.size_class(bytes).put_nth(turn, nth, block);
            is_done?;
        }
        Ok(None)
    }

    /// Memory that a copy on `stream` may write.
    fn for_stream(self: &Arc<Self>, stream: &CudaStream, bytes: u64) -> Result<OwnedBlock<Self>> {
        let bytes = granules(bytes);
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
        drop(free);
        let mut owned = match block {
            Some(mut block) => {
                block.turn = turn;
                OwnedBlock::new(block)
            }
            None => self.make(bytes, turn)?,
        };
        // The copy comes after all earlier uses, and the next use comes after the copy.
        if ready.is_none() {
            owned.block_mut().wait_for_uses(timeline, &self.table)?;
        }
        owned.block_mut().allocated_on(timeline);
        Ok(owned)
    }

    fn make(self: &Arc<Self>, bytes: u64, turn: Option<Turn>) -> Result<OwnedBlock<Self>> {
        let driver = self.table.driver();
        driver.bind(self.device)?;
        let range = match driver.allocate_pinned(self.device, bytes) {
            Err(DriverError::OutOfMemory { .. }) => {
                let device = self.device;
                tracing::warn!(%device, bytes, "out of page-locked memory: freeing what is idle");
                self.free_complete()?;
                driver.allocate_pinned(self.device, bytes)?
            }
            other => other?,
        };
        // SAFETY: just allocated, of this length, and not shared yet. Page-locked memory is uninitialised
        // in Rust's sense; from here on it is initialised.
        unsafe { std::ptr::write_bytes(range.address as *mut u8, 0, range.bytes as usize) };
        let block = Block::new(self.table.platform(), self.device, range);
        let mut pooled = PooledBlock::new(block, 0, self);
        pooled.turn = turn;
        Ok(OwnedBlock::new(pooled))
    }

    /// Frees the free blocks whose uses are complete. After an error the other blocks stay, and the one
    /// that could not be freed is lost: the driver may or may not have freed it. Without the lock, since
    /// freeing a block may wait for the device.
    fn free_complete(&self) -> Result<()> {
        let blocks = self.lock().blocks.take_all();
        let mut freed = Ok(());
        for block in blocks {
            let complete = match freed {
                Ok(()) => block.is_complete(&self.table, AccessMode::Write),
                Err(_) => Ok(false),
            };
            if let Ok(true) = complete {
                freed = self.free(&block);
            } else {
                Self::return_block(block);
                freed = freed.and(complete.map(drop));
            }
        }
        freed
    }

    fn touched(&self, range: MemoryRange, mode: AccessMode, location: SourceLocation) {
        self.table.tell(&Note::HostAccess { range, mode, location });
    }

    /// Frees a block whose uses are all complete.
    fn free(&self, block: &Block) -> Result<()> {
        let driver = self.table.driver();
        let bound = driver.bind(self.device);
        if bound.is_err() && driver.sticky_error().is_some() {
            return Ok(bound?);
        }
        // Also if the device is not bound: an address names its context, and nothing else would free it.
        // SAFETY: this driver allocated it, it has no owner and is in no free list, and all its uses are
        // complete.
        let freed = unsafe { driver.free_pinned(self.device, block.range()) };
        Ok(first_error(FREEING, bound, freed)?)
    }

    /// Waits for the uses of a block that is not kept, and frees it.
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

fn granules(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(4096)
}

impl BlockPool for PinnedPool {
    fn return_block(block: Box<PooledBlock<Self>>) {
        // SAFETY: used until the block is in a list and the list's lock is released, or else before the block is
        // dropped.
        let pool: &Self = unsafe { block.pool() };
        let mut free = pool.lock();
        if !free.closed {
            let bytes = block.range().bytes;
            return free.blocks.size_class(bytes).put_back(block);
        }
        drop(free);
        pool.free_in_drop(&block);
    }

    fn close(&self) {
        let mut free = self.lock();
        free.closed = true;
        let blocks = free.blocks.take_all();
        drop(free);
        blocks.for_each(|block| self.free_in_drop(&block));
    }
}

impl fmt::Debug for PinnedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedPool").field("device", &self.device).finish_non_exhaustive()
    }
}

/// Elements in page-locked host memory. Made by [`Platform::pinned`](crate::Platform::pinned).
///
/// Copies from and to it run on a stream while the host goes on. The host reads it only when all
/// copies *to* it are complete, and writes it only when all copies are. Dropping it does not wait.
///
/// # A source that uploads
/// A source of frames from the host, for example of a camera, takes new memory in each tick. The memory is pooled: a
/// block that an earlier tick dropped is reused after its copy is complete, and the host does not wait for a copy.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
///
/// /// Stands in for a camera's library.
/// struct Device(f32);
///
/// impl Device {
///     fn read_into(&mut self, frame: &mut [f32]) -> Result<()> {
///         self.0 += 1.0;
///         frame.fill(self.0);
///         Ok(())
///     }
/// }
///
/// /// Sends the frames of a device.
/// #[operator(streams(upload))]
/// struct Camera {
///     #[output] frame: Tensor<f32>,
///     device: Device,
///     rows: usize,
///     cols: usize,
/// }
///
/// impl Compute for Camera {
///     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let stream = cx.allocate_cuda_stream(io.upload)?;
///         let mut pinned = cx.pinned(self.rows * self.cols)?;
///         // No copy uses it yet, so this does not block.
///         self.device.read_into(pinned.as_mut_slice_blocking()?)?;
///         let mut frame = cx.tensor([self.rows, self.cols], &stream)?;
///         stream.upload(&pinned, &mut frame)?; // is queued; `pinned` may be dropped
///         io.frame.set_cuda_stream(&stream).emit(frame)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let mut camera = OperatorHarness::new(&platform, Camera::new(Device(0.0), 2, 3))?;
/// for value in [1.0, 2.0, 3.0] {
///     camera.tick()?;
///     let sent = camera.take(|ports| &mut ports.frame).expect("it sends a frame in each tick");
///     let frame = platform.download(&sent.message, camera.stream())?;
///     assert_eq!((frame.shape(), frame.wait_blocking()?), (&[2, 3][..], &[value; 6][..]));
/// }
/// camera.stop()?;
/// # Ok(())
/// # }
/// ```
pub struct Pinned<T: Element> {
    owner: OwnedBlock<PinnedPool>,
    len: usize,
    _items: PhantomData<T>,
}

impl<T: Element> Pinned<T> {
    #[track_caller]
    pub(crate) fn for_host(pool: &PoolHandle<PinnedPool>, len: usize) -> Result<Self> {
        let shape = Shape::new(&[len])?;
        let owner = pool.pool().for_host(shape.bytes::<T>())?;
        Self::with_block(owner, len)
    }

    /// For as many elements as memory of a device has.
    pub(super) fn for_stream(
        pool: &Arc<PinnedPool>,
        stream: &CudaStream,
        len: usize,
    ) -> Result<Self> {
        let owner = pool.for_stream(stream, Shape::bytes_of::<T>(len))?;
        Self::with_block(owner, len)
    }

    /// So many elements, at the start of a block.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) when the block is smaller.
    fn with_block(owner: OwnedBlock<PinnedPool>, len: usize) -> Result<Self> {
        has_room::<T>(&owner, len, || Shape::of_slice(len))?;
        Ok(Self { owner, len, _items: PhantomData })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, once all copies to this memory are complete. `None` while one is not.
    ///
    /// # Errors
    /// The driver's, when the query fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn try_as_slice(&self) -> Result<Option<&[T]>> {
        let table = &self.owner.pool().table;
        let complete = self.owner.is_complete(table, AccessMode::Read)?;
        if complete {
            table.inspect(self.owner.device())?;
            self.touched(AccessMode::Read, Location::caller());
        }
        Ok(complete.then(|| self.elements()))
    }

    /// The elements; blocks until all copies to this memory are complete.
    ///
    /// # Errors
    /// The driver's, when the wait fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn as_slice_blocking(&self) -> Result<&[T]> {
        self.owner.synchronize(&self.owner.pool().table, AccessMode::Read)?;
        self.touched(AccessMode::Read, Location::caller());
        Ok(self.elements())
    }

    /// The elements, to be written; blocks until all copies from and to this memory are complete.
    ///
    /// # Errors
    /// As for [`as_slice_blocking`](Self::as_slice_blocking).
    #[track_caller]
    pub fn as_mut_slice_blocking(&mut self) -> Result<&mut [T]> {
        self.owner.synchronize(&self.owner.pool().table, AccessMode::Write)?;
        self.touched(AccessMode::Write, Location::caller());
        let start = self.range().address as *mut T;
        // SAFETY: the block holds `len` elements, aligned and initialised; no queued work uses
        // them, and `&mut self` prevents that more is queued while the slice lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, self.len) })
    }

    /// The elements of memory to which no copy is queued any more.
    pub(super) fn complete_elements(&self) -> &[T] {
        self.elements()
    }

    pub(super) fn table(&self) -> &Arc<StreamTable> {
        &self.owner.pool().table
    }

    pub(super) fn awaited(&self) -> &Arc<Awaited> {
        &self.owner.pool().awaited
    }

    fn elements(&self) -> &[T] {
        let start = self.range().address as *const T;
        // SAFETY: the block holds `len` elements, aligned and initialised; no queued work writes
        // them, and a copy to this memory takes `&mut self`, so none can be queued while the slice
        // lives.
        unsafe { std::slice::from_raw_parts(start, self.len) }
    }

    /// Notifies the driver that the host accesses the elements from here on.
    fn touched(&self, mode: AccessMode, location: SourceLocation) {
        self.owner.pool().touched(self.range(), mode, location);
    }

    /// Stores the shape of a download.
    pub(super) fn set_shape(&mut self, shape: &Shape) {
        self.owner.block_mut().set_shape(shape);
    }

    pub(crate) fn block(&self) -> &Block {
        &self.owner
    }

    pub(super) fn range(&self) -> MemoryRange {
        let bytes = (self.len * size_of::<T>()) as u64;
        MemoryRange { address: self.owner.range().address, bytes }
    }
}

impl<T: Element> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned<{}>({} elements)", T::DTYPE, self.len)
    }
}
