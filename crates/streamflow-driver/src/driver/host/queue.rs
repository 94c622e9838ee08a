//! The parts of the simulator's state: streams with their queued operations, events, devices, kernels.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::ThreadId;

use super::arena::Arena;
use super::engine::Busy;
use super::order::Order;
use super::point::Point;
use crate::driver::asker::Asker;
use crate::driver::{
    Access, AccessMode, CopyKind, CopyRows, DeviceId, DriverError, HostFunction, HostKernel,
    LibraryBody, MemoryRange, Param, Sticky,
};

/// A queued operation.
#[derive(Debug)]
pub(super) enum Op {
    Kernel {
        function: u32,
        takes: Takes,
    },
    Library {
        body: LibraryBody,
        takes: Takes,
    },
    /// `bytes` is the number of bytes that are copied.
    Copy {
        target: u64,
        source: u64,
        bytes: u64,
        kind: CopyKind,
        rows: Option<CopyRows>,
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

/// The number and size of the arguments of one queued body, of a kernel or of a library function. The arguments themselves
/// are in the stream's queues.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes {
    /// The number of the body's parameters in `Stream::params`.
    pub(super) params: u32,
    /// The number of the body's accesses in `Stream::touches`.
    pub(super) touches: u32,
    /// The number of bytes of all accesses together. The simulated duration depends on it.
    pub(super) bytes: u64,
}

/// The memory that one access reads or writes, from its first byte to its last. Gaps between rows count as touched, so
/// bodies on interleaved parts of one tensor run one after the other. That costs time, but can't form a cycle of waits: an
/// operation that waits for a body has not begun, and a body that has begun waits for no operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    start: u64,
    end: u64,
    writes: bool,
    /// Whether the access touches all bytes from `start` to `end`; `false` if it has rows with gaps.
    is_whole: bool,
}

impl Touch {
    pub(super) fn read(range: MemoryRange) -> Self {
        Self { start: range.address, end: range.end(), writes: false, is_whole: true }
    }

    pub(super) fn write(range: MemoryRange) -> Self {
        Self { writes: true, ..Self::read(range) }
    }

    pub(super) fn of(access: &Access) -> Self {
        let (writes, is_whole) = (access.mode == AccessMode::Write, access.rows.is_none());
        Self { writes, is_whole, ..Self::read(access.range) }
    }

    /// Returns the range, if the access writes all of its bytes.
    pub(super) fn written(self) -> Option<MemoryRange> {
        let range = MemoryRange { address: self.start, bytes: self.end - self.start };
        (self.writes && self.is_whole).then_some(range)
    }

    /// Whether the access touches any byte of `range`.
    pub(super) fn meets(self, range: MemoryRange) -> bool {
        self.start.max(range.address) < self.end.min(range.end())
    }

    /// Whether two accesses may not happen at the same time: they overlap, and one of them writes.
    pub(super) fn conflicts(self, other: Self) -> bool {
        let overlap = self.start.max(other.start) < self.end.min(other.end);
        overlap && (self.writes || other.writes)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Poison {
    Allocate,
    Free,
    Recycle,
}

impl Op {
    /// Whether the operation calls the user's code: a body or a host function.
    pub(super) fn is_user_code(&self) -> bool {
        matches!(self, Self::Kernel { .. } | Self::Library { .. } | Self::Host(_))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SendHostFunction(pub(super) HostFunction);

// SAFETY: CUDA calls host functions on a thread of its own. So a caller that queues a host function has promised that the
// data may be used from another thread (contract of `Driver::launch_host_function`).
unsafe impl Send for SendHostFunction {}

#[derive(Debug)]
pub(super) struct Queued {
    /// The number of the submission. One counter numbers the submissions to all streams, so numbers also order submissions
    /// to different streams.
    pub(super) number: u64,
    pub(super) op: Op,
    /// The number of the thread that queued the operation.
    pub(super) thread: usize,
    /// The node in whose hook the operation was queued.
    pub(super) node: Asker,
    /// The host's simulated time when the operation was queued.
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
    /// The stream's number in logs and messages.
    pub(super) name: u32,
    pub(super) queue: VecDeque<Queued>,
    /// The parameters of the queued kernels and library functions, in the order of the queue.
    pub(super) params: VecDeque<Param>,
    /// The accesses of the running body, followed by those of the queued bodies in the order of the queue.
    pub(super) touches: VecDeque<Touch>,
    /// The number of the latest submission to this stream.
    pub(super) submitted: u64,
    /// The number up to which all operations are complete.
    pub(super) done: u64,
    /// The number of the running host function or body; `None` if neither runs.
    pub(super) busy: Option<u64>,
    /// The number of accesses of the running body: the first ones in `touches`. 0 if no body runs.
    pub(super) running_touches: u32,
    /// Whether the stream was destroyed. Its slot is reused once its work is complete.
    pub(super) destroyed: bool,
    /// Whether the slot has no stream, and can get a new one.
    pub(super) vacant: bool,
    /// Whether any work was submitted to the stream.
    pub(super) used: bool,
    /// The simulated time at which the stream's work that has executed so far is complete.
    pub(super) time: u64,
    /// The latest records on the stream, each as its operation's number and the simulated time at which it was complete.
    pub(super) recorded: VecDeque<(u64, u64)>,
    /// The points that come before the stream's next submission, because the stream has waited for events.
    pub(super) order: Order,
}

impl Stream {
    /// Stores the parameters and accesses of a body that is about to be queued. Returns their numbers.
    pub(super) fn take(&mut self, params: &[Param], touches: impl Iterator<Item = Touch>) -> Takes {
        self.params.extend(params);
        let before = self.touches.len();
        self.touches.extend(touches);
        let touches = (self.touches.len() - before) as u32;
        Takes { params: params.len() as u32, touches, bytes: 0 }
    }

    /// Discards the parameters and accesses of the queued bodies. The accesses of a running body stay: they are compared
    /// with other operations until the body ends.
    pub(super) fn drop_queued(&mut self) {
        self.params.clear();
        self.touches.truncate(self.running_touches as usize);
    }

    /// The number of the stream's oldest operation that is not complete, whether it runs or is queued.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.busy.or_else(|| self.queue.front().map(|queued| queued.number))
    }
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) generation: u32,
    pub(super) device: DeviceId,
    pub(super) name: u32,
    pub(super) has_timing: bool,
    pub(super) records: u64,
    pub(super) latest: Option<Point>,
    /// The points that come before the event's latest record.
    pub(super) order: Order,
    pub(super) vacant: bool,
}

#[derive(Debug)]
pub(super) struct Device {
    pub(super) memory: Arena,
    pub(super) pinned: Arena,
    /// Memory of other code that was adopted as memory of this device.
    pub(super) adopted: Vec<MemoryRange>,
    /// The error that has stopped the device: it executes no more work.
    pub(super) failed: Option<Sticky>,
    /// Whether a call has already returned the error `failed`.
    pub(super) reported: bool,
    /// The errors of library functions that no call has returned yet, the oldest first.
    pub(super) failures: VecDeque<DriverError>,
    /// The spans of simulated time in which each engine of the device is busy.
    pub(super) engines: [Busy; 3],
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) device: DeviceId,
    pub(super) name: Arc<str>,
    pub(super) body: HostKernel,
}

/// A host function or a body that is running.
#[derive(Debug)]
pub(super) struct Running {
    /// Whether the running code is a body of a kernel or library function, not a host function. The body's accesses are the
    /// first ones in its stream's `touches`.
    pub(super) is_body: bool,
    pub(super) stream: usize,
    pub(super) thread: ThreadId,
    /// Whether the thread that runs the code sleeps in a blocking call of the simulator.
    pub(super) asleep: bool,
}

/// Whether the work up to a point is complete. A slot gets a new stream only after the old stream's work is complete, so a
/// point of an earlier generation is reached.
pub(super) fn reached(streams: &[Stream], point: Point) -> bool {
    let stream = &streams[point.stream.index as usize];
    stream.generation != point.stream.generation || stream.done >= point.number
}
