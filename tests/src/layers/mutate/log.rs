//! What was done, in a form that an order can be computed from.

use std::collections::HashMap;

use streamflow::driver::{AccessMode, MemoryRange, RawEvent, RawStream};

/// Bytes of an allocation that are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The allocation, counted from 0. Memory that is allocated again is another one.
    pub block: u32,
    /// Where it begins, in bytes from the beginning of the allocation.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Whether it is written.
    pub mode: AccessMode,
}

/// One step of a run. Those that were dropped were not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the arguments of the call")]
pub enum Step {
    /// A launch, copy, fill, allocation or reuse is queued.
    Work { stream: RawStream, what: Box<str>, accesses: Vec<Access> },
    /// Memory is given back, on `instead` if the edge was dropped.
    Free { stream: RawStream, instead: Option<RawStream>, accesses: Vec<Access> },
    /// An event is recorded.
    Record { event: RawEvent, stream: RawStream, dropped: bool },
    /// A stream waits for an event.
    Wait { event: RawEvent, stream: RawStream, dropped: bool },
    /// The host has found an event's record complete, or believes so.
    EventComplete { event: RawEvent, dropped: bool },
    /// The host has found complete what was queued on a stream, or believes so.
    StreamComplete { stream: RawStream, dropped: bool },
    /// The host touches memory.
    Host { accesses: Vec<Access> },
    /// A stream, or the thread, goes by what some thread has found complete.
    Relies { by: Option<RawStream> },
    /// All threads come after what each of them has done.
    Joined,
}

/// The steps of a run, in order.
#[derive(Debug, Default)]
pub struct Log {
    steps: Vec<(usize, Step)>,
    /// Allocations by address, the latest of each place.
    blocks: HashMap<u64, (u32, u64)>,
    count: u32,
}

impl Log {
    /// The steps, each with the number of the host thread that has made it.
    pub fn steps(&self) -> &[(usize, Step)] {
        &self.steps
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push((super::host::THREAD.get(), step));
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
    ) -> Step {
        Step::Work { stream, what: what.into(), accesses: self.accesses(touched) }
    }

    /// The accesses to memory that was allocated here; ordinary host memory is nobody else's.
    pub(super) fn accesses(&self, touched: &[(MemoryRange, AccessMode)]) -> Vec<Access> {
        let found = touched.iter().filter_map(|&(range, mode)| {
            // Tests allocate little and use whole allocations.
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
