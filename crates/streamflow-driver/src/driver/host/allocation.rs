//! The calls that allocate and free memory.

use super::HostDriver;
use super::body;
use super::context::Needs;
use super::memory::{POISON_ALLOCATED, POISON_FREED, poison};
use super::point::Point;
use super::queue::{Op, Poison, Touch};
use super::refusal::invalid_value;
use super::schedule::Locked;
use crate::driver::{DeviceId, DriverError, DriverResult, MemoryRange, RawStream};

/// In the log: stands for the event of a wait that the simulator queues without an event of the program.
const NO_EVENT: u32 = u32::MAX;

impl HostDriver {
    /// Implements [`Driver::allocate`](crate::driver::Driver::allocate).
    pub(super) fn allocate_on(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange> {
        let (mut sim, index) = self.enter_stream("allocate", stream)?;
        let address = sim.allocate(index, bytes)?;
        sim.submit(index, Op::Poison { address, bytes, why: Poison::Allocate });
        drop(self.execute_after_submission(sim, index));
        Ok(MemoryRange { address, bytes })
    }

    /// Implements [`Driver::wait_for_device`](crate::driver::Driver::wait_for_device).
    pub(super) fn wait_for_all_streams(&self, stream: RawStream) -> DriverResult<()> {
        let (mut sim, index) = self.enter_stream("wait_for_device", stream)?;
        for other in 0..sim.streams.len() {
            let until = sim.latest(other);
            if other == index || sim.streams[other].device != stream.device() || sim.reached(until)
            {
                continue;
            }
            sim.submit(index, Op::Wait { event: NO_EVENT, record: until.number, until });
            sim.ordered_after_stream(index, other);
        }
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    /// Implements [`Driver::free`](crate::driver::Driver::free). The stream's device may be a peer of the device that owns
    /// the memory.
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn free_on(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let (mut sim, index) = self.enter_stream("free", stream)?;
        let MemoryRange { address, bytes } = range;
        let owner = sim.devices.iter().position(|device| device.memory.is_live(address, bytes));
        let Some(owner) = owner else {
            return Err(invalid_value("free", stream.device(), "this memory is not allocated"));
        };
        let point = sim.submit(index, Op::Poison { address, bytes, why: Poison::Free });
        sim.devices[owner].memory.free(address, bytes, Some(point));
        sim.retire_graphs_of(range);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    /// Implements [`Driver::allocate_pinned`](crate::driver::Driver::allocate_pinned).
    pub(super) fn allocate_page_locked(
        &self,
        device: DeviceId,
        bytes: u64,
    ) -> DriverResult<MemoryRange> {
        let mut sim = self.enter("allocate_pinned", device, Needs::Any)?;
        sim.check(device, "allocate_pinned")?;
        let arena = &mut sim.devices[device.index()].pinned;
        let Some(address) = arena.allocate(bytes, u64::MAX, |_| true, |_| true) else {
            return Err(DriverError::OutOfMemory { device, requested: bytes });
        };
        let range = MemoryRange { address, bytes };
        // SAFETY: the arena just handed out the memory, so it has no other owner.
        drop(unsafe { self.poison_now(sim, range, POISON_ALLOCATED) }?);
        Ok(range)
    }

    /// Implements [`Driver::free_pinned`](crate::driver::Driver::free_pinned).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn free_page_locked(
        &self,
        device: DeviceId,
        range: MemoryRange,
    ) -> DriverResult<()> {
        const CALL: &str = "free_pinned";
        let mut sim = self.enter(CALL, device, Needs::Any)?;
        let MemoryRange { address, bytes } = range;
        if !sim.devices[device.index()].pinned.is_live(address, bytes) {
            return Err(invalid_value(CALL, device, "this memory is not allocated"));
        }
        let is_inside = body::running(self.number).is_some();
        // `cuMemFreeHost` may wait for the device, but need not. `Variant::frees_pinned_at_once` decides whether this loop
        // waits for all streams of the device.
        for index in 0..sim.streams.len() {
            // Inside of a body this call can't wait for the device: the device waits for the body.
            if sim.variant.frees_pinned_at_once || is_inside {
                break;
            }
            if sim.streams[index].device == device {
                let latest = sim.latest(index);
                sim = self.execute_until(sim, CALL, latest)?;
            }
        }
        if !is_inside {
            // SAFETY: the memory is in use, and no queued work uses it, by the contract.
            sim = unsafe { self.poison_now(sim, range, POISON_FREED) }?;
        } else if sim.body_that_touches(Touch::write(range)).is_none() {
            // SAFETY: as in the other branch, and no running body touches the memory.
            unsafe { poison(address, bytes, POISON_FREED) };
        }
        sim.devices[device.index()].pinned.free(address, bytes, None);
        sim.retire_graphs_of(range);
        sim.check(device, CALL)
    }

    /// Poisons page-locked memory at once instead of in stream order. Sleeps first until no running body touches the memory.
    ///
    /// # Safety
    /// The memory is the simulator's, and no code but running bodies touches it.
    unsafe fn poison_now<'a>(
        &'a self,
        mut sim: Locked<'a>,
        range: MemoryRange,
        pattern: u16,
    ) -> DriverResult<Locked<'a>> {
        while let Some(index) = sim.body_that_touches(Touch::write(range)) {
            let running = Point { stream: sim.key(index), number: sim.streams[index].submitted };
            sim = self.sleep(sim, "page-locked memory", running)?;
        }
        // SAFETY: by the caller's contract only running bodies touch the memory, and no body that touches it is running any
        // more.
        unsafe { poison(range.address, range.bytes, pattern) };
        Ok(sim)
    }
}
