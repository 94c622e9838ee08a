//! The execution of one operation. Queued work touches simulated memory only in this file, and in bodies.
//!
//! Copies, fills and poison execute under the simulator's lock, one at a time; bodies run without the lock. If an operation
//! and a running body touch the same memory, and one of the two writes, the operation waits until the body has ended
//! ([`obstacle`](Sim::obstacle)). So a missing dependency gives wrong data, but two threads never touch the same bytes at
//! the same time. Freed memory stays mapped and holds poison; see [`Arena`](super::arena::Arena).

use std::ptr;
use std::sync::Arc;
use std::thread;

use super::body::{Body, Run};
use super::failure::Failure;
use super::log::{LogAction, LogEntry};
use super::memory::{POISON_ALLOCATED, POISON_FREED, pointer, poison};
use super::queue::{Function, Op, Poison, Queued, Running, Takes};
use super::sim::Sim;
use crate::driver::asker::Asker;
use crate::driver::{CopyKind, HostFunction, MemoryRange};

/// The part of an operation that must execute without the lock.
#[allow(
    clippy::large_enum_variant,
    reason = "it is on the stack while one operation executes; a box would be an allocation for each launch"
)]
pub(super) enum Left {
    Nothing,
    /// A host function. The caller calls it, and then calls [`function_returned`](Sim::function_returned).
    Function(HostFunction),
    /// A body. The caller runs it, and then calls [`body_ended`](Sim::body_ended).
    Body(Body),
}

impl Sim {
    /// Executes the first operation of a stream; the operation must be able to execute. User code is not called here, but
    /// returned.
    pub(super) fn execute(&mut self, index: usize) -> Left {
        let stream = &mut self.streams[index];
        let Some(queued) = stream.queue.pop_front() else { return Left::Nothing };
        self.pending -= 1;
        if self.log.is_some() {
            self.trace(index, &queued.op);
        }
        self.stamp(index, &queued);
        let Queued { number, node, .. } = queued;
        match queued.op {
            Op::Host(function) => {
                self.observe_host_function(number);
                self.begin_running(index, number, false);
                return Left::Function(function.0);
            }
            Op::Kernel { function, takes } => {
                let Function { name, body, .. } = &self.functions[function as usize];
                let (name, run) = (name.clone(), Run::Kernel(*body));
                return self.begin_body(index, (number, node), takes, ("launch", name, run));
            }
            Op::Library { body, takes } => {
                let (name, run) = (body.name().clone(), Run::Library(body));
                return self.begin_body(index, (number, node), takes, ("call_library", name, run));
            }
            Op::Copy { target, source, bytes, kind, rows: None } => {
                self.copy_row(kind, target, MemoryRange { address: source, bytes }, number);
            }
            Op::Copy { target, source, kind, rows: Some(rows), .. } => {
                for row in 0..rows.count {
                    let target = target + row * rows.target_pitch;
                    let address = source + row * rows.source_pitch;
                    let source = MemoryRange { address, bytes: rows.bytes };
                    self.copy_row(kind, target, source, number);
                }
            }
            Op::Fill { address, bytes, byte } => {
                // SAFETY: the memory is still allocated, by the contract of `Driver::fill`. Device memory is touched only
                // under this lock or by bodies, and no running body touches this memory: `obstacle` has checked that.
                unsafe { ptr::write_bytes(pointer(address), byte, bytes as usize) };
            }
            Op::Poison { address, bytes, why } => {
                let pattern = match why {
                    Poison::Allocate | Poison::Recycle => POISON_ALLOCATED,
                    Poison::Free => POISON_FREED,
                };
                // SAFETY: the range is in an arena, and an arena keeps all its memory; or the range is allocated, by the
                // contract of `Observer::recycle`. No other code touches the memory, as in a fill.
                unsafe { poison(address, bytes, pattern) };
            }
            // A record or a wait does nothing when it executes: the queue's order and `obstacle` have their effect.
            Op::Record { .. } | Op::Wait { .. } => {}
        }
        self.complete(index, number);
        Left::Nothing
    }

    /// Copies contiguous bytes: a whole copy, or one row. `number` is the number of the copy's submission.
    fn copy_row(&mut self, kind: CopyKind, target: u64, source: MemoryRange, number: u64) {
        let MemoryRange { address, bytes } = source;
        // SAFETY: both ranges are still allocated, by the contract of `Driver::copy`. Device memory is touched only under
        // this lock or by bodies, and no running body touches these bytes. The host does not use its range meanwhile, by
        // that same contract. The ranges may overlap.
        unsafe { ptr::copy(pointer(address), pointer(target), bytes as usize) };
        if matches!(kind, CopyKind::DeviceToPinned | CopyKind::DeviceToPageable) {
            self.observe_copy_to_host(target, source, number);
        }
    }

    /// Notes that the calling thread is about to run a host function or a body of a stream.
    fn begin_running(&mut self, index: usize, number: u64, is_body: bool) {
        self.streams[index].busy = Some(number);
        self.bodies += usize::from(is_body);
        let thread = thread::current().id();
        self.running.push(Running { is_body, stream: index, thread, asleep: false });
    }

    fn begin_body(
        &mut self,
        index: usize,
        (number, node): (u64, Asker),
        takes: Takes,
        (call, name, run): (&'static str, Arc<str>, Run),
    ) -> Left {
        self.begin_running(index, number, true);
        let stream = &mut self.streams[index];
        stream.running_touches = takes.touches;
        let params = stream.params.drain(..takes.params as usize).collect();
        Left::Body(Body { name, call, node, run, params })
    }

    /// Notes that a stream's running host function or body has ended.
    pub(super) fn function_returned(&mut self, index: usize) {
        let ended = self.running.iter().position(|running| running.stream == index);
        if let Some(ended) = ended {
            self.bodies -= usize::from(self.running.swap_remove(ended).is_body);
        }
        if let Some(number) = self.streams[index].busy.take() {
            self.complete(index, number);
        }
    }

    /// Notes that a stream's body has ended, and whether it failed.
    pub(super) fn body_ended(&mut self, index: usize, ran: Result<(), Failure>) {
        if let Err(failure) = ran {
            self.mark_failed(index, failure);
        }
        let stream = &mut self.streams[index];
        let touched = std::mem::take(&mut stream.running_touches);
        stream.touches.drain(..touched as usize);
        self.function_returned(index);
    }

    fn complete(&mut self, index: usize, number: u64) {
        self.observe_execution();
        let stream = &mut self.streams[index];
        stream.done = stream.done.max(number);
        if stream.queue.is_empty() {
            // All work is complete. If the device failed and the queue was emptied, the dropped operations also count as
            // complete.
            stream.done = stream.submitted;
            self.vacate(index);
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
