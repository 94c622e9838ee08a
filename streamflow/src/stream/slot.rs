//! One event of a stream, and what its latest record stands for.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::clock::{self, Clock, Neighbours};
use crate::driver::OwnedEvent;

/// It takes the list beside the slot to see all that the record covers.
const MORE: u64 = 1 << 63;

/// Which records of other streams a record covers, beyond its [neighbours](super::clock::Neighbours).
pub(super) type More = Vec<(u32, u64)>;

/// A place for one record. Who has the stream's lock changes it; a record that covers but its neighbours can be read
/// without.
///
/// It is then read as under a sequence lock (H.-J. Boehm, *Can seqlocks get along with programming language memory
/// models?*, MSPC 2012): the number is cleared before anything else changes, and set last; who sees it twice, before
/// and after it has read the rest, has read what belongs to it.
// Two lines of the cache, which a stream comes back to once in a ring: by then the driver has used all others.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// The number of the record that the event holds, and [`MORE`]; 0 for none.
    number: AtomicU64,
    event: OwnedEvent,
    /// Who the stream's neighbours are.
    first: u32,
    /// What the stream had waited for at that record, and the record itself: whoever waits for it has waited for all
    /// that.
    covered: Neighbours,
}

const _: () = assert!(size_of::<Slot>() == 128);

impl Slot {
    /// For records of `stream`.
    pub(super) fn new(event: OwnedEvent, stream: u32) -> Self {
        let first = clock::first_neighbour(stream);
        Self { number: AtomicU64::new(0), event, first, covered: Default::default() }
    }

    /// The event.
    pub(super) fn event(&self) -> &OwnedEvent {
        &self.event
    }

    /// The number of the record that it holds; 0 for none.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire) & !MORE
    }

    /// Makes place for a record of `stream`, which will cover what the stream has waited for by now. Until it is
    /// [set](Self::set) the slot stands for nothing.
    pub(super) fn prepare(&self, seen: &Clock, more: &mut More, stream: u32, number: u64) {
        self.number.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        more.clear();
        let neighbours = self.covered.iter().zip(seen.neighbours(self.first));
        neighbours.for_each(|(covered, seen)| {
            covered.store(seen.load(Ordering::Acquire), Ordering::Relaxed)
        });
        seen.for_each_other(self.first, |stream, number| more.push((stream, number)));
        match self.covered.get((stream - self.first) as usize) {
            Some(own) => own.store(number, Ordering::Relaxed),
            None => more.push((stream, number)),
        }
    }

    /// From here on it stands for this record, for which it was [prepared](Self::prepare).
    pub(super) fn set(&self, number: u64, more: &More) {
        let number = if more.is_empty() { number } else { number | MORE };
        self.number.store(number, Ordering::Release);
    }

    /// Notes a wait for record `number`, which `wait` makes, if this is the one that the slot holds, and if all that
    /// it covers is in the slot. Else nothing is done.
    #[inline(always)]
    pub(super) fn wait<E>(
        &self,
        number: u64,
        seen: &Clock,
        wait: impl FnOnce(&OwnedEvent) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        if self.number.load(Ordering::Acquire) != number {
            return None;
        }
        let covered = self.covered.each_ref().map(|covered| covered.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if self.number.load(Ordering::Relaxed) != number {
            return None;
        }
        // It may hold a later record by now, and then the wait is longer.
        let waited = wait(&self.event);
        if waited.is_ok() {
            seen.raise_neighbours(self.first, covered);
        }
        Some(waited)
    }

    /// Shows what the record covers, to who has the stream's lock.
    pub(super) fn for_each(&self, more: &More, mut visit: impl FnMut(u32, u64)) {
        for (stream, covered) in (self.first..).zip(&self.covered) {
            match covered.load(Ordering::Relaxed) {
                // There may be no such stream.
                0 => {}
                number => visit(stream, number),
            }
        }
        more.iter().for_each(|(stream, number)| visit(*stream, *number));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::{DeviceId, Driver};

    fn slot(stream: u32) -> Slot {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        Slot::new(OwnedEvent::create(&driver, DeviceId::default()).unwrap(), stream)
    }

    /// What somebody knows who has waited for record `number`.
    fn after(slot: &Slot, more: &More, number: u64) -> Clock {
        let into = Clock::new();
        if !is_few(slot, number, &into) {
            slot.for_each(more, |stream, number| into.raise(stream, number));
        }
        into
    }

    fn is_few(slot: &Slot, number: u64, into: &Clock) -> bool {
        slot.wait(number, into, |_| Ok::<_, ()>(())).is_some()
    }

    #[test]
    fn who_waits_for_a_record_has_waited_for_what_it_covers() {
        let slot = slot(19);
        let (from, mut more) = (Clock::new(), More::new());
        from.raise(16, 9);
        from.raise(23, 5);
        slot.prepare(&from, &mut more, 19, 6);
        assert_eq!(slot.number(), 0, "until it is set");
        slot.set(6, &more);
        assert!(is_few(&slot, 6, &Clock::new()) && !is_few(&slot, 7, &Clock::new()));
        let into = after(&slot, &more, 6);
        assert_eq!([16, 19, 23, 17].map(|stream| into.get(stream)), [9, 6, 5, 0]);
    }

    #[test]
    fn a_record_of_many_streams_covers_them_all() {
        let slot = slot(3);
        let (from, mut more) = (Clock::new(), More::new());
        let streams = [1, 5, 7, 8, 9, 30, 40, 63, 64, 70, 200];
        streams.iter().for_each(|stream| from.raise(*stream, u64::from(*stream)));
        slot.prepare(&from, &mut more, 3, 6);
        slot.set(6, &more);
        assert_eq!((slot.number(), is_few(&slot, 6, &Clock::new())), (6, false));
        let into = after(&slot, &more, 6);
        assert!(streams.iter().all(|stream| into.get(*stream) == u64::from(*stream)));
        assert_eq!((into.get(3), into.get(65)), (6, 0));
        // The next record in the slot covers fewer.
        slot.prepare(&Clock::new(), &mut more, 3, 7);
        slot.set(7, &more);
        let into = after(&slot, &more, 7);
        assert_eq!((into.get(3), into.get(1), into.get(200)), (7, 0, 0));
    }

    #[test]
    fn streams_with_large_numbers_have_their_records_in_the_list() {
        let slot = slot(200);
        let (from, mut more) = (Clock::new(), More::new());
        from.raise(60, 2);
        slot.prepare(&from, &mut more, 200, 4);
        slot.set(4, &more);
        let into = after(&slot, &more, 4);
        assert_eq!([60, 200, 56].map(|stream| into.get(stream)), [2, 4, 0]);
    }

    #[test]
    fn who_reads_while_it_is_overwritten_reads_one_record_or_none() {
        let slot = slot(6);
        let (clock, done) = (Clock::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut more = More::new();
                for number in 1..200_000 {
                    (0..6).for_each(|stream| clock.raise(stream, number));
                    slot.prepare(&clock, &mut more, 6, number);
                    slot.set(number, &more);
                }
                done.store(true, Ordering::Release);
            });
            let mut read = 0;
            while !done.load(Ordering::Acquire) {
                let number = slot.number();
                let into = Clock::new();
                if number > 0 && is_few(&slot, number, &into) {
                    (0..7).for_each(|stream| assert_eq!(into.get(stream), number));
                    read += 1;
                }
            }
            assert!(read > 0);
        });
    }
}
