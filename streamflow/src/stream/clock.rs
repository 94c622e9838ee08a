//! Which records of other streams a stream has waited for, as far as a fixed space holds them.

use crate::sync::{AtomicU64, Ordering};

/// Entries of a clock; streams whose numbers are equal modulo this share an entry. Streams that work together were mostly
/// made together, so their numbers differ in the lowest bits.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// In a model, so few that two of four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// Whether no raised entry is lost. In a model the form of release builds is executed.
const LOSES_NONE: bool = cfg!(all(debug_assertions, not(loom)));

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

    /// Whether it replaces another entry at its place: one of another stream, or an earlier one.
    #[inline]
    fn is_new_after(self, before: Self) -> bool {
        // Words with one stream differ by their records. One branch for all: where operators read several others, no
        // processor guesses each of these.
        let is_other = (before.0 ^ self.0) >> Self::RECORD_BITS != 0;
        ((before.0 < self.0) | is_other) & (self.0 != Self::NONE.0)
    }
}

/// For some streams, the latest record that was waited for.
///
/// A new entry replaces another stream's, which is forgotten. Several threads may read and raise it without a lock: each
/// entry is a statement by itself and stays true, and a lost one costs a wait that was not needed. So two threads that make
/// one stream wait, as where an operator works on a stream that it has adopted, may leave the lower of their entries.
///
/// Debug builds compare a clock with what a plan expects (`context::prediction`), and there no raised entry is lost: a locked
/// instruction for each of the eight entries of a merge would be a third of a tick of a small operator.
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
        self.raise_as::<LOSES_NONE>(stream, record);
    }

    /// As [`raise`](Self::raise). `LOSES_NONE` says that no entry falls, whatever other threads do.
    #[inline]
    pub(super) fn raise_as<const LOSES_NONE: bool>(&self, stream: u32, record: u64) {
        let entry = Entry::new(stream, record);
        raise::<LOSES_NONE>(&self.0[entry.stream() as usize % ENTRIES], entry, true);
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
        for (place, entry) in self.0.iter().zip(snapshot) {
            raise::<LOSES_NONE>(place, *entry, entry.stream() != own);
        }
    }
}

/// Raises the entry at its place, if it may be one of its stream.
#[inline]
fn raise<const LOSES_NONE: bool>(place: &AtomicU64, entry: Entry, may: bool) {
    let mut before = Entry(place.load(Ordering::Relaxed));
    while entry.is_new_after(before) & may {
        if !LOSES_NONE {
            return place.store(entry.0, Ordering::Release);
        }
        match place.compare_exchange(before.0, entry.0, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(found) => before = Entry(found),
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
