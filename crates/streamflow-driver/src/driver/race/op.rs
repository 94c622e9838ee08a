//! The encoding of calls as lines of the journal. A call of work has a line for the call and a line for each access. An
//! access with gaps has further lines for its rows.

use std::panic::Location;
use std::{ptr, slice, str};

use arrayvec::ArrayVec;

use super::journal::{Journal, Line};
use super::site::Action;
use crate::driver::note::SourceLocation;
use crate::driver::rows::MAX_LEVELS;
use crate::driver::{
    Access, AccessMode, DeviceId, MemoryRange, RawEvent, RawFunction, RawStream, RowLevel, Rows,
};
use crate::sync::Ordering;

/// Work that is queued: all of the call except its accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) stream: RawStream,
    pub(super) action: Action,
    /// The number of the kernel or of the library's function; 0 for other work.
    pub(super) function: u64,
    pub(super) location: Option<SourceLocation>,
}

/// The use of an event by a call on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventOp {
    Record,
    Wait,
}

impl EventOp {
    /// The name of the call in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Record => "a record",
            Self::Wait => "a wait",
        }
    }
}

/// Returns the number that stands for a kernel's function where the checker notes a use: the driver's handle. No two kernels
/// have the same handle, even on different devices.
pub(super) fn function_number(function: RawFunction) -> u64 {
    function.handle()
}

/// Returns the number of a library's function in sites. Its highest bit is set, and no handle of a driver has that bit.
pub(super) fn library_number(function: &'static str) -> u64 {
    1 << 63 | function.as_ptr().expose_provenance() as u64
}

// The kind of a call, in the lowest 4 bits of the first word of its first line.
const WORK: u8 = 0;
const RECORD: u8 = 1;
const WAIT: u8 = 2;

#[inline(always)]
fn write(line: &Line, words: [u64; 4]) {
    for (target, word) in line.iter().zip(words) {
        target.store(word, Ordering::Relaxed);
    }
}

#[inline(always)]
fn read(line: &Line) -> [u64; 4] {
    line.each_ref().map(|word| word.load(Ordering::Relaxed))
}

/// Returns the first word of a call: the kind of the call in 4 bits, 12 bits that the caller fills, the device of the stream
/// in 16 bits, and the stamp of the stream's handle in 32 bits.
#[inline(always)]
fn head(call: u8, stream: RawStream) -> u64 {
    u64::from(call) | u64::from(stream.device().0 as u16) << 16 | u64::from(stream.stamp()) << 32
}

/// The number of lines for the rows of an access. The first line has one level, each further line has two.
fn lines_of(rows: &Rows) -> usize {
    1 + rows.levels().len() / 2
}

#[cold]
fn write_rows<'a>(lines: &mut impl Iterator<Item = &'a Line>, rows: &Rows) {
    let words = |level: Option<&RowLevel>| level.map_or([0; 2], |level| [level.count, level.pitch]);
    let mut levels = rows.levels().iter();
    let mut head = [rows.bytes(), rows.levels().len() as u64];
    for line in lines.take(lines_of(rows)) {
        let [first, second] = head;
        let [third, fourth] = words(levels.next());
        write(line, [first, second, third, fourth]);
        head = words(levels.next());
    }
}

/// The lines of the rows of an access. They are decoded only when the access is compared with another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLines<'a>(&'a [Line]);

impl<'a> RowLines<'a> {
    /// Takes the lines of the rows that come next in `lines`.
    #[cold]
    fn next(lines: &mut slice::Iter<'a, Line>) -> Option<Self> {
        let all = lines.as_slice();
        let [_, levels, ..] = read(all.first()?);
        let (own, rest) = all.split_at_checked(1 + levels as usize / 2)?;
        *lines = rest.iter();
        Some(Self(own))
    }
}

impl From<RowLines<'_>> for Rows {
    #[cold]
    fn from(RowLines(lines): RowLines<'_>) -> Self {
        let mut words = lines.iter().flat_map(read);
        let (bytes, count) = (words.next().unwrap_or(0), words.next().unwrap_or(0) as usize);
        let mut levels = ArrayVec::<RowLevel, MAX_LEVELS>::new();
        while let (Some(count), Some(pitch)) = (words.next(), words.next()) {
            if levels.try_push(RowLevel { count, pitch }).is_err() {
                break;
            }
        }
        Self::with_levels(bytes, &levels[..count.min(levels.len())])
    }
}

/// Notes work in the journal. Returns `false` if there is no room for it.
///
/// # Safety
/// As for [`Journal::append`].
#[inline(always)]
pub(super) unsafe fn append_work(
    journal: &Journal,
    work: &Work,
    (accesses, rows): (&[Access], &[Rows]),
) -> bool {
    // If an access names rows that `rows` does not contain, the access is noted without rows.
    let lines = |access: &Access| 1 + access.rows_in(rows).map_or(0, lines_of);
    let count: usize = accesses.iter().map(lines).sum();
    if count > usize::from(u8::MAX) {
        return false;
    }
    let Work { stream, action, function, location } = *work;
    let head = head(WORK, stream) | (action as u64) << 4 | (count as u64) << 8;
    let location = location.map_or(0, |location| (&raw const *location).expose_provenance());
    let write = |lines: &[Line]| {
        let Some((first, rest)) = lines.split_first() else { return };
        write(first, [head, stream.handle(), function, location as u64]);
        let mut rest = rest.iter();
        for access in accesses {
            let Some(line) = rest.next() else { return };
            let MemoryRange { address, bytes } = access.range;
            let name = access.argument.as_ptr().expose_provenance();
            // The two lowest bits are the mode and whether there are gaps. The length of the argument's name is shifted by two bits: no
            // name is so long that the two highest bits are lost.
            let is_write = usize::from(access.mode == AccessMode::Write);
            let own = access.rows_in(rows);
            let length = access.argument.len() << 2 | usize::from(own.is_some()) << 1 | is_write;
            write(line, [address, bytes, name as u64, length as u64]);
            if let Some(rows) = own {
                write_rows(&mut rest, rows);
            }
        }
    };
    // SAFETY: the caller's contract.
    unsafe { journal.append(1 + count, false, write) }
}

/// Notes a record or a wait that is about to be made, in one line. The call stays open until the caller
/// [closes](Journal::close) it, after the driver has returned. Returns `false` if there is no room.
///
/// # Safety
/// As for [`Journal::append`].
#[inline(always)]
pub(super) unsafe fn append_event(
    journal: &Journal,
    event_op: EventOp,
    stream: RawStream,
    event: RawEvent,
) -> bool {
    let event_op = match event_op {
        EventOp::Record => RECORD,
        EventOp::Wait => WAIT,
    };
    let event_parts = u64::from(event.device().0) | u64::from(event.stamp()) << 32;
    let words = [head(event_op, stream), stream.handle(), event.handle(), event_parts];
    // SAFETY: the caller's contract.
    unsafe { journal.append(1, true, |lines| lines.iter().for_each(|line| write(line, words))) }
}

/// A call that was decoded from the journal.
#[derive(Debug)]
pub(super) enum Call<'a> {
    Work(Work, Accesses<'a>),
    Event(EventOp, RawStream, RawEvent),
}

/// An iterator over the calls in lines of a journal, in order.
pub(super) struct Calls<'a>(&'a [Line]);

impl<'a> Calls<'a> {
    /// # Safety
    /// The lines are published, and functions of this module wrote all of them.
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
        let device = DeviceId(u32::from((head >> 16) as u16));
        let stream = RawStream::new(device, stream).stamped((head >> 32) as u32);
        let event_op = match head as u8 & 0xf {
            WORK => {
                let (accesses, rest) = rest.split_at_checked((head >> 8) as u8 as usize)?;
                self.0 = rest;
                let location = ptr::with_exposed_provenance::<Location<'static>>(third as usize);
                // SAFETY: `append_work` has stored a `&'static Location` or null in this word.
                let location = unsafe { location.as_ref() };
                let action = Action::ALL[(head >> 4) as usize % 16 % Action::ALL.len()];
                let work = Work { stream, action, function: second, location };
                return Some(Call::Work(work, Accesses(accesses.iter())));
            }
            RECORD => EventOp::Record,
            _ => EventOp::Wait,
        };
        self.0 = rest;
        let event = RawEvent::new(DeviceId(third as u32), second).stamped((third >> 32) as u32);
        Some(Call::Event(event_op, stream, event))
    }
}

/// An iterator over the accesses of work that was decoded from the journal.
#[derive(Debug)]
pub(super) struct Accesses<'a>(slice::Iter<'a, Line>);

impl<'a> Iterator for Accesses<'a> {
    type Item = (Access, Option<RowLines<'a>>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let [address, bytes, name, length] = read(self.0.next()?);
        let name = ptr::with_exposed_provenance::<u8>(name as usize);
        // SAFETY: the two words are the address and the length of one `&'static str`, from one line, by the contract of
        // `Calls::new`.
        let argument = unsafe {
            str::from_utf8_unchecked(slice::from_raw_parts(name, (length >> 2) as usize))
        };
        let mode = if length & 1 == 1 { AccessMode::Write } else { AccessMode::Read };
        let range = MemoryRange { address, bytes };
        let rows = if length & 2 != 0 { Some(RowLines::next(&mut self.0)?) } else { None };
        Some((Access { range, mode, argument, rows: None }, rows))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::RowsAt;

    #[test]
    fn noted_calls_are_read_back() {
        let journal = Journal::new(64);
        let stream = RawStream::new(DeviceId(u32::from(u16::MAX)), u64::MAX).stamped(u32::MAX - 1);
        let event = RawEvent::new(DeviceId(7), 1 << 63).stamped(3);
        // Stamps are compared explicitly, since `==` of handles ignores them.
        let stamps = |stream: RawStream, event: RawEvent| (stream.stamp(), event.stamp());
        let here = Some(Location::caller());
        let works = Action::ALL.map(|action| {
            let location = here.filter(|_| action == Action::Kernel);
            Work { stream, action, function: action as u64, location }
        });
        let range = MemoryRange { address: u64::MAX - 7, bytes: u64::MAX };
        let rows = |count: u64| {
            let level = |at| RowLevel { count: 2 + at, pitch: u64::MAX - 100 + 7 * at };
            Rows::new(3, (0..count).map(level))
        };
        let gapped = |place| Access {
            range,
            mode: AccessMode::Write,
            argument: "",
            rows: Some(RowsAt(place)),
        };
        let accesses = [
            Access { range, mode: AccessMode::Read, argument: "in", rows: None },
            gapped(0),
            gapped(1),
            gapped(2),
            gapped(3),
            Access {
                range: MemoryRange::default(),
                mode: AccessMode::Read,
                argument: "größe",
                rows: None,
            },
        ];
        let rows: Vec<Rows> = [1, 2, 7, 8].into_iter().filter_map(rows).collect();
        let expected = accesses
            .map(|access| (Access { rows: None, ..access }, access.rows_in(&rows).copied()));
        for work in works {
            for event_op in [EventOp::Record, EventOp::Wait] {
                // SAFETY: there is no other thread, and functions of this module write all lines.
                let mut calls = unsafe {
                    journal.clear();
                    assert!(append_work(&journal, &work, (&accesses, &rows)));
                    assert!(append_event(&journal, event_op, stream, event));
                    journal.close();
                    assert!(append_work(&journal, &work, (&[], &rows)));
                    Calls::new(journal.after(0).lines)
                };
                match calls.next() {
                    Some(Call::Work(read, of_it)) => {
                        assert_eq!(read, work);
                        assert_eq!(read.stream.stamp(), stream.stamp());
                        let of_it = of_it.map(|(access, rows)| (access, rows.map(Rows::from)));
                        assert!(of_it.eq(expected));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Call::Event(read, on, of)) => {
                        assert_eq!((read, on, of), (event_op, stream, event));
                        assert_eq!(stamps(on, of), stamps(stream, event));
                    }
                    other => unreachable!("{other:?}"),
                }
                match calls.next() {
                    Some(Call::Work(read, mut none)) => {
                        assert_eq!((read, none.next().is_none()), (work, true));
                    }
                    other => unreachable!("{other:?}"),
                }
                assert!(calls.next().is_none());
            }
        }
    }
}
