//! Which records of other streams a stream has waited for, as far as a fixed space holds them.

use crate::sync::{AtomicU64, Ordering};

/// Entries of a clock; streams whose numbers are equal modulo this share an entry. Streams that work together were mostly
/// made together, so their numbers differ in the lowest bits.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// In a model, so few that two of four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// A clock at one moment.
pub(super) type Snapshot = [Entry; ENTRIES];

/// "The stream has waited for this record of that stream", in one word, so that it is read and written as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// Records are numbered from 1.
    pub(super) const NONE: Self = Self(0);
    const RECORD_BITS: u32 = 44;
    const RECORD: u64 = (1 << Self::RECORD_BITS) - 1;

    /// [`NONE`](Self::NONE) for numbers that don't fit, which costs waits that were not needed.
    #[inline]
    pub(super) fn new(stream: u32, record: u64) -> Self {
        let fits = u64::from(stream) < 1 << (u64::BITS - Self::RECORD_BITS);
        if fits && record <= Self::RECORD {
            Self(u64::from(stream) << Self::RECORD_BITS | record)
        } else {
            Self::NONE
        }
    }

    #[inline]
    pub(super) fn stream(self) -> u32 {
        (self.0 >> Self::RECORD_BITS) as u32
    }

    /// 0 for no record.
    #[inline]
    pub(super) fn record(self) -> u64 {
        self.0 & Self::RECORD
    }
}

/// For some streams, the latest record that was waited for.
///
/// A new entry replaces another stream's, which is forgotten. Several threads may read and raise it without a lock: each
/// entry is a statement by itself and stays true, and a lost one costs a wait that was not needed.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Clock([AtomicU64; ENTRIES]);

impl Clock {
    pub(super) fn new() -> Self {
        Self([Entry::NONE.0; ENTRIES].map(AtomicU64::new))
    }

    /// The latest record of `stream` that is known to have been waited for; 0 for none.
    #[inline]
    pub(super) fn get(&self, stream: u32) -> u64 {
        let entry = Entry(self.0[stream as usize % ENTRIES].load(Ordering::Acquire));
        if entry.stream() == stream { entry.record() } else { 0 }
    }

    /// Notes a wait that the driver has taken.
    #[inline]
    pub(super) fn raise(&self, stream: u32, record: u64) {
        self.raise_to(Entry::new(stream, record));
    }

    #[inline]
    fn raise_to(&self, entry: Entry) {
        self.raise_at(entry.stream() as usize % ENTRIES, entry);
    }

    /// Raises the entry at an index, which is its stream's.
    #[inline]
    fn raise_at(&self, index: usize, entry: Entry) {
        let place = &self.0[index];
        let before = Entry(place.load(Ordering::Relaxed));
        // Words with one stream differ by their records.
        if before.0 < entry.0 || before.stream() != entry.stream() {
            place.store(entry.0, Ordering::Release);
        }
    }

    /// What the stream has waited for by now.
    #[inline]
    pub(super) fn snapshot(&self) -> Snapshot {
        std::array::from_fn(|index| Entry(self.0[index].load(Ordering::Acquire)))
    }

    /// Notes everything that another stream had waited for, after a wait for that stream, except entries about `own`.
    #[inline]
    pub(super) fn merge(&self, snapshot: &Snapshot, own: u32) {
        // An entry of another clock is at the same index.
        for (index, entry) in snapshot.iter().enumerate() {
            if *entry != Entry::NONE && entry.stream() != own {
                self.raise_at(index, *entry);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn entries_rise_and_never_fall() {
        let clock = Clock::new();
        for stream in [0, 3, 200] {
            assert_eq!(clock.get(stream), 0);
            clock.raise(stream, 7);
            clock.raise(stream, 5);
            assert_eq!(clock.get(stream), 7);
        }
        assert_eq!(clock.get(199), 0);
    }

    /// An entry is never taken for another stream's, however many streams share it.
    #[test]
    fn a_stream_that_takes_the_place_of_another_makes_it_forgotten() {
        let clock = Clock::new();
        let streams = (0..10).map(|nth| 5 + nth * ENTRIES as u32);
        for stream in streams.clone() {
            clock.raise(stream, 100 + u64::from(stream));
            for other in streams.clone() {
                let known = if other == stream { 100 + u64::from(stream) } else { 0 };
                assert_eq!(clock.get(other), known);
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_not_remembered() {
        let clock = Clock::new();
        for (stream, record) in [(1 << 20, 1), (u32::MAX, 1), (1, 1 << 44), (1, u64::MAX)] {
            clock.raise(stream, record);
            assert_eq!((clock.get(stream), clock.snapshot()), (0, [Entry::NONE; ENTRIES]));
        }
        let (stream, record) = ((1 << 20) - 1, (1 << 44) - 1);
        clock.raise(stream, record);
        assert_eq!((clock.get(stream), clock.get(stream - 1)), (record, 0));
    }

    #[test]
    fn a_merge_takes_all_entries_but_those_about_its_own_stream() {
        let (from, into) = (Clock::new(), Clock::new());
        [(1, 9), (2, 4), (3, 5)].iter().for_each(|(stream, record)| from.raise(*stream, *record));
        [(1, 3), (2, 7)].iter().for_each(|(stream, record)| into.raise(*stream, *record));
        into.merge(&from.snapshot(), 3);
        assert_eq!([1, 2, 3].map(|stream| into.get(stream)), [9, 7, 0]);
    }
}
