//! Calls as their thread notes them: a line for each call, and one for each access of work.

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
    /// The kernel's number, if it is one.
    pub(super) function: u64,
    pub(super) location: Option<SourceLocation>,
}

/// What a stream does with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Record,
    /// Its record has failed.
    Unrecord,
    Wait,
}

/// A function's number for a site: a driver's handle names one kernel, on whatever device.
pub(super) fn function_number(function: RawFunction) -> u64 {
    function.handle()
}

// How lines are made up. The first byte of a call says what it is.
const WORK: u8 = 0;
const RECORD: u8 = 1;
const UNRECORD: u8 = 2;
const WAIT: u8 = 3;

#[inline(always)]
fn write(line: &Line, words: [u64; 4]) {
    for (place, word) in line.iter().zip(words) {
        place.store(word, Ordering::Relaxed);
    }
}

#[inline(always)]
fn read(line: &Line) -> [u64; 4] {
    line.each_ref().map(|word: &AtomicU64| word.load(Ordering::Relaxed))
}

/// Notes work. Whether there was room.
///
/// # Safety
/// As of [`Journal::append`].
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
            // No text is so long that it needs the highest bit.
            let length = access.argument.len() << 1 | usize::from(access.mode == AccessMode::Write);
            write(line, [address, bytes, name as u64, length as u64]);
        }
    };
    // SAFETY: the caller's contract.
    unsafe { journal.append(1 + count, write) }
}

/// Notes what a stream does with an event. Whether there was room.
///
/// # Safety
/// As of [`Journal::append`].
#[inline(always)]
pub(super) unsafe fn note_event(
    journal: &Journal,
    verb: Verb,
    stream: RawStream,
    event: RawEvent,
) -> bool {
    let verb = match verb {
        Verb::Record => RECORD,
        Verb::Unrecord => UNRECORD,
        Verb::Wait => WAIT,
    };
    let head = u64::from(verb) | u64::from(stream.device().0) << 32;
    let words = [head, stream.handle(), event.handle(), u64::from(event.device().0)];
    // SAFETY: the caller's contract.
    unsafe { journal.append(1, |lines| lines.iter().for_each(|line| write(line, words))) }
}

/// A call that was noted.
#[derive(Debug)]
pub(super) enum Noted<'a> {
    Work(Work, Accesses<'a>),
    Event(Verb, RawStream, RawEvent),
}

/// The calls in lines of a journal, in their order.
pub(super) struct Calls<'a>(&'a [Line]);

impl<'a> Calls<'a> {
    /// # Safety
    /// The lines are published ones, all of them noted by the functions of this module.
    pub(super) unsafe fn new(lines: &'a [Line]) -> Self {
        Self(lines)
    }
}

impl<'a> Iterator for Calls<'a> {
    type Item = Noted<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Noted<'a>> {
        let (first, rest) = self.0.split_first()?;
        let [head, stream, second, third] = read(first);
        let stream = RawStream::new(DeviceId((head >> 32) as u32), stream);
        let verb = match head as u8 {
            WORK => {
                let (accesses, rest) = rest.split_at_checked((head >> 16) as u16 as usize)?;
                self.0 = rest;
                let location = ptr::with_exposed_provenance::<Location<'static>>(third as usize);
                // SAFETY: it was a `&'static`, or there was none.
                let location = unsafe { location.as_ref() };
                let action = Action::ALL[(head >> 8) as usize % Action::ALL.len()];
                let work = Work { stream, action, function: second, location };
                return Some(Noted::Work(work, Accesses(accesses.iter())));
            }
            RECORD => Verb::Record,
            UNRECORD => Verb::Unrecord,
            _ => Verb::Wait,
        };
        self.0 = rest;
        Some(Noted::Event(verb, stream, RawEvent::new(DeviceId(third as u32), second)))
    }
}

/// The accesses of noted work.
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
    fn what_is_noted_is_read_again() {
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
            for verb in [Verb::Record, Verb::Unrecord, Verb::Wait] {
                // SAFETY: there is no other thread, and all lines are noted here.
                let mut calls = unsafe {
                    journal.clear();
                    assert!(note_work(&journal, &work, &accesses));
                    assert!(note_event(&journal, verb, stream, event));
                    assert!(note_work(&journal, &work, &[]));
                    Calls::new(journal.after(0))
                };
                match calls.next() {
                    Some(Noted::Work(read, of_it)) => {
                        assert_eq!(read, work);
                        assert!(of_it.eq(accesses));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Noted::Event(read, on, of)) => {
                        assert_eq!((read, on, of), (verb, stream, event));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Noted::Work(read, mut none)) => {
                        assert_eq!((read, none.next()), (work, None));
                    }
                    other => unreachable!("{other:?}"),
                }
                assert!(calls.next().is_none());
            }
        }
    }
}
