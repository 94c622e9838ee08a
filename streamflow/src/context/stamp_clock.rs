//! The clock of acquisition times: the platform's, read between its readings from the processor's counter.
//!
//! A source reads the time in each tick. The system's clock takes 18 ns for that, which was a third of a tick of two small
//! operators; the counter takes 8. So the clock is read once a millisecond, and the counter says how much later it is.
//! A time from it is never before an earlier one of the same node, and less than a microsecond from the clock's.

use std::cell::Cell;

use crate::driver::Cycles;
use crate::time::{Clock, Timestamp};

/// For so many cycles the counter is added to one reading of the clock: about a millisecond.
const SPAN: u64 = 1 << 21;

/// A reading of the clock that takes more cycles was interrupted, and it is not known when.
const LONGEST_READING: u64 = 1 << 10;

/// The clock of the acquisition times of one node.
#[derive(Debug)]
pub(super) struct StampClock {
    /// `None` for a simulated clock, which is exact, and where no counter is steady.
    counter: Option<Cycles>,
    reading: Cell<Reading>,
}

/// A reading of the clock.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// The counter after it; 0 before the first.
    cycles: u64,
    at: Timestamp,
    /// The nanoseconds of a cycle, times 2³²; 0 if it is not known.
    rate: u64,
    /// For how many cycles the reading serves.
    span: u64,
    /// No time from now on is earlier.
    least: Timestamp,
}

impl Reading {
    /// Before the first one.
    const NONE: Self = Self { cycles: 0, at: Timestamp(0), rate: 0, span: 0, least: Timestamp(0) };
}

impl StampClock {
    pub(super) fn new(clock: &Clock) -> Self {
        let counter = if clock.is_simulated() { None } else { Cycles::steady() };
        Self { counter, reading: Cell::new(Reading::NONE) }
    }

    /// Now.
    #[inline]
    pub(super) fn now(&self, clock: &Clock) -> Timestamp {
        let Some(counter) = self.counter else { return clock.now() };
        let reading = self.reading.get();
        let passed = counter.read().wrapping_sub(reading.cycles);
        if passed < reading.span { reading.later(passed) } else { self.read(clock, counter) }
    }

    #[inline(never)]
    fn read(&self, clock: &Clock, counter: Cycles) -> Timestamp {
        let (begun, at, cycles) = (counter.read(), clock.now(), counter.read());
        let at = at.max(self.reading.get().least);
        self.reading.set(self.reading.get().next(begun, at, cycles));
        at
    }
}

impl Reading {
    /// The time so many cycles after it.
    #[inline]
    fn later(&self, cycles: u64) -> Timestamp {
        Timestamp(self.at.0 + ((cycles * self.rate) >> 32))
    }

    /// The reading after a further look at the clock: `begun` and `cycles` are the counter before and after it.
    fn next(&self, begun: u64, at: Timestamp, cycles: u64) -> Self {
        let passed = cycles.wrapping_sub(self.cycles);
        let is_first = self.cycles == 0;
        if cycles.wrapping_sub(begun) > LONGEST_READING || !is_first && passed < SPAN {
            // Too long, or too short to tell the rate.
            return Self { span: 0, least: at, ..*self };
        }
        let first = Self { cycles, at, rate: 0, span: 0, least: at };
        let since = (at.since(self.at).as_nanos() << 32) / u128::from(passed.max(1));
        let rate = u64::try_from(since).unwrap_or(u64::MAX);
        // A cycle takes less than 4 ns. A rate that has changed is none: the machine was suspended or moved.
        let has_changed = self.rate > 0 && rate.abs_diff(self.rate) > self.rate >> 10;
        if is_first || has_changed || rate == 0 || rate >> 34 > 0 {
            return first;
        }
        let reading = Self { rate, span: SPAN, ..first };
        Self { least: reading.later(SPAN), ..reading }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Half a nanosecond for a cycle.
    const RATE: u64 = 1 << 31;

    fn look(reading: Reading, cycles: u64, at: u64) -> Reading {
        reading.next(cycles - 100, Timestamp(at), cycles)
    }

    /// A reading at the cycle `SPAN`, after one at the cycle 1000.
    fn known() -> Reading {
        let first = look(Reading::NONE, 1000, 500);
        assert_eq!((first.span, first.rate), (0, 0));
        look(first, 1000 + SPAN, 500 + SPAN / 2)
    }

    #[test]
    fn the_rate_is_known_after_two_readings_that_are_far_apart() {
        let first = look(Reading::NONE, 1000, 500);
        let near = look(first, 5000, 2500);
        assert_eq!((near.span, near.cycles, near.least), (0, 1000, Timestamp(2500)));
        let far = look(near, 1000 + SPAN, 500 + SPAN / 2);
        assert_eq!((far.span, far.rate), (SPAN, RATE));
        assert_eq!(far.later(10), Timestamp(far.at.0 + 5));
        assert_eq!(far.least, Timestamp(far.at.0 + SPAN / 2));
    }

    #[test]
    fn a_reading_that_was_interrupted_is_not_used() {
        let known = known();
        let (begun, cycles) = (known.cycles + SPAN, known.cycles + SPAN + LONGEST_READING + 1);
        let next = known.next(begun, Timestamp(known.at.0 + SPAN), cycles);
        assert_eq!((next.span, next.cycles, next.rate), (0, known.cycles, RATE));
    }

    #[test]
    fn a_rate_that_changes_is_found_again() {
        let known = known();
        // The counter went on for a second in which the clock stood still.
        let (cycles, at) = (known.cycles + 2_000_000_000, known.at.0 + 1000);
        let moved = look(known, cycles, at);
        assert_eq!((moved.span, moved.rate, moved.cycles), (0, 0, cycles));
        let again = look(moved, cycles + SPAN, at + SPAN / 2);
        assert_eq!((again.span, again.rate), (SPAN, RATE));
        // The counter begins anew.
        assert_eq!(look(again, 2000, again.at.0 + 10).span, 0);
    }

    #[test]
    fn times_are_those_of_the_clock_and_never_go_back() {
        let clock = Clock::real();
        let stamps = StampClock::new(&clock);
        let mut last = Timestamp(0);
        for _ in 0..200_000 {
            let before = clock.now();
            let at = stamps.now(&clock);
            assert!(at >= last);
            assert!(
                at + Duration::from_micros(20) > before
                    && at < clock.now() + Duration::from_micros(20)
            );
            last = at;
        }
    }

    #[test]
    fn a_simulated_clock_is_exact() {
        let clock = Clock::simulated();
        let stamps = StampClock::new(&clock);
        clock.advance(Duration::from_nanos(3));
        assert_eq!(stamps.now(&clock), Timestamp(3));
    }
}
