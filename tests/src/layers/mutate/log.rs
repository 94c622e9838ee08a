//! The log of a run's steps, from which a test computes the order of its work.

use std::collections::HashMap;

use streamflow::driver::RawStream;
use streamflow_driver::driver::{AccessMode, MemoryRange, RawEvent};

/// An access to bytes of an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The number of the allocation, from 0. Memory that is reused gets a new number.
    pub block: u32,
    /// The first byte, as an offset in the allocation.
    pub start: u64,
    /// The end, as an offset in the allocation.
    pub end: u64,
    /// Whether the bytes are read or written.
    pub mode: AccessMode,
}

/// An entry of a log: one step of a run. A step marked as dropped was not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the arguments of the call")]
pub enum LogStep {
    /// A launch, copy, fill, allocation or reuse of memory is queued.
    Work { stream: RawStream, what: Box<str>, accesses: Vec<Access> },
    /// Memory is freed on `stream`, or on `instead` if the dependency was dropped.
    Free { stream: RawStream, instead: Option<RawStream>, accesses: Vec<Access> },
    /// An event is recorded.
    Record { event: RawEvent, stream: RawStream, dropped: bool },
    /// A stream waits for an event.
    Wait { event: RawEvent, stream: RawStream, dropped: bool },
    /// The host found an event complete. If `dropped`, the layer reported it as complete although it was not.
    EventComplete { event: RawEvent, dropped: bool },
    /// The host found a stream complete. If `dropped`, the layer reported it as complete although it was not.
    StreamComplete { stream: RawStream, dropped: bool },
    /// The host accesses memory.
    Host { accesses: Vec<Access> },
    /// The stream `by`, or the calling thread, relies on work of the stream `on` that a thread has found complete: on the
    /// work before the record that the event holds, if that is known.
    Relies { on: RawStream, record: Option<RawEvent>, by: Option<RawStream> },
    /// The calling thread has joined all others: all later steps come after the earlier steps of all threads.
    Joined,
}

/// The steps of a run, in order.
#[derive(Debug, Default)]
pub struct Log {
    steps: Vec<(usize, LogStep)>,
    /// For each address, its latest allocation: the number and the size in bytes.
    blocks: HashMap<u64, (u32, u64)>,
    count: u32,
    /// The streams, in the order in which the platform has got them.
    streams: Vec<RawStream>,
}

impl Log {
    /// Returns the steps, each with the number of its host thread.
    pub fn steps(&self) -> &[(usize, LogStep)] {
        &self.steps
    }

    /// Returns the platform's number of a stream, or `None` for a stream that the layer has made for itself.
    pub fn number(&self, stream: RawStream) -> Option<usize> {
        self.streams.iter().position(|other| *other == stream)
    }

    pub(super) fn add_stream(&mut self, stream: RawStream) {
        self.streams.push(stream);
    }

    pub(super) fn push(&mut self, thread: usize, step: LogStep) {
        self.steps.push((thread, step));
    }

    pub(super) fn allocate(&mut self, range: MemoryRange) {
        self.blocks.insert(range.address, (self.count, range.bytes));
        self.count += 1;
    }

    pub(super) fn work(
        &self,
        stream: RawStream,
        what: &str,
        touched: &[(MemoryRange, AccessMode)],
    ) -> LogStep {
        LogStep::Work { stream, what: what.into(), accesses: self.accesses(touched) }
    }

    /// Converts accesses by address into accesses of numbered allocations of this driver. Other host memory is left out,
    /// since it is not shared.
    pub(super) fn accesses(&self, touched: &[(MemoryRange, AccessMode)]) -> Vec<Access> {
        let found = touched.iter().filter_map(|&(range, mode)| {
            // A linear search is enough, since tests make few allocations and use whole ones.
            let within = |(start, (_, bytes)): &(&u64, &(u32, u64))| {
                range.address.checked_sub(**start).is_some_and(|offset| offset < *bytes)
            };
            let (start, (block, _)) = self.blocks.iter().find(within)?;
            let start = range.address - start;
            Some(Access { block: *block, start, end: start + range.bytes, mode })
        });
        found.collect()
    }
}
