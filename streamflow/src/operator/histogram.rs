//! `Histogram`: counts durations in memory of a fixed size.

use std::time::Duration;

/// The longest duration that a histogram can tell from longer ones: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// The number of significant decimal digits of a percentile: percentiles are at most 1 % too high.
const DIGITS: u8 = 2;

/// A histogram of durations from 1 ns to an hour, with 2 significant digits. Its size is 36 KiB (as the test
/// `a_histogram_has_a_fixed_size` shows), and recording a duration allocates nothing. A longer duration counts as an hour in the
/// percentiles; the maximum is exact.
#[derive(Debug)]
pub(super) struct Histogram {
    counts: hdrhistogram::Histogram<u64>,
    longest: u64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        match hdrhistogram::Histogram::new_with_bounds(1, LONGEST, DIGITS) {
            Ok(counts) => Self { counts, longest: 0 },
            Err(error) => unreachable!("the bounds of a histogram are constants: {error}"),
        }
    }

    #[inline]
    pub(super) fn record(&mut self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.longest = self.longest.max(nanoseconds);
        self.counts.saturating_record(nanoseconds.min(LONGEST));
    }

    /// Returns the summary of the recorded durations; `None` if none was recorded.
    pub(super) fn summary(&self) -> Option<Summary> {
        let percentile = |part| {
            let nanoseconds = self.counts.value_at_quantile(part);
            // The histogram returns the upper end of a range of values, which may exceed the longest duration.
            Duration::from_nanos(nanoseconds.min(self.longest))
        };
        let count = self.counts.len();
        let max = Duration::from_nanos(self.longest);
        let [p50, p99] = [0.5, 0.99].map(percentile);
        (count > 0).then_some(Summary { count, p50, p99, max })
    }
}

/// A summary of durations. The percentiles are at most 1 % too high, and at most an hour; the maximum is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of recorded durations.
    pub count: u64,
    /// The median: half of the durations were at most this long.
    pub p50: Duration,
    /// The 99th percentile: 99 of 100 durations were at most this long.
    pub p99: Duration,
    /// The longest of the durations.
    pub max: Duration,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn of(nanoseconds: impl IntoIterator<Item = u64>) -> Option<Summary> {
        let mut histogram = Histogram::new();
        nanoseconds.into_iter().for_each(|n| histogram.record(Duration::from_nanos(n)));
        histogram.summary()
    }

    #[test]
    fn a_histogram_has_a_fixed_size() {
        let mut histogram = Histogram::new();
        let before = histogram.counts.distinct_values();
        assert_eq!(before * size_of::<u64>(), 36 * 1024);
        histogram.record(Duration::MAX);
        assert_eq!(histogram.counts.distinct_values(), before);
    }

    #[test]
    fn percentiles_are_at_most_one_percent_too_high() {
        assert_eq!(of([]), None);
        let ms = 1_000_000;
        let found = of((1..=1000).map(|n| n * ms)).unwrap();
        assert_eq!((found.count, found.max), (1000, Duration::from_secs(1)));
        for (found, exact) in [(found.p50, 500), (found.p99, 990)] {
            let exact = Duration::from_millis(exact);
            assert!(exact <= found && found <= exact * 101 / 100, "{found:?}, not {exact:?}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_counted_at_its_ends() {
        let found = of([0]).unwrap();
        assert_eq!((found.count, found.p50, found.max), (1, Duration::ZERO, Duration::ZERO));
        let day = 24 * LONGEST;
        let found = of([0, day, u64::MAX]).unwrap();
        assert_eq!((found.count, found.max), (3, Duration::from_nanos(u64::MAX)));
        let hour = Duration::from_nanos(LONGEST);
        assert!(found.p50 >= hour && found.p50 <= hour * 101 / 100, "{found:?}");
        let of_one = of([123_457]).unwrap();
        assert_eq!((of_one.p50, of_one.p99), (of_one.max, Duration::from_nanos(123_457)));
    }
}
