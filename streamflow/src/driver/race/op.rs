//! The encoding of calls in the journal: a line for each call, and one for each access of work.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{ptr, slice, str};

use super::journal::{Journal, Line};
use super::site::Action;
use crate::driver::note::SourceLocation;
use crate::driver::{Access, AccessMode, DeviceId, MemoryRange, RawEvent, RawFunction, RawStream};

/// Work that is queued, without its accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) stream: RawStream,
    pub(super) action: Action,
    /// The number of the kernel's function, or 0.
    pub(super) function: u64,
    pub(super) location: Option<SourceLocation>,
}

/// What a call does with an event on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventOp {
    Record,
    /// The event's record, noted before, has failed.
    RestoreRecord,
    Wait,
}

/// A function's number for a site. A driver's handle names one kernel, whichever the device.
pub(super) fn function_number(function: RawFunction) -> u64 {
    function.handle()
}

// The first byte of a call's first line: which call it is.
const WORK: u8 = 0;
const RECORD: u8 = 1;
const RESTORE_RECORD: u8 = 2;
const WAIT: u8 = 3;

#[inline(always)]
fn write(line: &Line, words: [u64; 4]) {
    for (target, word) in line.iter().zip(words) {
        target.store(word, Ordering::Relaxed);
    }
}

#[inline(always)]
fn read(line: &Line) -> [u64; 4] {
    line.each_ref().map(|word: &AtomicU64| word.load(Ordering::Relaxed))
}

/// Notes work in the journal. Whether there was room.
///
/// # Safety
/// As for [`Journal::append`].
#[inline(always)]
pub(super) unsafe fn note_work(journal: &Journal, work: &Work, accesses: &[Access]) -> bool {
    // Sixteen bits are enough: a journal has fewer lines.
    let count = accesses.len();
    let Work { stream, action, function, location } = *work;
    let head = u64::from(WORK)
        | (action as u64) << 8
        | (count as u64) << 16
        | u64::from(stream.device().0) << 32;
    let location = location.map_or(0, |location| (&raw const *location).expose_provenance());
    let write = |lines: &[Line]| {
        let Some((first, rest)) = lines.split_first() else { return };
        write(first, [head, stream.handle(), function, location as u64]);
        for (line, access) in rest.iter().zip(accesses) {
            let MemoryRange { address, bytes } = access.range;
            let name = access.argument.as_ptr().expose_provenance();
            // The mode is the lowest bit: no text is so long that its length needs the highest.
            let length = access.argument.len() << 1 | usize::from(access.mode == AccessMode::Write);
            write(line, [address, bytes, name as u64, length as u64]);
        }
    };
    // SAFETY: the caller's contract.
    unsafe { journal.append(1 + count, write) }
}

/// Notes a record or a wait in the journal. Whether there was room.
///
/// # Safety
/// As for [`Journal::append`].
#[inline(always)]
pub(super) unsafe fn note_event(
    journal: &Journal,
    event_op: EventOp,
    stream: RawStream,
    event: RawEvent,
) -> bool {
    let event_op = match event_op {
        EventOp::Record => RECORD,
        EventOp::RestoreRecord => RESTORE_RECORD,
        EventOp::Wait => WAIT,
    };
    let head = u64::from(event_op) | u64::from(stream.device().0) << 32;
    let words = [head, stream.handle(), event.handle(), u64::from(event.device().0)];
    // SAFETY: the caller's contract.
    unsafe { journal.append(1, |lines| lines.iter().for_each(|line| write(line, words))) }
}

/// A call that was read from the journal.
#[derive(Debug)]
pub(super) enum Call<'a> {
    Work(Work, Accesses<'a>),
    Event(EventOp, RawStream, RawEvent),
}

/// The calls in lines of a journal, in order.
pub(super) struct Calls<'a>(&'a [Line]);

impl<'a> Calls<'a> {
    /// # Safety
    /// The lines are published, and the functions of this module wrote all of them.
    pub(super) unsafe fn new(lines: &'a [Line]) -> Self {
        Self(lines)
    }
}

impl<'a> Iterator for Calls<'a> {
    type Item = Call<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Call<'a>> {
        let (first, rest) = self.0.split_first()?;
        let [head, stream, second, third] = read(first);
        let stream = RawStream::new(DeviceId((head >> 32) as u32), stream);
        let event_op = match head as u8 {
            WORK => {
                let (accesses, rest) = rest.split_at_checked((head >> 16) as u16 as usize)?;
                self.0 = rest;
                let location = ptr::with_exposed_provenance::<Location<'static>>(third as usize);
                // SAFETY: a `&'static Location` was stored there, or null.
                let location = unsafe { location.as_ref() };
                let action = Action::ALL[(head >> 8) as usize % Action::ALL.len()];
                let work = Work { stream, action, function: second, location };
                return Some(Call::Work(work, Accesses(accesses.iter())));
            }
            RECORD => EventOp::Record,
            RESTORE_RECORD => EventOp::RestoreRecord,
            _ => EventOp::Wait,
        };
        self.0 = rest;
        Some(Call::Event(event_op, stream, RawEvent::new(DeviceId(third as u32), second)))
    }
}

/// The accesses of work that was read from the journal.
#[derive(Debug)]
pub(super) struct Accesses<'a>(slice::Iter<'a, Line>);

impl Iterator for Accesses<'_> {
    type Item = Access;

    #[inline(always)]
    fn next(&mut self) -> Option<Access> {
        let [address, bytes, name, length] = read(self.0.next()?);
        let name = ptr::with_exposed_provenance::<u8>(name as usize);
        // SAFETY: address and length of a `&'static str`, of one line (contract of `Calls::new`).
        let argument = unsafe {
            str::from_utf8_unchecked(slice::from_raw_parts(name, (length >> 1) as usize))
        };
        let mode = if length & 1 == 1 { AccessMode::Write } else { AccessMode::Read };
        Some(Access { range: MemoryRange { address, bytes }, mode, argument })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_calls_are_read_back() {
        let journal = Journal::new(16);
        let stream = RawStream::new(DeviceId(u32::MAX), u64::MAX);
        let event = RawEvent::new(DeviceId(7), 1 << 63);
        let here = Some(Location::caller());
        let works = Action::ALL.map(|action| {
            let location = here.filter(|_| action == Action::Kernel);
            Work { stream, action, function: action as u64, location }
        });
        let range = MemoryRange { address: u64::MAX - 7, bytes: u64::MAX };
        let accesses = [
            Access { range, mode: AccessMode::Read, argument: "in" },
            Access { range, mode: AccessMode::Write, argument: "" },
            Access { range: MemoryRange::default(), mode: AccessMode::Read, argument: "größe" },
        ];
        for work in works {
            for event_op in [EventOp::Record, EventOp::RestoreRecord, EventOp::Wait] {
                // SAFETY: there is no other thread, and all lines are noted here.
                let mut calls = unsafe {
                    journal.clear();
                    assert!(note_work(&journal, &work, &accesses));
                    assert!(note_event(&journal, event_op, stream, event));
                    assert!(note_work(&journal, &work, &[]));
                    Calls::new(journal.after(0))
                };
                match calls.next() {
                    Some(Call::Work(read, of_it)) => {
                        assert_eq!(read, work);
                        assert!(of_it.eq(accesses));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Call::Event(read, on, of)) => {
                        assert_eq!((read, on, of), (event_op, stream, event));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Call::Work(read, mut none)) => {
                        assert_eq!((read, none.next()), (work, None));
                    }
                    other => unreachable!("{other:?}"),
                }
                assert!(calls.next().is_none());
            }
        }
    }
}
