//! Which records of other streams a stream has waited for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Streams whose entry lies in place; more are possible, and a little slower.
const IN_PLACE: usize = 64;

/// By stream number: the latest record that was waited for.
///
/// It may be read and raised by several threads without a lock. An entry that is raised by two at
/// once may keep the lower number, and then a wait is issued that was not needed.
///
/// What it costs to copy and to merge grows with the streams that were waited for, and not with those
/// that there are.
#[derive(Debug)]
pub(super) struct Clock {
    in_place: [AtomicU64; IN_PLACE],
    /// The bits of the entries in place that were ever raised, set after the entry.
    known: AtomicU64,
    more: boxcar::Vec<AtomicU64>,
}

/// The entries of a [`Clock`] at some moment, of streams whose entries lie in place; who keeps it has those of
/// more streams beside it.
///
/// It is written by one thread at a time and may be read meanwhile: then it says nothing, and whoever reads finds
/// that out by itself.
#[derive(Debug)]
pub(super) struct Copied {
    known: AtomicU64,
    /// Only the known entries count. Of the first [`FEW`] the others are 0.
    in_place: [AtomicU64; IN_PLACE],
}

/// So many streams are few: their entries are copied and merged as they lie, which is faster than to ask of each
/// whether it is known.
const FEW: usize = 8;

/// The bits of streams that are not among the few.
const OTHERS: u64 = !0 << FEW;

/// A copy of a [`Copied`] that knows few streams.
#[derive(Debug)]
pub(super) struct Few {
    known: u64,
    numbers: [u64; FEW],
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

impl Copied {
    /// Of a clock that has waited for nothing.
    pub(super) fn new() -> Self {
        Self { known: AtomicU64::new(0), in_place: [const { AtomicU64::new(0) }; IN_PLACE] }
    }

    /// The latest record of `stream` that was waited for; 0 for none.
    pub(super) fn get(&self, more: &[u64], stream: u32) -> u64 {
        let stream = stream as usize;
        match self.in_place.get(stream) {
            Some(number) if self.known() & (1 << stream) != 0 => number.load(Ordering::Relaxed),
            Some(_) => 0,
            None => more.get(stream - IN_PLACE).copied().unwrap_or(0),
        }
    }

    /// Shows each stream that was waited for, and its latest record that was.
    pub(super) fn for_each(&self, more: &[u64], mut visit: impl FnMut(u32, u64)) {
        for_each(self.known(), |stream| {
            visit(stream as u32, self.in_place[stream].load(Ordering::Relaxed));
        });
        let more = more.iter().enumerate().filter(|(_, number)| **number > 0);
        more.for_each(|(index, number)| visit((IN_PLACE + index) as u32, *number));
    }

    /// All of it, if those are few.
    #[inline]
    pub(super) fn few(&self) -> Option<Few> {
        let known = self.known();
        let number = |stream: usize| self.in_place[stream].load(Ordering::Relaxed);
        (known & OTHERS == 0).then(|| Few { known, numbers: std::array::from_fn(number) })
    }

    fn known(&self) -> u64 {
        self.known.load(Ordering::Relaxed)
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
    pub(super) fn raise(&self, stream: u32, number: u64) {
        match self.in_place.get(stream as usize) {
            Some(entry) => {
                raise(entry, number);
                self.learn(1 << stream);
            }
            None => self.raise_more(stream as usize - IN_PLACE, number),
        }
    }

    /// Notes all waits of `other`, and those of `more` streams.
    pub(super) fn merge(&self, other: &Copied, more: &[u64]) {
        other.for_each(more, |stream, number| self.raise(stream, number));
    }

    /// Notes all waits of `other`.
    #[inline]
    pub(super) fn merge_few(&self, other: &Few) {
        for (entry, number) in self.in_place.iter().zip(other.numbers) {
            raise(entry, number);
        }
        self.learn(other.known);
    }

    /// Copies all entries, those of more streams into `more`, and `number` for `stream`. Whatever else is in the
    /// copy was queued before.
    pub(super) fn copy_into(&self, copy: &Copied, more: &mut Vec<u64>, stream: u32, number: u64) {
        let stream = stream as usize;
        let mut known = self.known.load(Ordering::Acquire);
        let copy_one = |stream: usize| {
            let entry = self.in_place[stream].load(Ordering::Acquire);
            copy.in_place[stream].store(entry, Ordering::Relaxed);
        };
        (0..FEW).for_each(copy_one);
        for_each(known & OTHERS, copy_one);
        if let Some(own) = copy.in_place.get(stream) {
            own.store(number, Ordering::Relaxed);
            known |= 1 << stream;
        }
        copy.known.store(known, Ordering::Relaxed);
        more.clear();
        if stream >= IN_PLACE || self.more.count() > 0 {
            for (index, entry) in self.more.iter() {
                // Entries that are being added are passed over.
                more.resize(index, 0);
                more.push(entry.load(Ordering::Acquire));
            }
            if let Some(index) = stream.checked_sub(IN_PLACE) {
                more.resize(more.len().max(index + 1), 0);
                more[index] = number;
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
            self.known.fetch_or(streams, Ordering::AcqRel);
        }
    }

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
    fn a_copy_merges_into_another() {
        let (from, into) = (Clock::new(), Clock::new());
        from.raise(2, 9);
        from.raise(63, 5);
        from.raise(100, 4);
        into.raise(2, 10);
        let (copy, mut more) = (Copied::new(), Vec::new());
        from.copy_into(&copy, &mut more, 3, 6);
        into.merge(&copy, &more);
        let all = [2, 100, 0, 3, 63, 99].map(|stream| into.get(stream));
        assert_eq!(all, [10, 4, 0, 6, 5, 0]);
        from.copy_into(&copy, &mut more, 200, 1);
        into.merge(&copy, &more);
        assert_eq!((into.get(200), into.get(199), into.get(100)), (1, 0, 4));
        assert!(copy.few().is_none());
    }

    #[test]
    fn few_streams_are_copied_as_they_are() {
        let (from, into) = (Clock::new(), Clock::new());
        from.raise(0, 4);
        from.raise(7, 9);
        into.raise(7, 10);
        let (copy, mut more) = (Copied::new(), Vec::new());
        from.copy_into(&copy, &mut more, 3, 6);
        let few = copy.few();
        assert!(few.is_some());
        few.iter().for_each(|few| into.merge_few(few));
        assert_eq!([0, 3, 7, 1].map(|stream| into.get(stream)), [4, 6, 10, 0]);
        from.raise(8, 1);
        from.copy_into(&copy, &mut more, 3, 6);
        assert!(copy.few().is_none());
    }

    #[test]
    fn what_was_forgotten_is_not_copied() {
        let clock = Clock::new();
        clock.raise(5, 2);
        clock.forget();
        clock.raise(6, 3);
        let (copy, mut more, into) = (Copied::new(), Vec::new(), Clock::new());
        clock.copy_into(&copy, &mut more, 7, 1);
        into.merge(&copy, &more);
        assert_eq!([5, 6, 7].map(|stream| into.get(stream)), [0, 3, 1]);
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
                let (copy, mut more) = (Copied::new(), Vec::new());
                start.wait();
                for _ in 0..30 {
                    clock.copy_into(&copy, &mut more, 0, 1);
                    for (i, number) in more.iter().enumerate() {
                        assert!(*number == 0 || *number == i as u64 + 1, "{i}: {number}");
                    }
                }
            });
        }
    }
}
