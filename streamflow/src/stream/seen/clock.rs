//! A stream's clock: the records of other streams that the stream has waited for. It has room for a fixed number of entries.
//!
//! The clocks of two streams are merged index by index, with one comparison of words and one branch for each entry. For a task of
//! a chain, this saves 160 instructions together with an inlined comparison of drivers. For an operator that reads several
//! others, it saves 7 mispredicted branches: 10 to 14 ns of 150 in a chain, together with the move of errors in `driver::owned`.
//! A wait merges another clock with one subtraction and one comparison for each entry, which saves 250 of 557 instructions for a
//! task of a chain. All numbers were counted on `overhead` and `floor`.

use crate::stream::record::{ENTRIES, Entry, Snapshot};
use crate::sync::{AtomicU64, Ordering};

/// For some other streams, the latest record that a stream has waited for.
///
/// A new entry may replace the entry of another stream, which the clock then forgets. Several threads may read and raise a clock
/// without a lock, because each entry is true independently of the other entries, and stays true. The record in an entry never
/// decreases, even if several threads make the same stream wait, as where an operator works on a stream that it has adopted.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Clock([AtomicU64; ENTRIES]);

impl Clock {
    pub(super) fn new() -> Self {
        Self([Entry::NONE.0; ENTRIES].map(AtomicU64::new))
    }

    /// Returns the latest record of `stream` that the clock has; 0 if it has none.
    #[inline]
    pub(super) fn get(&self, stream: u32) -> u64 {
        let entry = Entry(self.0[stream as usize % ENTRIES].load(Ordering::Acquire));
        if entry.stream() == stream { entry.record() } else { 0 }
    }

    /// Notes a wait for a record that the driver has accepted.
    #[inline]
    pub(super) fn raise(&self, stream: u32, record: u64) {
        let entry = Entry::new(stream, record);
        raise(&self.0[entry.stream() as usize % ENTRIES], entry);
    }

    /// Copies the clock's entries to `to`.
    #[inline]
    pub(super) fn snapshot(&self, to: &mut Snapshot) {
        for (entry, word) in to.iter_mut().zip(&self.0) {
            *entry = Entry(word.load(Ordering::Acquire));
        }
    }

    /// Notes a wait for `record`, a record of another stream, that the driver has accepted, and the entries in `covered` that the
    /// record covers, except entries for the stream `own` itself. Afterwards `covered` has the entries that were noted.
    #[inline]
    pub(super) fn merge(&self, record: Entry, covered: &mut Snapshot, own: u32) {
        let about = &mut covered[own as usize % ENTRIES];
        if about.stream() == own {
            *about = Entry::NONE;
        }
        // The entry of the record itself replaces the covered entry at the same index: a wait that was made ranks above an
        // implied one.
        covered[record.stream() as usize % ENTRIES] = record;
        // Entries with the same index in both clocks are compared.
        for (place, entry) in self.0.iter().zip(&*covered) {
            raise(place, *entry);
        }
    }
}

/// Raises one word of a clock: `entry` replaces an entry of another stream, or an earlier record of the same stream.
/// [`Entry::NONE`] replaces nothing.
#[inline]
fn raise(place: &AtomicU64, entry: Entry) {
    let mut before = place.load(Ordering::Relaxed);
    loop {
        let after = if entry == Entry::NONE { before } else { entry.0 };
        // One comparison and one branch cover all cases. Separate branches would be mispredicted where an operator reads from
        // several others. The numbers of two streams at one index differ by two or more, so their words differ by more than
        // `Entry::RECORD`.
        if before.wrapping_sub(after) <= Entry::RECORD {
            return;
        }
        match place.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(found) => before = found,
        }
    }
}

const _: () = assert!(ENTRIES >= 2 && ENTRIES.is_power_of_two());

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn snapshot(clock: &Clock) -> Snapshot {
        let mut snapshot = [Entry::NONE; ENTRIES];
        clock.snapshot(&mut snapshot);
        snapshot
    }

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

    /// An entry of one stream never counts for another stream, however many streams share the index.
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
        for (stream, record) in [((1 << 20) - 1, 1), (u32::MAX, 1), (1, 1 << 44), (1, u64::MAX)] {
            clock.raise(stream, record);
            assert_eq!((clock.get(stream), snapshot(&clock)), (0, [Entry::NONE; ENTRIES]));
        }
        let (stream, record) = ((1 << 20) - 2, (1 << 44) - 1);
        clock.raise(stream, record);
        assert_eq!((clock.get(stream), clock.get(stream - 1)), (record, 0));
    }

    #[test]
    fn a_merge_takes_all_entries_but_those_about_its_own_stream() {
        let (from, into) = (Clock::new(), Clock::new());
        [(1, 9), (2, 4), (3, 5)].iter().for_each(|(stream, record)| from.raise(*stream, *record));
        [(1, 3), (2, 7)].iter().for_each(|(stream, record)| into.raise(*stream, *record));
        into.merge(Entry::new(4, 1), &mut snapshot(&from), 3);
        assert_eq!([1, 2, 3, 4].map(|stream| into.get(stream)), [9, 7, 0, 1]);
    }

    #[test]
    fn a_wait_that_was_made_is_known_and_not_what_it_implies_about_a_stream_at_its_place() {
        const E: u32 = ENTRIES as u32;
        let (from, into) = (Clock::new(), Clock::new());
        from.raise(1, 9);
        into.merge(Entry::new(1 + E, 2), &mut snapshot(&from), 3);
        assert_eq!([1, 1 + E].map(|stream| into.get(stream)), [0, 2]);
    }

    /// A merged entry replaces the entry of another stream at the same index, whichever stream number or record is larger.
    #[test]
    fn a_merge_replaces_entries_of_other_streams_and_an_empty_place_replaces_none() {
        const E: u32 = ENTRIES as u32;
        for (stream, record) in [(1, 2), (1, 8), (1 + 2 * E, 2), (1 + 2 * E, 8)] {
            let (from, into) = (Clock::new(), Clock::new());
            from.raise(stream, record);
            [1 + E, 4].iter().for_each(|stream| into.raise(*stream, 5));
            into.merge(Entry::new(6, 1), &mut snapshot(&from), 7);
            assert_eq!([stream, 1 + E, 4].map(|stream| into.get(stream)), [record, 0, 5]);
        }
    }
}
