//! Traces: the calls of a segment, and the comparison of calls with them.

use super::Omission;
use crate::driver::{
    Access, AccessMode, CopyOp, Launch, MemoryRange, Param, RawEvent, RawFunction, RawStream, Rows,
};

/// A range of indices in one of a trace's lists: its start, and its end (exclusive).
pub(super) type Part = (u32, u32);

/// A call of a trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) stream: RawStream,
    /// The number of the node in whose hook the call was made.
    pub(super) node: u32,
    pub(super) work: Work,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    Launch(Kernel),
    /// A copy, as its index in `Trace::copies`.
    Copy(u32),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
    /// A record: its event, and the index of the event's entry in `State::events`.
    Record(RawEvent, u32),
    /// A wait for a record of the same segment, as the index of that record in `Trace::calls`.
    Wait(u32),
    /// A library's call: its number in `Captures`, and the range of its accesses in `Trace::accesses`.
    Library(u64, Part),
}

/// A kernel launch of a trace. Its parameters, accesses and rows are ranges in the trace's lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) function: RawFunction,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: u32,
    /// Whether the trace's parameters of this launch differ from those of the graph's node.
    pub(super) is_changed: bool,
    pub(super) params: Part,
    pub(super) accesses: Part,
    pub(super) rows: Part,
}

/// A call with its arguments, as the driver's caller passes them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    Launch(&'a Launch<'a>),
    Copy(&'a CopyOp),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
    /// A record: its event, and the index of the event's entry in `State::events`.
    Record(RawEvent, u32),
    /// A wait: its event, and the index in the trace of the record that it is for.
    Wait(RawEvent, u32),
    /// A library's call: its number in `Captures`, and its accesses.
    Library(u64, &'a [Access]),
}

/// The calls of a segment, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) calls: Vec<Call>,
    pub(super) params: Vec<Param>,
    pub(super) accesses: Vec<Access>,
    pub(super) rows: Vec<Rows>,
    pub(super) copies: Vec<CopyOp>,
}

impl Trace {
    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.params.clear();
        self.accesses.clear();
        self.rows.clear();
        self.copies.clear();
    }

    /// Replaces the content by the first `len` calls of `other`.
    pub(super) fn copy(&mut self, other: &Self, len: usize) {
        self.clear();
        let (mut params, mut accesses, mut rows, mut copies) = (0, 0, 0, 0);
        for call in &other.calls[..len] {
            let mut call = *call;
            match &mut call.work {
                Work::Launch(kernel) => {
                    (params, accesses) = (kernel.params.1, kernel.accesses.1);
                    rows = kernel.rows.1;
                    // `is_changed` is about the graph of the other trace, and this trace has no graph yet.
                    kernel.is_changed = false;
                }
                Work::Copy(copy) => copies = *copy + 1,
                Work::Library(_, part) => accesses = part.1,
                _ => {}
            }
            self.calls.push(call);
        }
        self.params.extend_from_slice(part(&other.params, (0, params)));
        self.accesses.extend_from_slice(part(&other.accesses, (0, accesses)));
        self.rows.extend_from_slice(part(&other.rows, (0, rows)));
        self.copies.extend_from_slice(part(&other.copies, (0, copies)));
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Appends a call that node `node` makes on `stream`.
    pub(super) fn push(&mut self, node: u32, stream: RawStream, given: Given<'_>) {
        let work = match given {
            Given::Launch(launch) => Work::Launch(Kernel {
                function: launch.function,
                grid: launch.grid,
                block: launch.block,
                shared_bytes: launch.shared_bytes,
                is_changed: false,
                params: append(&mut self.params, launch.params),
                accesses: append(&mut self.accesses, launch.accesses),
                rows: append(&mut self.rows, launch.rows),
            }),
            Given::Copy(copy) => Work::Copy(append(&mut self.copies, &[*copy]).0),
            Given::Fill(range, byte) => Work::Fill(range, byte),
            Given::Recycle(range) => Work::Recycle(range),
            Given::Record(event, place) => Work::Record(event, place),
            Given::Wait(_, record) => Work::Wait(record),
            Given::Library(number, accesses) => {
                Work::Library(number, append(&mut self.accesses, accesses))
            }
        };
        self.calls.push(Call { stream, node, work });
    }

    /// Whether the same hook has already made this wait: whether the wait is among the consecutive calls of `node` at the
    /// end of the first `len` calls. The runtime's clock of a stream may forget a wait, so a hook repeats a wait in some
    /// ticks and not in others.
    pub(super) fn has_waited(&self, len: usize, node: u32, stream: RawStream, record: u32) -> bool {
        let own = self.calls[..len].iter().rev().take_while(|call| call.node == node);
        own.filter(|call| call.stream == stream)
            .any(|call| matches!(call.work, Work::Wait(before) if before == record))
    }

    /// Returns the arguments of a kernel launch; `None` for another call. `name` is the kernel's name, for messages.
    pub(super) fn launch<'a>(&'a self, work: &Work, name: &'a str) -> Option<Launch<'a>> {
        let Work::Launch(kernel) = *work else { return None };
        let Kernel { function, grid, block, shared_bytes, .. } = kernel;
        let params = part(&self.params, kernel.params);
        let (accesses, rows) = self.accesses_of(&kernel);
        Some(Launch { function, name, grid, block, shared_bytes, params, accesses, rows })
    }

    /// Returns the accesses of a kernel launch, and the rows of those accesses.
    fn accesses_of(&self, kernel: &Kernel) -> (&[Access], &[Rows]) {
        (part(&self.accesses, kernel.accesses), part(&self.rows, kernel.rows))
    }

    /// Whether `launch` has the same accesses as `known`, a launch of this trace.
    #[inline]
    pub(super) fn has_accesses(&self, known: &Kernel, launch: &Launch<'_>) -> bool {
        same_accesses(self.accesses_of(known), (launch.accesses, launch.rows))
    }

    /// Returns the event that the call at index `record` records; `None` if that call is no record.
    pub(super) fn event_of(&self, record: u32) -> Option<RawEvent> {
        match self.calls.get(record as usize)?.work {
            Work::Record(event, _) => Some(event),
            _ => None,
        }
    }

    /// Whether the call at `index` of the trace equals the call that is being made, except for the bytes of a kernel's
    /// parameters.
    #[inline]
    pub(super) fn is_call(
        &self,
        index: usize,
        (node, stream): (u32, RawStream),
        given: Given<'_>,
        left_out: Option<Omission>,
    ) -> bool {
        let Some(call) = self.calls.get(index) else { return false };
        let without = |rule| left_out == Some(rule);
        if call.node != node || call.stream != stream && !without(Omission::Streams) {
            return false;
        }
        match (&call.work, given) {
            (Work::Launch(known), Given::Launch(other)) => {
                (known.function == other.function || without(Omission::Kernel))
                    && (known.has_grid(other) || without(Omission::Grid))
                    && part(&self.params, known.params).len() == other.params.len()
                    && (self.has_accesses(known, other) || without(Omission::Accesses))
            }
            (Work::Copy(copy), Given::Copy(other)) => self.copies[*copy as usize] == *other,
            (Work::Fill(range, byte), Given::Fill(other, with)) => *range == other && *byte == with,
            (Work::Recycle(range), Given::Recycle(other)) => *range == other,
            (Work::Record(..), Given::Record(..)) => true,
            (Work::Wait(record), Given::Wait(_, other)) => {
                *record == other || without(Omission::Waits)
            }
            (Work::Library(number, _), Given::Library(other, _)) => *number == other,
            _ => false,
        }
    }

    /// Whether this trace begins with the first `len` calls of `other`, except for the bytes of kernels' parameters.
    pub(super) fn begins_as(&self, other: &Self, len: usize) -> bool {
        self.len() >= len
            && other.calls[..len].iter().enumerate().all(|(index, call)| {
                let launch = other.launch(&call.work, "");
                let given = match (&call.work, &launch) {
                    (Work::Copy(copy), _) => Given::Copy(&other.copies[*copy as usize]),
                    (Work::Fill(range, byte), _) => Given::Fill(*range, *byte),
                    (Work::Recycle(range), _) => Given::Recycle(*range),
                    (Work::Record(event, place), _) => Given::Record(*event, *place),
                    (Work::Wait(record), _) => match other.event_of(*record) {
                        Some(event) => Given::Wait(event, *record),
                        None => return false,
                    },
                    (Work::Launch(_), Some(launch)) => Given::Launch(launch),
                    (Work::Launch(_), None) => return false,
                    (Work::Library(number, accesses), _) => {
                        Given::Library(*number, part(&other.accesses, *accesses))
                    }
                };
                self.is_call(index, (call.node, call.stream), given, None)
            })
    }

    /// The number of launches, copies, fills and library calls: the calls that the host saves when it launches one graph
    /// instead.
    pub(super) fn submissions(&self) -> usize {
        let is_work = |call: &&Call| {
            matches!(
                call.work,
                Work::Launch(_) | Work::Copy(_) | Work::Fill(..) | Work::Library(..)
            )
        };
        self.calls.iter().filter(is_work).count()
    }

    /// The sum of the bytes of all accesses.
    pub(super) fn bytes(&self) -> u64 {
        let mut bytes = 0_u64;
        self.accesses(|range, _| bytes = bytes.saturating_add(range.bytes));
        bytes
    }

    /// Whether any call accesses memory in `range`.
    pub(super) fn names(&self, range: MemoryRange) -> bool {
        let mut names = false;
        self.accesses(|accessed, _| names |= accessed.overlaps(range));
        names
    }

    /// Calls `each` with the range and the mode of every access of every call.
    pub(super) fn accesses(&self, mut each: impl FnMut(MemoryRange, AccessMode)) {
        for call in &self.calls {
            match call.work {
                Work::Launch(kernel) => {
                    let accesses = part(&self.accesses, kernel.accesses).iter();
                    accesses.for_each(|access| each(access.range, access.mode));
                }
                Work::Copy(copy) => {
                    let copy = &self.copies[copy as usize];
                    each(copy.source, AccessMode::Read);
                    each(copy.target, AccessMode::Write);
                }
                Work::Fill(range, _) | Work::Recycle(range) => each(range, AccessMode::Write),
                Work::Library(_, accesses) => {
                    let accesses = part(&self.accesses, accesses).iter();
                    accesses.for_each(|access| each(access.range, access.mode));
                }
                Work::Record(..) | Work::Wait(_) => {}
            }
        }
    }
}

impl Kernel {
    /// Whether a launch has the grid, the block and the bytes of shared memory of this kernel.
    #[inline]
    pub(super) fn has_grid(&self, launch: &Launch<'_>) -> bool {
        self.grid == launch.grid
            && self.block == launch.block
            && self.shared_bytes == launch.shared_bytes
    }
}

fn append<T: Copy>(list: &mut Vec<T>, values: &[T]) -> Part {
    let start = list.len() as u32;
    list.extend_from_slice(values);
    (start, list.len() as u32)
}

#[inline]
pub(super) fn part<T>(list: &[T], (start, end): Part) -> &[T] {
    &list[start as usize..end as usize]
}

/// Whether two calls have the same accesses with the same rows. The names of the arguments may differ.
#[inline]
pub(super) fn same_accesses(
    (accesses, rows): (&[Access], &[Rows]),
    (others, other_rows): (&[Access], &[Rows]),
) -> bool {
    let same = |(one, other): (&Access, &Access)| {
        one.range == other.range && one.mode == other.mode && one.rows == other.rows
    };
    accesses.len() == others.len() && accesses.iter().zip(others).all(same) && rows == other_rows
}

/// Whether two lists of parameters have equal values. The bytes are compared: a parameter has no padding, and its unused
/// bytes are zero.
#[inline]
pub(super) fn same_params(one: &[Param], other: &[Param]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}
