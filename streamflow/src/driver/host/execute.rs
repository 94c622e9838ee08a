//! Executing one operation. Only this file touches simulated memory for queued work.
//!
//! Operations execute under the simulator's lock, one at a time. So a missing dependency gives wrong data, but
//! never two threads in the same bytes. Memory that was freed is still mapped and holds poison; see
//! [`Arena`](super::memory::Arena).

use std::ptr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::body;
use super::log::{LogAction, LogEntry};
use super::memory::{POISON_ALLOCATED, POISON_FREED, pointer, poison};
use super::queue::{Function, Op, Poison};
use super::sim::Sim;
use crate::caught::caught;
use crate::driver::{
    BodyError, CopyKind, HostArgs, HostFunction, MAX_PARAMS, MemoryRange, Param, Sticky,
};

impl Sim {
    /// Executes the first operation of a stream, which must be runnable. A host function is returned instead: the
    /// caller must call it without the lock, and then
    /// [`host_function_returned`](Self::host_function_returned).
    pub(super) fn execute(&mut self, index: usize) -> Option<HostFunction> {
        let stream = &mut self.streams[index];
        let queued = stream.queue.pop_front()?;
        self.pending -= 1;
        if self.log.is_some() {
            self.trace(index, &queued.op);
        }
        self.stamp(index, &queued);
        match queued.op {
            Op::Host(function) => {
                self.streams[index].busy = Some(queued.number);
                self.note_host_function(queued.number);
                return Some(function.0);
            }
            Op::Kernel { function, params, .. } => {
                let Function { name, body, .. } = &self.functions[function as usize];
                let (name, body) = (name.clone(), *body);
                let run = |args: HostArgs<'_>| {
                    // SAFETY: `run_body` has the contract of a body.
                    unsafe { body(args) };
                    Ok(())
                };
                self.run_body(index, params, "launch", ("kernel", &name), run);
            }
            Op::Library { body, params, .. } => {
                let name = body.name().clone();
                // The body may be dropped here, and a drop of a user must not call the simulator either.
                // SAFETY: as above.
                let run = move |args: HostArgs<'_>| unsafe { body.run(args) };
                self.run_body(index, params, "call_library", ("library function", &name), run);
            }
            Op::Copy { target, source, bytes, kind, rows: None } => {
                self.copy_row(kind, target, MemoryRange { address: source, bytes }, queued.number);
            }
            Op::Copy { target, source, kind, rows: Some(rows), .. } => {
                for row in 0..rows.count {
                    let target = target + row * rows.target_pitch;
                    let address = source + row * rows.source_pitch;
                    let source = MemoryRange { address, bytes: rows.bytes };
                    self.copy_row(kind, target, source, queued.number);
                }
            }
            Op::Fill { address, bytes, byte } => {
                // SAFETY: still allocated, by the contract of `Driver::fill`, and device memory
                // is only touched under this lock.
                unsafe { ptr::write_bytes(pointer(address), byte, bytes as usize) };
            }
            Op::Poison { address, bytes, why } => {
                let pattern = match why {
                    Poison::Allocate | Poison::Recycle => POISON_ALLOCATED,
                    Poison::Free => POISON_FREED,
                };
                // SAFETY: the range is in the arena, which keeps all its memory, or is allocated
                // by the contract of `Driver::recycle`; it is only touched under this lock.
                unsafe { poison(address, bytes, pattern) };
            }
            // The queue's order and the check before execution do the work of these two.
            Op::Record { .. } | Op::Wait { .. } => {}
        }
        self.complete(index, queued.number);
        None
    }

    /// Copies bytes that follow each other, for the copy of this number.
    fn copy_row(&mut self, kind: CopyKind, target: u64, source: MemoryRange, number: u64) {
        let MemoryRange { address, bytes } = source;
        // SAFETY: both sides are still allocated, by the contract of `Driver::copy`, and no other code
        // touches them: device memory is touched only under this lock, host memory is free by that same
        // contract. The ranges may overlap.
        unsafe { ptr::copy(pointer(address), pointer(target), bytes as usize) };
        if matches!(kind, CopyKind::DeviceToPinned | CopyKind::DeviceToPageable) {
            self.note_copy_to_host(target, source, number);
        }
    }

    /// Marks a stream's host function as complete.
    pub(super) fn host_function_returned(&mut self, index: usize) {
        self.running.retain(|running| running.stream != index);
        if let Some(number) = self.streams[index].busy.take() {
            self.complete(index, number);
        }
    }

    fn complete(&mut self, index: usize, number: u64) {
        self.note_execution();
        let stream = &mut self.streams[index];
        stream.done = stream.done.max(number);
        if stream.queue.is_empty() {
            // A failure may have emptied the queue meanwhile; the dropped operations count as complete.
            stream.done = stream.submitted;
            self.vacate(index);
        }
    }

    /// Calls the body of a kernel or a library function, for `call`. The parameters are the body's, and their memory
    /// is still allocated, by the contracts of `Driver::launch` and `Driver::call_library`. No other code touches that
    /// memory: kernels, copies and fills run one at a time under this lock.
    fn run_body(
        &mut self,
        index: usize,
        params: u32,
        call: &'static str,
        (what, name): (&str, &Arc<str>),
        run: impl FnOnce(HostArgs<'_>) -> Result<(), BodyError>,
    ) {
        let stream = &mut self.streams[index];
        let device = stream.device;
        let params: SmallVec<[Param; MAX_PARAMS]> =
            stream.params.drain(..params as usize).collect();
        let run = || run(HostArgs { params: &params });
        let outcome = caught(|| body::call(self.number, name, run));
        let problem = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{what} `{name}` failed: {error}")),
            Err(panic) => Some(format!("{what} `{name}` panicked: {panic}")),
        };
        if let Some(message) = problem {
            let failure = Sticky { call, code: 719, name: "KERNEL_PANICKED".to_owned(), message };
            self.fail(device, failure);
        }
    }

    fn trace(&mut self, index: usize, op: &Op) {
        let stream = &self.streams[index];
        let (device, stream) = (stream.device, stream.name);
        let action = match op {
            Op::Kernel { function, .. } => {
                LogAction::Kernel(self.functions[*function as usize].name.clone())
            }
            Op::Library { body, .. } => LogAction::Kernel(body.name().clone()),
            Op::Copy { kind, bytes, .. } => LogAction::Copy { kind: *kind, bytes: *bytes },
            Op::Fill { bytes, .. } => LogAction::Fill { bytes: *bytes },
            Op::Poison { bytes, why: Poison::Allocate, .. } => {
                LogAction::Allocate { bytes: *bytes }
            }
            Op::Poison { bytes, why: Poison::Free, .. } => LogAction::Free { bytes: *bytes },
            Op::Poison { bytes, why: Poison::Recycle, .. } => LogAction::Recycle { bytes: *bytes },
            Op::Record { event, record } => LogAction::Record { event: *event, record: *record },
            Op::Wait { event, record, .. } => LogAction::Wait { event: *event, record: *record },
            Op::Host(_) => LogAction::HostFunction,
        };
        if let Some(log) = &mut self.log {
            log.push(LogEntry { device, stream, action });
        }
    }
}
