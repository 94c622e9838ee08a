//! Law 13: The simulator is as strict as CUDA.
//!
//! [`HostDriver`](crate::driver::host::HostDriver) is a driver without a device: it simulates CUDA's ordering rules on the
//! host. [`HostBuilder`](crate::driver::host::HostBuilder) makes a `HostDriver`. [`Policy`](crate::driver::host::Policy)
//! chooses the order in which queued work executes. Memory is poisoned when it is allocated
//! ([`POISON_ALLOCATED`](crate::driver::host::POISON_ALLOCATED)) and when it is freed
//! ([`POISON_FREED`](crate::driver::host::POISON_FREED)).
//!
#![doc = include_str!("README.md")]
#![doc = ""]
//! # The rules of CUDA that the simulator keeps
//!
//! 1. A stream executes in order. Two streams are ordered only by events and by the legacy default stream.
//! 2. A wait is for the event's latest record at the time of the call. An event that was never recorded is complete. A
//!    record that fails leaves the event as it was. A wait still holds after its event was destroyed, and queued work still
//!    executes after its stream was destroyed.
//! 3. Work on the legacy default stream waits for all older work of the device's blocking streams, and work on a blocking
//!    stream waits for all older work on the default stream. Non-blocking streams wait for neither. Synchronising the
//!    default stream waits only for the work on it.
//! 4. Parameters are copied when a kernel is queued; its body runs when the operation executes.
//! 5. A host function blocks its stream until it returns. The thread that happens to execute the operation calls it, without
//!    the simulator's lock: the function may wait for another thread, but not for the thread that submits. It may not call
//!    the driver (`CUDA_ERROR_NOT_PERMITTED`) and may not unwind: a panic in an `extern "C"` function aborts the process.
//! 6. The body of a kernel or of a library's function runs on the thread that happens to execute the operation, without the
//!    simulator's lock and without any other lock of this library. The body may lock, print, and start threads. It may not
//!    call the driver: such a call returns an error that names the kernel. Drops are permitted: what can't be given back
//!    within a body stays in its pool. Two bodies run at the same time on two threads if neither writes memory that the
//!    other touches. Where a test's threads take turns, a body keeps its thread's turn. If another thread waits 5 s for that
//!    turn, the test fails and says that it can't be repeated.
//! 7. A copy from or to pageable memory returns when it has executed.
//! 8. Memory that was freed on a stream is reused on that stream at once, and on another stream once the free has executed.
//!    Freeing pinned memory synchronises with the device. Some seeds change these two rules: see *Variants*. Each device has
//!    a limited amount of memory.
//! 9. A stream holds at most 1024 queued operations. A submission to a full stream blocks until there is room.
//! 10. A kernel that panics makes its device unusable, as an illegal address does on a GPU. The next call returns the panic,
//!     later calls return the sticky error. A library's body that returns an error or panics leaves the device usable: the
//!     body's outputs are poisoned, and the error is returned once, by the library call itself or by the next launch, copy,
//!     fill, library call or wait on the device. The error names the function and the operator that called it. When a device
//!     becomes unusable, its queued work is dropped and counts as complete for other devices; queued host functions are not
//!     called.
//! 11. Invalid calls are refused with CUDA's codes: stale handles and handles of another device, launches beyond the limits
//!     of the device's architecture, priorities out of range, peer copies on a stream of neither device. A device reaches
//!     only its own memory and page-locked memory. An asynchronous copy from or to the host needs page-locked memory.
//! 12. A wait that can't end, because each running host function itself waits in a call of the simulator, is an error,
//!     `DriverError::Deadlock`, with the chain of waits. CUDA would hang.
//! 13. A call needs a current context on its thread. A call that makes a stream or an event, or that names a default stream
//!     (whose handle means the current device), needs the context of its device; any other call is content with any context.
//!
//! Differences from CUDA: a green context only has a number of multiprocessors, and does not limit which ones its work uses.
//! Events with timing have a *simulated time*: engines copy and compute at fixed speeds, so that work on several streams
//! overlaps. The same seed gives the same times. They say nothing about a GPU, nor about how long the host took. Dropping
//! the driver drops queued work, including host functions, and frees the memory.

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

/// The calls that return the error of a library function if the function has failed after its own call had returned. Calls
/// that wait for the device return such an error, too. The callers of all these calls pass errors on.
const DELIVERS: [&str; 4] = ["launch", "call_library", "copy", "fill"];

/// The calls by which a `drop` destroys or frees an object, and `bind`, which comes before them. A drop can happen inside a
/// kernel's body, too.
const GIVE_BACK: [&str; 6] =
    ["bind", "destroy_stream", "destroy_event", "destroy_graph", "disown", "free_pinned"];

/// The simulator. See the [module](self).
pub struct HostDriver {
    sim: Mutex<Sim>,
    /// The condition variable on which a thread sleeps in a blocking call. It is notified after each operation that another
    /// thread has executed.
    changed: Condvar,
    /// The simulator's number, a copy of `Sim::number` that is read without the lock.
    number: u64,
    policy: Policy,
    /// The seed; `None` if a [`Chooser`] decides the order.
    seed: Option<u64>,
    /// The turns of a test's threads; `None` if the threads run freely.
    turns: Option<Arc<Turns>>,
    devices: usize,
    memory: u64,
    compute_capability: (u32, u32),
}

impl HostDriver {
    /// Returns a builder with these defaults: one device, eager policy, no log.
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

    /// The policy by which queued work executes.
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

    /// Begins a call, before the simulator's lock is taken. In a test with turns, another thread may get the turn here.
    /// Refuses calls from inside of a kernel's body, and, in a test with turns, calls of a thread that takes none.
    fn begin(&self, call: &'static str, device: DeviceId) -> DriverResult<()> {
        self.check_device(call, device)?;
        let refuse =
            |message: &str| Err(call_error(call, device, 800, "CUDA_ERROR_NOT_PERMITTED", message));
        if let Some(kernel) = body::running(self.number) {
            // A drop makes these calls and can't return the refusal. `Ok` is returned, and nothing is destroyed or freed.
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
        // `begin` has already refused calls from inside of bodies.
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

    /// Begins a call as [`enter`](Self::enter) does, and makes the device's context current, as the CUDA driver does in such
    /// a call.
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

    /// Whether a point is reached. If not, the simulator executes some work after the answer is determined, so polling ends.
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

    /// Blocks until a point is reached. A wait inside of a host function is always refused. If the wait could also never
    /// end, the error is `DriverError::Deadlock`.
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
