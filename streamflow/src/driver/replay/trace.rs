//! The calls of a segment, and how they are compared.

use smallvec::SmallVec;

use super::Omission;
use crate::driver::{
    Access, AccessMode, CopyOp, Launch, MemoryRange, Param, RawEvent, RawFunction, RawStream,
};

/// Part of a trace's list of parameters, or of accesses.
type Part = (u32, u32);

/// One call of a trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) stream: RawStream,
    /// The node that asked for it.
    pub(super) node: u32,
    pub(super) work: Work,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    Launch {
        function: RawFunction,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        params: Part,
        accesses: Part,
    },
    Copy(CopyOp),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
    Record(RawEvent),
    /// A wait for the record that is the call with this index.
    Wait(RawEvent, u32),
}

/// A call, as it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    Launch(&'a Launch<'a>),
    Copy(&'a CopyOp),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
    Record(RawEvent),
    Wait(RawEvent, u32),
}

/// The calls of a segment in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) calls: Vec<Call>,
    params: Vec<Param>,
    accesses: Vec<Access>,
}

impl Trace {
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.params.clear();
        self.accesses.clear();
    }

    /// Becomes equal to another trace.
    pub(super) fn copy(&mut self, other: &Self) {
        self.calls.clone_from(&other.calls);
        self.params.clone_from(&other.params);
        self.accesses.clone_from(&other.accesses);
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Appends a call.
    pub(super) fn push(&mut self, node: u32, stream: RawStream, given: Given<'_>) {
        let work = match given {
            Given::Launch(launch) => Work::Launch {
                function: launch.function,
                grid: launch.grid,
                block: launch.block,
                shared_bytes: launch.shared_bytes,
                params: append(&mut self.params, launch.params),
                accesses: append(&mut self.accesses, launch.accesses),
            },
            Given::Copy(copy) => Work::Copy(*copy),
            Given::Fill(range, byte) => Work::Fill(range, byte),
            Given::Recycle(range) => Work::Recycle(range),
            Given::Record(event) => Work::Record(event),
            Given::Wait(event, record) => Work::Wait(event, record),
        };
        self.calls.push(Call { stream, node, work });
    }

    /// Whether the latest calls of a node have this wait already. A stream's clock may have forgotten a wait since it was
    /// made, so that the same hook makes it once more in some ticks, and not in others.
    pub(super) fn has_waited(&self, node: u32, stream: RawStream, record: u32) -> bool {
        let own = self.calls.iter().rev().take_while(|call| call.node == node);
        own.filter(|call| call.stream == stream)
            .any(|call| matches!(call.work, Work::Wait(_, before) if before == record))
    }

    /// The launch of a call, with a name for messages.
    pub(super) fn launch<'a>(&'a self, work: &Work, name: &'a str) -> Option<Launch<'a>> {
        let Work::Launch { function, grid, block, shared_bytes, params, accesses } = *work else {
            return None;
        };
        let (params, accesses) = (part(&self.params, params), part(&self.accesses, accesses));
        Some(Launch { function, name, grid, block, shared_bytes, params, accesses })
    }

    /// Whether the call at an index is the one that is asked for.
    pub(super) fn is_call(
        &self,
        index: usize,
        stream: RawStream,
        given: Given<'_>,
        left_out: Option<Omission>,
    ) -> bool {
        let Some(call) = self.calls.get(index) else { return false };
        let without = |rule| left_out == Some(rule);
        if call.stream != stream && !without(Omission::Streams) {
            return false;
        }
        match (&call.work, given) {
            (
                &Work::Launch { function, grid, block, shared_bytes, params, accesses },
                Given::Launch(other),
            ) => {
                (function == other.function || without(Omission::Kernel))
                    && ((grid, block, shared_bytes)
                        == (other.grid, other.block, other.shared_bytes)
                        || without(Omission::Grid))
                    && (same_params(part(&self.params, params), other.params)
                        || without(Omission::Parameters))
                    && (same_accesses(part(&self.accesses, accesses), other.accesses)
                        || without(Omission::Accesses))
            }
            (Work::Copy(copy), Given::Copy(other)) => copy == other,
            (Work::Fill(range, byte), Given::Fill(other, with)) => *range == other && *byte == with,
            (Work::Recycle(range), Given::Recycle(other)) => *range == other,
            (Work::Record(_), Given::Record(_)) => true,
            (Work::Wait(_, record), Given::Wait(_, other)) => {
                *record == other || without(Omission::Waits)
            }
            _ => false,
        }
    }

    /// How many calls are launches, copies or fills: what the host saves.
    pub(super) fn submissions(&self) -> usize {
        let is_work = |call: &&Call| {
            matches!(call.work, Work::Launch { .. } | Work::Copy(_) | Work::Fill(..))
        };
        self.calls.iter().filter(is_work).count()
    }

    /// The bytes that all calls access.
    pub(super) fn bytes(&self) -> u64 {
        let mut bytes = 0_u64;
        self.accesses(|range, _| bytes = bytes.saturating_add(range.bytes));
        bytes
    }

    /// Each access of memory.
    pub(super) fn accesses(&self, mut each: impl FnMut(MemoryRange, AccessMode)) {
        for call in &self.calls {
            match call.work {
                Work::Launch { accesses, .. } => {
                    let accesses = part(&self.accesses, accesses).iter();
                    accesses.for_each(|access| each(access.range, access.mode));
                }
                Work::Copy(copy) => {
                    each(copy.source, AccessMode::Read);
                    each(copy.target, AccessMode::Write);
                }
                Work::Fill(range, _) | Work::Recycle(range) => each(range, AccessMode::Write),
                Work::Record(_) | Work::Wait(..) => {}
            }
        }
    }

    /// For each call the earlier calls with work that it comes after, by the order of its stream and its waits. Empty for
    /// records and waits.
    pub(super) fn edges(&self, left_out: Option<Omission>) -> Vec<SmallVec<[u32; 4]>> {
        // What work of a stream comes after next, and what a record covers.
        let mut next: Vec<(RawStream, SmallVec<[u32; 4]>)> = Vec::new();
        let mut covered: Vec<SmallVec<[u32; 4]>> = Vec::with_capacity(self.len());
        let mut edges = Vec::with_capacity(self.len());
        for (index, call) in self.calls.iter().enumerate() {
            let place = next.iter().position(|(stream, _)| *stream == call.stream);
            let place = place.unwrap_or_else(|| {
                next.push((call.stream, SmallVec::new()));
                next.len() - 1
            });
            let after = &mut next[place].1;
            let (mut before, mut covers) = (SmallVec::new(), SmallVec::new());
            match call.work {
                Work::Record(_) => covers.clone_from(after),
                Work::Wait(_, record) if left_out != Some(Omission::Edges) => {
                    for node in &covered[record as usize] {
                        if !after.contains(node) {
                            after.push(*node);
                        }
                    }
                }
                Work::Wait(..) => {}
                _ => {
                    before = std::mem::take(after);
                    after.push(index as u32);
                }
            }
            covered.push(covers);
            edges.push(before);
        }
        edges
    }
}

fn append<T: Copy>(list: &mut Vec<T>, values: &[T]) -> Part {
    let start = list.len() as u32;
    list.extend_from_slice(values);
    (start, values.len() as u32)
}

fn part<T>(list: &[T], (start, len): Part) -> &[T] {
    &list[start as usize..(start + len) as usize]
}

fn same_params(one: &[Param], other: &[Param]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}

fn same_accesses(one: &[Access], other: &[Access]) -> bool {
    let same = |one: &Access, other: &Access| {
        one.range == other.range && one.mode == other.mode && one.rows == other.rows
    };
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}
