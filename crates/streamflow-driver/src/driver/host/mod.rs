//! Law 13: The simulator is as strict as CUDA.
//!
//! [`HostDriver`](crate::driver::host::HostDriver) is a driver without a device: it simulates CUDA's ordering rules on the host. [`HostBuilder`](crate::driver::host::HostBuilder) makes
//! one, and [`Policy`](crate::driver::host::Policy) is the order in which it executes. Memory is poisoned when it is allocated
//! ([`POISON_ALLOCATED`](crate::driver::host::POISON_ALLOCATED)) and when it is freed ([`POISON_FREED`](crate::driver::host::POISON_FREED)).
//!
#![doc = include_str!("README.md")]
#![doc = ""]
//! # CUDA's rules that it keeps
//!
//! 1. A stream executes in order. Two streams are ordered only by events and by the legacy default stream.
//! 2. A wait is for the latest record at the time of the call. An event that was never recorded is complete. A record that
//!    fails leaves the event as it was. Waits outlive their event, and work outlives its stream.
//! 3. Work on the legacy default stream waits for all older work of the device's blocking streams, and the other way round.
//!    Non-blocking streams take no part. Synchronising the default stream waits only for the work on it.
//! 4. Parameters are copied when a kernel is queued; its body runs when the operation executes.
//! 5. A host function blocks its stream until it returns. It is called on the thread that happens to execute it, without
//!    the simulator's lock: it may wait for another thread, but not for the one that submits. It may not call the driver
//!    (`CUDA_ERROR_NOT_PERMITTED`) and may not unwind: a panic in an `extern "C"` function aborts the process.
//! 6. The body of a kernel or of a library's function runs on the thread that happens to execute it, without the simulator's
//!    lock and without any other lock of this library. It may lock, print, and start threads. It may not call the driver
//!    either: such a call returns an error that names the kernel. Drops are permitted: what can't be given back within a body
//!    stays in its pool. Bodies of two threads run at the same time if neither writes what the other touches. Where a test's
//!    threads take turns, a body keeps the turn; after 5 s in which another thread waits for it the test fails, and says that
//!    it can't be repeated.
//! 7. A copy from or to pageable memory returns when it has executed.
//! 8. Memory freed on a stream is reused on that stream at once, and elsewhere when the free has executed. Each device has
//!    a limited amount. Freeing pinned memory synchronises with the device. Variants differ from both.
//! 9. A stream holds a bounded number of operations, 1024; a submission to a full one blocks.
//! 10. A kernel that panics makes its device unusable, as an illegal address does. The next call reports it, later calls
//!     return the sticky error. A library's body that returns an error or panics does not: its outputs are poisoned, and the
//!     error is returned once, by the call itself or by the next launch, copy, fill, library call or wait on the device. It
//!     names the function and the operator that called it. Work that is queued on the device is dropped and counts as complete for other devices;
//!     host functions are not called.
//! 11. Invalid calls are refused with CUDA's codes: stale handles and handles of another device, launches beyond the limits
//!     of the device's architecture, priorities out of range, peer copies on a stream of neither device. A device reaches
//!     its own memory and page-locked memory alone, and asynchronous copies need the latter.
//! 12. A wait that can't end, because all running host functions wait in the simulator themselves, is an error,
//!     `DriverError::Deadlock`, with the chain of waits. CUDA would hang.
//! 13. A call needs a current context on its thread: its device's own, if it makes a stream or an event or is about a default
//!     stream, whose handle means the current device; else any.
//!
//! Not as in CUDA: green contexts limit nothing, they only have a number of multiprocessors. Events with timing have a
//! *simulated time*: engines that copy and compute at fixed speeds, so that work on several streams overlaps. It repeats
//! with the seed. It says nothing about a GPU, nor about how long the host took. Dropping the driver drops queued work,
//! host functions included, and frees the memory.

mod allocation;
mod arena;
mod body;
mod calls;
mod chooser;
mod chosen;
mod clock;
mod context;
mod copies;
mod engine;
mod executable;
mod execute;
mod fail;
mod failure;
mod free_list;
mod graph;
mod green;
mod handles;
mod launch;
mod log;
mod memory;
mod options;
mod order;
mod point;
mod put_off;
mod queue;
mod refusal;
mod schedule;
mod sim;
#[cfg(test)]
mod tests;
mod variant;
mod watcher;

#[doc(hidden)]
pub use body::is_inside;
#[doc(hidden)]
pub use chooser::Chooser;
pub use log::{LogAction, LogEntry};
pub use memory::{POISON_ALLOCATED, POISON_FREED};
pub use options::{HostBuilder, Policy};

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use chooser::SUBMITTED;
use context::Needs;
use point::Point;
use queue::{Function, Op, Poison, SendHostFunction, StreamKind};
use refusal::{call_error, invalid_handle, invalid_value};
use schedule::Locked;
use sim::Sim;

use super::{
    CopyOp, Coscheduling, DeviceId, DeviceInfo, Driver, DriverError, DriverResult, GreenContext,
    HostFunction, Image, KernelSource, Launch, Libraries, LibraryCall, LoadedKernel, MemoryRange,
    MemorySource, Observer, RawEvent, RawFunction, RawGraph, RawModule, RawStream, SmSizes, Sticky,
    StreamFlags, StreamOptions, report_in_drop,
};
use crate::turns::Turns;

/// The calls, besides those that wait, that return the error of a library function that has failed since the last such call.
/// Their callers pass errors on.
const DELIVERS: [&str; 4] = ["launch", "call_library", "copy", "fill"];

/// The calls that a drop makes anywhere, also in a body.
const GIVE_BACK: [&str; 6] =
    ["bind", "destroy_stream", "destroy_event", "destroy_graph", "disown", "free_pinned"];

/// The simulator. See the [module](self).
pub struct HostDriver {
    sim: Mutex<Sim>,
    /// The condition variable that is notified when an operation was executed while a thread sleeps in a call.
    changed: Condvar,
    /// The simulator's number, as in `sim`.
    number: u64,
    policy: Policy,
    /// The seed; `None` if something else chooses the order.
    seed: Option<u64>,
    /// The turns of a test's threads, if they take turns.
    turns: Option<Arc<Turns>>,
    devices: usize,
    memory: u64,
    compute_capability: (u32, u32),
}

impl HostDriver {
    /// Returns a builder with these defaults: one device, eager, without a log.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    fn new(options: &HostBuilder, chooser: Option<Box<dyn Chooser>>) -> Self {
        let seed = chooser.is_none().then_some(options.seed);
        let sim = Sim::new(options, chooser);
        Self {
            seed,
            number: sim.number,
            policy: sim.policy,
            sim: Mutex::new(sim),
            changed: Condvar::new(),
            turns: options.turns.clone(),
            devices: options.devices,
            memory: options.memory,
            compute_capability: options.compute_capability,
        }
    }

    /// The policy that orders execution.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Leaves the calling thread without a current context, as a library does that ends with `cuCtxSetCurrent(NULL)`.
    pub fn unbind(&self) {
        context::clear();
    }

    /// The operations executed so far, in order. Empty without [`trace`](HostBuilder::trace).
    pub fn log(&self) -> Vec<LogEntry> {
        self.lock().log.clone().unwrap_or_default()
    }

    /// Begins a call, before it takes the lock: another thread may get the turn here. Refuses calls from inside of a kernel's
    /// body, and calls of a thread that takes no turns in a test with threads that do.
    fn begin(&self, call: &'static str, device: DeviceId) -> DriverResult<()> {
        self.check_device(call, device)?;
        let refuse =
            |message: &str| Err(call_error(call, device, 800, "CUDA_ERROR_NOT_PERMITTED", message));
        if let Some(kernel) = body::running(self.number) {
            // A drop makes these calls and can't return the error. The calls execute nothing.
            if GIVE_BACK.contains(&call) {
                return Ok(());
            }
            return refuse(&format!(
                "it was called from inside of kernel `{kernel}`, and a kernel's body may not call the driver"
            ));
        }
        match self.turns.as_ref().map_or(Ok(()), |turns| turns.step(call)) {
            Ok(()) => Ok(()),
            Err(trouble) => refuse(&trouble.to_string()),
        }
    }

    fn check_device(&self, call: &'static str, device: DeviceId) -> DriverResult<()> {
        let is_possible = self.devices == options::possible(self.devices);
        if is_possible && device.index() < self.devices {
            return Ok(());
        }
        let message = if is_possible {
            format!("there are {} simulated devices", self.devices)
        } else {
            let most = HostBuilder::MOST_DEVICES;
            format!(
                "a simulator can't have {} devices; give `devices` a number from 1 to {most}",
                self.devices
            )
        };
        Err(call_error(call, device, 101, "CUDA_ERROR_INVALID_DEVICE", &message))
    }

    /// Refuses calls from inside a host function, as CUDA does (`cuLaunchHostFunc`).
    fn permit(&self, sim: &Sim, call: &'static str, device: DeviceId) -> DriverResult<()> {
        if sim.running.is_empty() {
            return Ok(());
        }
        let current = thread::current().id();
        // `begin` has answered the calls of bodies.
        let mut functions = sim.running.iter().filter(|running| !running.is_body);
        if functions.all(|running| running.thread != current) {
            return Ok(());
        }
        let message = "a host function may not call the driver";
        Err(call_error(call, device, 800, "CUDA_ERROR_NOT_PERMITTED", message))
    }

    /// Begins a call for a device and takes the lock.
    fn enter(
        &self,
        call: &'static str,
        device: DeviceId,
        needs: Needs,
    ) -> DriverResult<Locked<'_>> {
        self.begin(call, device)?;
        let sim = self.lock();
        self.permit(&sim, call, device)?;
        self.check_context(call, device, needs)?;
        Ok(sim)
    }

    /// Begins a call as [`enter`](Self::enter) does, and binds the device, as the CUDA driver does in such a call.
    fn enter_bound(&self, call: &'static str, device: DeviceId) -> DriverResult<Locked<'_>> {
        let sim = self.enter(call, device, Needs::Nothing)?;
        self.make_current(device);
        Ok(sim)
    }

    /// Begins a call that submits to a stream: takes the lock, waits for room in the stream's queue, and returns the
    /// stream's slot.
    fn enter_stream(
        &self,
        call: &'static str,
        stream: RawStream,
    ) -> DriverResult<(Locked<'_>, usize)> {
        let sim = self.enter(call, stream.device(), self.needs(stream))?;
        let index = sim.stream(stream, call)?;
        let mut sim = self.before_call(sim, None);
        sim.observe_answer(SUBMITTED);
        sim.check(stream.device(), call)?;
        if DELIVERS.contains(&call) {
            sim.deliver(stream.device())?;
        }
        let sim = self.wait_for_room(sim, call, index)?;
        Ok((sim, index))
    }

    fn submit(&self, call: &'static str, stream: RawStream, op: Op) -> DriverResult<()> {
        let (mut sim, index) = self.enter_stream(call, stream)?;
        sim.submit(index, op);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    /// Whether a point is reached. If not, some work executes after the answer.
    fn query(
        &self,
        sim: Locked<'_>,
        call: &'static str,
        point: Point,
        device: DeviceId,
    ) -> DriverResult<bool> {
        let mut sim = self.before_call(sim, Some(point));
        let reached = sim.reached(point);
        sim.observe_query(point, reached);
        sim.check(device, call)?;
        if reached {
            sim.host_found_complete(point);
        } else {
            drop(self.execute_after_query(sim, point));
        }
        Ok(reached)
    }

    /// Blocks until a point is reached. Inside a host function a wait is always refused; if it would also be a
    /// deadlock, the error says that.
    fn wait(
        &self,
        sim: Locked<'_>,
        call: &'static str,
        point: Point,
        device: DeviceId,
    ) -> DriverResult<()> {
        let mut sim = self.execute_until(sim, call, point)?;
        self.permit(&sim, call, device)?;
        sim.host_found_complete(point);
        sim.check(device, call)?;
        sim.deliver(device)
    }
}

impl Drop for HostDriver {
    fn drop(&mut self) {
        let sim = self.sim.get_mut().unwrap_or_else(PoisonError::into_inner);
        let failures = sim.devices.iter_mut().flat_map(|device| device.failures.drain(..));
        failures
            .for_each(|error| report_in_drop("a call that nothing was queued after", Err(error)));
    }
}

impl fmt::Debug for HostDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostDriver").field("devices", &self.devices).finish_non_exhaustive()
    }
}
