//! The latest records of one stream: an event each, and what the record covers.

use super::clock::{ENTRIES, Entry, Snapshot};

/// Events per stream: about as many as the records of one stream that are still waited for. A wait for a record that was
/// overwritten is a wait for a later one.
#[cfg(not(loom))]
pub(super) const RING: usize = 16;
/// In a model, so few that records are overwritten soon.
#[cfg(loom)]
pub(super) const RING: usize = 2;

/// A record that an event of the ring holds, and what its stream had waited for by then. Work that waits for the event
/// comes after all of that: the event may hold a later record of the stream meanwhile, and that comes after this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) covered: Snapshot,
}

/// The records that the events hold, by slot.
#[derive(Debug)]
pub(super) struct Ring([Record; RING]);

impl Default for Record {
    fn default() -> Self {
        Self { number: 0, covered: [Entry::NONE; ENTRIES] }
    }
}

impl Default for Ring {
    fn default() -> Self {
        Self([Record::default(); RING])
    }
}

/// The slot of a record, until a later one overwrites it.
pub(super) fn slot(number: u64) -> usize {
    number as usize % RING
}

impl Ring {
    /// Empties the slot of a record until that record is [set](Self::set).
    pub(super) fn clear(&mut self, number: u64) {
        self.0[slot(number)].number = 0;
    }

    /// Stores a record that the driver has taken.
    pub(super) fn set(&mut self, record: Record) {
        self.0[slot(record.number)] = record;
    }

    /// Whether the record was made and is still in the ring.
    pub(super) fn holds(&self, number: u64) -> bool {
        self.0[slot(number)].number == number
    }

    /// The latest record in the ring.
    pub(super) fn latest(&self) -> Option<u64> {
        self.0.iter().map(|record| record.number).max().filter(|number| *number > 0)
    }

    /// The record itself, or the next later one in the ring; `None` if nothing was recorded since.
    #[inline]
    pub(super) fn covering(&self, number: u64) -> Option<&Record> {
        if self.holds(number) {
            return Some(&self.0[slot(number)]);
        }
        self.0.iter().filter(|record| record.number >= number).min_by_key(|record| record.number)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::stream::clock::Clock;

    fn record(ring: &mut Ring, number: u64) {
        let clock = Clock::new();
        clock.raise(1, 1000 + number);
        ring.clear(number);
        ring.set(Record { number, covered: clock.snapshot() });
    }

    #[test]
    fn an_overwritten_record_is_covered_by_the_oldest_in_the_ring() {
        let mut ring = Ring::default();
        assert!(ring.covering(1).is_none());
        (1..=40).for_each(|number| record(&mut ring, number));
        for (number, found) in [(1, 25), (24, 25), (25, 25), (30, 30), (40, 40)] {
            let covering = ring.covering(number).unwrap();
            assert_eq!(covering.number, found);
            // What it covers is its own, and not that of the record that was looked up.
            assert_eq!(covering.covered[1].record(), 1000 + found);
        }
        assert!(ring.covering(41).is_none());
    }

    #[test]
    fn a_record_that_failed_covers_nothing() {
        let mut ring = Ring::default();
        (1..=20).for_each(|number| record(&mut ring, number));
        ring.clear(21);
        assert!(!ring.holds(21) && !ring.holds(5) && ring.covering(21).is_none());
        assert_eq!(ring.covering(5).unwrap().number, 6);
        record(&mut ring, 22);
        assert_eq!(ring.covering(21).unwrap().number, 22);
    }
}
