//! What the simulator consists of: streams with their queues, events, devices, kernels.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::ThreadId;

use super::engine::Busy;
use super::memory::Arena;
use super::point::Point;
use crate::driver::{CopyKind, DeviceId, HostFunction, HostKernel, Param, Sticky};

/// An operation that waits for its turn.
#[derive(Debug)]
pub(super) enum Op {
    /// `bytes` is what it reads and writes.
    Kernel {
        function: u32,
        params: u32,
        bytes: u64,
    },
    Copy {
        target: u64,
        source: u64,
        bytes: u64,
        kind: CopyKind,
    },
    Fill {
        address: u64,
        bytes: u64,
        byte: u8,
    },
    Poison {
        address: u64,
        bytes: u64,
        why: Poison,
    },
    Record {
        event: u32,
        record: u64,
    },
    Wait {
        event: u32,
        record: u64,
        until: Point,
    },
    Host(SendHostFunction),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Poison {
    Allocate,
    Free,
    Recycle,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SendHostFunction(pub(super) HostFunction);

// SAFETY: CUDA calls host functions on a thread of its own, so whoever queues one has promised that
// the data may be used from another thread (contract of `Driver::launch_host_function`).
unsafe impl Send for SendHostFunction {}

#[derive(Debug)]
pub(super) struct Queued {
    /// Counts submissions of the whole simulator, so it orders those of different streams too.
    pub(super) number: u64,
    pub(super) op: Op,
    /// When the host queued it, in simulated time.
    pub(super) at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    Default,
    Blocking,
    NonBlocking,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) generation: u32,
    pub(super) device: DeviceId,
    pub(super) kind: StreamKind,
    /// Its name in logs and messages.
    pub(super) name: u32,
    pub(super) queue: VecDeque<Queued>,
    /// The parameters of the queued kernels, in order.
    pub(super) params: VecDeque<Param>,
    /// The latest submission.
    pub(super) submitted: u64,
    /// All operations up to this number are complete.
    pub(super) done: u64,
    /// The host function that is running.
    pub(super) busy: Option<u64>,
    /// Its owner destroyed it; the slot is free once the work is done.
    pub(super) destroyed: bool,
    /// The slot has no stream.
    pub(super) vacant: bool,
    /// Something was submitted to it.
    pub(super) used: bool,
    /// How far it is in simulated time.
    pub(super) time: u64,
    /// The last records, and when they were reached in simulated time.
    pub(super) recorded: VecDeque<(u64, u64)>,
}

impl Stream {
    /// The number of the oldest operation that is not complete.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.busy.or_else(|| self.queue.front().map(|queued| queued.number))
    }
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) generation: u32,
    pub(super) device: DeviceId,
    pub(super) name: u32,
    pub(super) records: u64,
    pub(super) latest: Option<Point>,
    pub(super) vacant: bool,
}

#[derive(Debug)]
pub(super) struct Device {
    pub(super) memory: Arena,
    pub(super) pinned: Arena,
    /// The error after which nothing executes here any more.
    pub(super) failed: Option<Sticky>,
    /// A call has returned that error.
    pub(super) reported: bool,
    /// When its engines are busy, in simulated time.
    pub(super) engines: [Busy; 3],
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) device: DeviceId,
    pub(super) name: Arc<str>,
    pub(super) body: HostKernel,
}

/// A host function that is running.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) stream: usize,
    pub(super) thread: ThreadId,
    /// Its thread sleeps in a call of the simulator.
    pub(super) asleep: bool,
}

/// Whether the work up to a place is complete. A slot that has another stream now was drained.
pub(super) fn reached(streams: &[Stream], point: Point) -> bool {
    let stream = &streams[point.stream.index as usize];
    stream.generation != point.stream.generation || stream.done >= point.number
}
