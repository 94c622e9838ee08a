//! Adopting memory: making tensors of memory that other code owns.

use std::panic::Location;
use std::sync::Arc;

use super::bound::Bound;
use super::reaper;
use crate::driver::{
    AccessMode, BorrowedEvent, DeviceId, MemoryRange, Note, RawStream, Rows, StreamOptions,
};
use crate::error::{Error, Result};
use crate::memory::border::Owner;
use crate::memory::border::counts::{self, Count};
use crate::memory::pooled::{OwnedBlock, PooledBlock};
use crate::memory::slice::too_small;
use crate::memory::{Block, Buffer, Element, MemoryPool, Shape, Shared, Tensor};
use crate::stream::CudaStream;

/// Memory that other code owns, before streamflow adopts it as a tensor by
/// [`Platform::adopt_tensor`](crate::Platform::adopt_tensor).
#[must_use = "dropping it gives the memory back; pass it to `adopt_tensor`"]
pub struct ForeignMemory {
    device: DeviceId,
    pub(super) range: MemoryRange,
    /// The owner of the memory. `None` after the memory was adopted.
    owner: Option<Owner>,
}

impl ForeignMemory {
    /// Describes memory on a device: `bytes` bytes from `address` on. `owner` keeps the memory alive, and gives the memory
    /// back when it is dropped. A separate thread drops the owner after the last use of the memory. If the memory was
    /// adopted, its device is current on that thread. An owner that needs an interpreter's lock locks it in its `Drop`.
    ///
    /// # Safety
    /// Until the owner is dropped, the device can access the memory, and the content of the memory is initialised. Until
    /// then no other code uses the memory, except by work that the adoption comes [after](After), and except for reads if the
    /// memory is adopted for reading only.
    pub unsafe fn new(
        device: DeviceId,
        address: u64,
        bytes: u64,
        owner: impl Send + 'static,
    ) -> Self {
        let range = MemoryRange { address, bytes };
        counts::add(Count::Adopted);
        Self { device, range, owner: Some(Owner::new(owner)) }
    }

    /// Makes streamflow leak memory of other code from now on, instead of giving it back, and
    /// [count](crate::memory::ForeignCounts::leaked) that memory. This is for other code that ends before the program,
    /// such as an interpreter that shuts down. If the reaper thread is dropping an owner at that time, this call blocks until
    /// that drop has ended; so the caller must hold no lock that this drop needs.
    pub fn stop_giving_back_blocking() {
        reaper::stop_giving_back_blocking();
    }
}

impl ForeignMemory {
    pub(crate) fn device(&self) -> DeviceId {
        self.device
    }
}

impl Drop for ForeignMemory {
    /// Gives the memory back to its owner if it was not adopted.
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take() {
            reaper::give_back_later(owner);
        }
    }
}

impl std::fmt::Debug for ForeignMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ForeignMemory({:?} on {})", self.range, self.device)
    }
}

/// The work of other code that has written adopted memory. Streamflow's work with the memory is ordered after that work.
#[derive(Debug, Clone, Copy)]
pub enum After<'a> {
    /// All work that was queued on this stream before the call.
    QueuedOn(&'a CudaStream),
    /// The latest record of an event of other code, on the memory's device.
    Event(BorrowedEvent<'a>),
    /// No work: the content is complete, like that of host memory.
    Complete,
}

/// The end of the addresses that a process can have with five levels of page tables.
const LAST_ADDRESS: u64 = 1 << 56;

/// Checks that memory at this address can hold elements of this shape. Returns the range of its bytes.
pub(crate) fn check_layout<T: Element>(address: u64, shape: &Shape) -> Result<MemoryRange> {
    let bytes = shape.bytes::<T>();
    if bytes > 0 && (address == 0 || !address.is_multiple_of(align_of::<T>() as u64)) {
        return Err(Error::Exchange {
            what: format!("memory at {address:#x} can't hold elements of type {}", T::DTYPE),
            reason: match address {
                0 => "the address is null".to_owned(),
                _ => format!("it is not aligned to {} bytes", align_of::<T>()),
            },
            remedy: "copy it into memory of an allocator".to_owned(),
        });
    }
    if bytes > 0 && address.checked_add(bytes).is_none_or(|end| end > LAST_ADDRESS) {
        return Err(Error::Shape {
            shape: shape.dims().to_vec(),
            reason: "its memory goes beyond the last address",
        });
    }
    Ok(MemoryRange { address, bytes })
}

impl MemoryPool {
    /// Creates a block of memory that other code owns, on this pool's device. `written` are the bytes that the other code has
    /// written, with their rows.
    #[track_caller]
    pub(super) fn adopt(
        self: &Arc<Self>,
        mut memory: ForeignMemory,
        after: After<'_>,
        written: (MemoryRange, Option<Rows>),
    ) -> Result<OwnedBlock<Self>> {
        reaper::start()?;
        self.take_lent_back();
        let (range, table) = (memory.range, &self.table);
        let block = Block::new(self.platform(), self.device(), range);
        if let After::QueuedOn(stream) = after {
            block.check(stream, "memory of other code")?;
            stream.timeline().ready()?;
        }
        if range.bytes > 0 {
            // SAFETY: the caller of `ForeignMemory::new` guarantees that the memory is valid until its owner is dropped.
            // The owner is dropped after the block was returned and disowned, or after this function has failed.
            unsafe { table.driver().observer().adopt(self.device(), range) }?;
        }
        let mut pooled = PooledBlock::foreign(block, self);
        // From here on, the drop of the block gives the memory back to its owner.
        pooled.owner = memory.owner.take().map(|owner| Bound::owner(owner, &self.reclaim));
        let mut block = OwnedBlock::new(pooled);
        match after {
            After::Complete => {}
            After::QueuedOn(stream) => {
                self.written_by_other_code(stream.raw(), written);
                block.block_mut().allocated_on(stream.timeline());
                // The event is recorded now, because the stream may be destroyed after this call, and because uses of the
                // memory need not wait for later work on the stream.
                stream.timeline().close()?;
            }
            After::Event(event) => {
                if event.device() != self.device() {
                    let (memory, stream) = (self.device(), event.device());
                    return Err(Error::WrongDevice { what: "memory".to_owned(), memory, stream });
                }
                event.check(&**table.driver())?;
                let timeline = table.take(self.device(), StreamOptions::default())?;
                timeline.bind()?;
                // SAFETY: the timeline owns its stream, and the event is borrowed for this call.
                let waited = unsafe { table.driver().wait_event(timeline.raw(), event.raw()) };
                if waited.is_ok() {
                    self.written_by_other_code(timeline.raw(), written);
                    block.block_mut().allocated_on(&timeline);
                }
                let closed = waited.and_then(|()| timeline.close());
                table.return_stream(timeline);
                closed?;
            }
        }
        Ok(block)
    }

    /// Tells the driver's layers, such as the race checker, that work of other code on `stream` has written these bytes.
    #[track_caller]
    fn written_by_other_code(&self, stream: RawStream, (range, rows): (MemoryRange, Option<Rows>)) {
        let (mode, location) = (AccessMode::Write, Location::caller());
        self.table.observe(&Note::ForeignAccess { stream, range, rows, mode, location });
    }

    #[track_caller]
    pub(crate) fn adopt_tensor<T: Element>(
        self: &Arc<Self>,
        memory: ForeignMemory,
        shape: &Shape,
        after: After<'_>,
    ) -> Result<Tensor<T>> {
        // The size is checked before the address, so that empty memory without an address gets the error about its size.
        if shape.bytes::<T>() > memory.range.bytes {
            return Err(too_small(shape));
        }
        check_layout::<T>(memory.range.address, shape)?;
        let written = (memory.range, None);
        Ok(Tensor::of(Buffer::of(self.adopt(memory, after, written)?, shape)?))
    }

    #[track_caller]
    pub(crate) fn adopt_shared<T: Element>(
        self: &Arc<Self>,
        memory: ForeignMemory,
        shape: &Shape,
        after: After<'_>,
    ) -> Result<Shared<Tensor<T>>> {
        Ok(Shared::read_only(self.adopt_tensor(memory, shape, after)?))
    }
}
