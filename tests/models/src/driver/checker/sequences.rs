//! Tests of the race checker with call sequences of one thread (invariants 7 and 9). A single thread has no
//! interleavings, so the tests try all short sequences instead. They compare each report of the checker with the real
//! order of the work.

use std::sync::Arc;

use super::Checked;
use crate::driver::device::{Device, Idle};
use crate::driver::race::RaceChecker;
use crate::driver::{AccessMode, Driver, MemoryRange, MemorySource, RawEvent, RawStream};
use crate::explore::execute_long;

/// A driver call in a sequence.
#[derive(Debug, Clone, Copy)]
enum Call {
    /// A read or write of a part of the memory, on one of the two streams.
    Access { on: usize, part: Part, mode: AccessMode },
    /// A wait of the other stream for the work queued on the stream `from`.
    Order { from: usize },
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Left,
    Right,
    All,
}

const LENGTH: usize = 4;

fn calls() -> Vec<Call> {
    let mut calls = vec![Call::Order { from: 0 }, Call::Order { from: 1 }];
    for on in 0..2 {
        for part in [Part::Left, Part::Right, Part::All] {
            calls.extend([AccessMode::Read, AccessMode::Write].map(|mode| Call::Access {
                on,
                part,
                mode,
            }));
        }
    }
    calls
}

/// Two streams and an event.
struct Streams {
    checked: Checked,
    streams: [RawStream; 2],
    event: RawEvent,
}

impl Streams {
    fn order(&self, from: usize) {
        assert!(self.checked.record(self.event, self.streams[from]));
        self.checked.wait(self.streams[1 - from], self.event);
    }

    /// Makes a call, and returns whether the call makes a race. Checks that the checker reports exactly this race.
    fn call(&self, call: Call, memory: MemoryRange) -> bool {
        let before = self.checked.device.wrong().len();
        match call {
            Call::Order { from } => self.order(from),
            Call::Access { on, part, mode } => {
                let half = memory.bytes / 2;
                let range = match part {
                    Part::Left => MemoryRange { bytes: half, ..memory },
                    Part::Right => MemoryRange { address: memory.address + half, bytes: half },
                    Part::All => memory,
                };
                self.checked.launch(self.streams[on], range, mode);
            }
        }
        let races = self.checked.device.wrong().len() > before;
        assert_eq!(!self.checked.take().is_empty(), races, "not the race that there is");
        races
    }

    /// Makes the calls one by one, up to the first race: from then on the checker may forget the access that it has
    /// reported.
    fn run(&self, sequence: &[Call]) {
        let memory = self.checked.allocate(self.streams[0]);
        assert!(self.checked.write(self.streams[0], memory));
        self.order(0);
        let is_right = !sequence.iter().any(|call| self.call(*call, memory));
        self.order(1);
        self.order(0);
        if is_right {
            self.checked.free(self.streams[0], memory);
        }
    }
}

/// Checks which accesses to one allocation the checker keeps: those with which a later access can race.
#[test]
pub(crate) fn accesses_of_all_short_sequences() {
    let calls = calls();
    let count = calls.len().pow(LENGTH as u32);
    let sequences = 200;
    for first in (0..count).step_by(sequences) {
        let calls = calls.clone();
        execute_long(move || {
            let checked = Checked::new();
            let streams = [checked.stream(), checked.stream()];
            let streams = Streams { event: checked.event(), streams, checked };
            for number in first..(first + sequences).min(count) {
                let digit = |place: usize| number / calls.len().pow(place as u32) % calls.len();
                streams.run(&std::array::from_fn::<_, LENGTH, _>(|place| calls[digit(place)]));
            }
        });
    }
}

/// Writes more parts of one allocation than the checker can remember. Each write must be reported as a race or counted as
/// forgotten.
#[test]
pub(crate) fn accesses_that_are_not_remembered() {
    const PARTS: u64 = 160;
    execute_long(|| {
        let checked = Checked::new();
        let streams = [checked.stream(), checked.stream()];
        // SAFETY: the stream is live.
        let memory =
            unsafe { Driver::allocate(&*checked.driver, streams[0], PARTS, MemorySource::Unused) }
                .unwrap();
        let part = |index| MemoryRange { address: memory.address + index, bytes: 1 };
        let event = checked.event();
        assert!(checked.record(event, streams[0]));
        checked.wait(streams[1], event);
        (0..PARTS).for_each(|index| assert!(checked.write(streams[0], part(index))));
        let mut missed = 0;
        for index in 0..PARTS {
            checked.launch(streams[1], part(index), AccessMode::Read);
            missed += u64::from(checked.take().is_empty());
        }
        let forgotten = checked.take().forgotten;
        assert!(missed > 0, "all are remembered");
        assert!(missed <= forgotten, "an access is forgotten and not counted");
    });
}

/// Repeats rounds of calls on a driver that does nothing. After the first rounds the checker must not allocate memory any
/// more.
#[test]
pub(crate) fn rounds_without_allocations() {
    execute_long(|| {
        let device = Device::new(true);
        let driver = RaceChecker::new(Arc::new(Idle(device.clone())));
        let checked = Checked { device, driver: Arc::new(driver) };
        let [a, b] = [checked.stream(), checked.stream()];
        let (event, memory) = (checked.event(), checked.allocate(a));
        let round = || {
            assert!(checked.write(a, memory));
            assert!(checked.record(event, a));
            checked.wait(b, event);
            checked.read(b, memory);
            assert!(checked.record(event, b));
            checked.wait(a, event);
            checked.query(event);
            checked.call_host(a);
        };
        (0..4).for_each(|_| round());
        let before = base::allocations::count();
        (0..4).for_each(|_| round());
        assert_eq!(base::allocations::count(), before, "the checker allocates in its steady state");
    });
}
