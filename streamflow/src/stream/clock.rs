//! Which records of other streams a stream has waited for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Streams whose entry lies in place; more are possible, and a little slower.
const IN_PLACE: usize = 64;

/// So many streams with numbers in a row: streams that are used together were mostly made together.
const TOGETHER: usize = 8;

/// The entries of a stream and its neighbours: those are copied and merged as they lie, which is faster than to ask of
/// each stream whether it is known.
pub(super) type Neighbours = [AtomicU64; TOGETHER];

/// The first of a stream's neighbours. Those of a stream without an entry in place are the last that have one.
pub(super) fn first_neighbour(stream: u32) -> u32 {
    (stream as usize).min(IN_PLACE - 1) as u32 / TOGETHER as u32 * TOGETHER as u32
}

/// By stream number: the latest record that was waited for.
///
/// It may be read and raised by several threads without a lock. An entry that is raised by two at
/// once may keep the lower number, and then a wait is issued that was not needed.
///
/// What it costs to go through it grows with the streams that were waited for, and not with those that there are.
// In this order, so that what is nearly always used lies together.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Clock {
    /// The bits of the entries in place that were raised since they were forgotten, set after the entry.
    known: AtomicU64,
    in_place: [AtomicU64; IN_PLACE],
    more: boxcar::Vec<AtomicU64>,
}

/// Calls `visit` with each stream whose bit is set.
#[inline]
fn for_each(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        // Below 64, and so the compiler knows that it is.
        visit(bits.trailing_zeros() as usize % IN_PLACE);
        bits &= bits - 1;
    }
}

fn raise(entry: &AtomicU64, number: u64) {
    if entry.load(Ordering::Relaxed) < number {
        entry.store(number, Ordering::Release);
    }
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            in_place: [const { AtomicU64::new(0) }; IN_PLACE],
            known: AtomicU64::new(0),
            more: boxcar::Vec::new(),
        }
    }

    /// The latest record of `stream` that was waited for; 0 for none.
    #[inline]
    pub(super) fn get(&self, stream: u32) -> u64 {
        let stream = stream as usize;
        let entry = match self.in_place.get(stream) {
            None => self.more.get(stream - IN_PLACE),
            entry => entry,
        };
        entry.map_or(0, |entry| entry.load(Ordering::Acquire))
    }

    /// Notes a wait for record `number` of `stream`, after the wait was queued.
    #[inline(always)]
    pub(super) fn raise(&self, stream: u32, number: u64) {
        match self.in_place.get(stream as usize) {
            // Nearly always: a record covers much that was waited for before.
            Some(entry) if entry.load(Ordering::Relaxed) >= number => {}
            Some(entry) => {
                entry.store(number, Ordering::Release);
                self.learn(1 << stream);
            }
            None => self.raise_more(stream as usize - IN_PLACE, number),
        }
    }

    /// The entries of neighbours, from the first.
    #[inline(always)]
    pub(super) fn neighbours(&self, first: u32) -> &[AtomicU64] {
        let first = first as usize % IN_PLACE;
        &self.in_place[first..first + TOGETHER]
    }

    /// Notes waits for records of neighbours, after they were queued.
    #[inline(always)]
    pub(super) fn raise_neighbours(&self, first: u32, numbers: [u64; TOGETHER]) {
        let mut raised = 0;
        for (at, (entry, number)) in self.neighbours(first).iter().zip(numbers).enumerate() {
            if entry.load(Ordering::Relaxed) < number {
                entry.store(number, Ordering::Release);
                raised |= 1 << at;
            }
        }
        self.learn(raised << first);
    }

    /// Shows each stream that was waited for and is none of these neighbours, and its latest record that was. What is
    /// shown was queued before.
    #[inline]
    pub(super) fn for_each_other(&self, first: u32, mut visit: impl FnMut(u32, u64)) {
        let neighbours = ((1 << TOGETHER) - 1) << first;
        let others = self.known.load(Ordering::Acquire) & !neighbours;
        for_each(others, |stream| {
            match self.in_place[stream].load(Ordering::Acquire) {
                // Forgotten while it was raised.
                0 => {}
                number => visit(stream as u32, number),
            }
        });
        if self.more.count() > 0 {
            // With their places, since entries that are being added are passed over.
            for (index, entry) in self.more.iter() {
                match entry.load(Ordering::Acquire) {
                    0 => {}
                    number => visit((IN_PLACE + index) as u32, number),
                }
            }
        }
    }

    /// Forgets all waits: what they were for is of no interest to the stream's next holder.
    pub(super) fn forget(&self) {
        let known = self.known.swap(0, Ordering::AcqRel);
        for_each(known, |stream| self.in_place[stream].store(0, Ordering::Release));
    }

    fn learn(&self, streams: u64) {
        // Nearly always known: then the line stays shared.
        if streams & !self.known.load(Ordering::Relaxed) != 0 {
            self.learn_new(streams);
        }
    }

    #[cold]
    fn learn_new(&self, streams: u64) {
        self.known.fetch_or(streams, Ordering::AcqRel);
    }

    #[inline(never)]
    fn raise_more(&self, index: usize, number: u64) {
        if number == 0 {
            return;
        }
        while index >= self.more.count() {
            self.more.push(AtomicU64::new(0));
        }
        if let Some(entry) = self.more.get(index) {
            raise(entry, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_rise_and_never_fall() {
        let clock = Clock::new();
        for stream in [3, 63, 64, 200] {
            assert_eq!(clock.get(stream), 0);
            clock.raise(stream, 7);
            clock.raise(stream, 5);
            assert_eq!(clock.get(stream), 7);
        }
        assert_eq!(clock.get(199), 0);
    }

    #[test]
    fn what_was_forgotten_is_not_shown() {
        let clock = Clock::new();
        clock.raise(5, 2);
        clock.raise(100, 4);
        clock.forget();
        clock.raise(6, 3);
        let mut seen = Vec::new();
        clock.for_each_other(8, |stream, number| seen.push((stream, number)));
        assert_eq!(seen, [(6, 3), (100, 4)], "those of more streams stay");
    }

    #[test]
    fn entries_of_more_streams_do_not_shift() {
        use std::sync::Barrier;
        const N: u32 = 40;
        for _ in 0..3000 {
            let clock = Clock::new();
            let start = Barrier::new(4);
            std::thread::scope(|scope| {
                for part in 0..3 {
                    let (clock, start) = (&clock, &start);
                    scope.spawn(move || {
                        start.wait();
                        for i in 0..N {
                            if i % 3 == part {
                                clock.raise(64 + i, u64::from(i) + 1);
                            }
                        }
                    });
                }
                start.wait();
                for _ in 0..30 {
                    clock.for_each_other(0, |stream, number| {
                        assert_eq!(number, u64::from(stream) - 64 + 1, "{stream}");
                    });
                }
            });
        }
    }
}
