//! Time: moments, and the clock of a platform.
//!
//! All code that depends on time asks the platform's [`Clock`]: when a message was acquired, when a condition is due,
//! and how long a run may last. A test gives its platform a simulated clock; then an hour of a periodic graph takes as
//! long as the work of its ticks.

use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment, in nanoseconds since 1970-01-01 00:00 UTC; with a simulated clock, since the clock was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The current time of the system's clock; 0 if that clock is before 1970.
    ///
    /// In an operator use `ExecutionContext::now`, which is simulated under test.
    #[inline]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(nanoseconds(since))
    }

    /// The time from `earlier` to this moment; zero if this moment is not after `earlier`.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Adds a duration. If the sum is too large for a [`Timestamp`], the result is the last moment that one can represent.
impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(duration)))
    }
}

/// Returns the wait `first`, doubled `often` times, and at most `longest` times as long as `first`.
#[doc(hidden)]
pub fn doubled(first: Duration, often: u32, longest: u32) -> Duration {
    let times = 1_u32.checked_shl(often).unwrap_or(longest).min(longest);
    first.saturating_mul(times)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A clock that runs by itself, or a simulated clock. All clones of a clock are the same clock.
///
/// ```
/// # use std::time::Duration;
/// # use streamflow_driver::time::{Clock, Timestamp};
/// let clock = Clock::simulated();
/// let same = clock.clone();
/// clock.advance(Duration::from_secs(3600));
/// assert_eq!(same.now(), Timestamp(3_600_000_000_000));
/// ```
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    /// A clock that runs by itself: the moment at which it was made, by the system's clock, and the monotonic clock's
    /// reading at that moment.
    Real {
        made_at: Timestamp,
        monotonic: Instant,
    },
    Simulated {
        now: Arc<AtomicU64>,
    },
}

impl Clock {
    /// Returns a clock that begins with the system's time at this call, and then follows the monotonic clock: it never
    /// goes back, and does not follow later steps of the system's clock.
    pub fn real() -> Self {
        Self(Source::Real { made_at: Timestamp::now(), monotonic: Instant::now() })
    }

    /// Returns a simulated clock at 0. [`advance`](Self::advance) moves the clock. When a run has nothing to do until a later
    /// moment, the scheduler moves the clock to that moment at once, without regard to other threads.
    pub fn simulated() -> Self {
        Self(Source::Simulated { now: Arc::default() })
    }

    /// The current time.
    #[inline]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Real { made_at, monotonic } => *made_at + monotonic.elapsed(),
            Source::Simulated { now } => Timestamp(now.load(Ordering::Acquire)),
        }
    }

    /// Whether the clock is simulated.
    pub const fn is_simulated(&self) -> bool {
        matches!(self.0, Source::Simulated { .. })
    }

    /// Moves a simulated clock forward, as if a device kept its operator waiting. Does nothing to a real clock, which
    /// moves by itself, and then returns `false`.
    #[inline]
    pub fn advance(&self, by: Duration) -> bool {
        let Source::Simulated { now } = &self.0 else { return false };
        let later = |now| Some((Timestamp(now) + by).0);
        // `later` never returns `None`, so the update succeeds.
        now.fetch_update(Ordering::AcqRel, Ordering::Acquire, later).is_ok()
    }

    /// Moves a simulated clock to a moment, unless it is already later. Returns whether the clock is simulated.
    #[doc(hidden)]
    #[inline]
    pub fn advance_to(&self, at: Timestamp) -> bool {
        let Source::Simulated { now } = &self.0 else { return false };
        now.fetch_max(at.0, Ordering::AcqRel);
        true
    }
}

/// Clones of one clock are equal, other clocks are not.
impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Simulated { now: one }, Source::Simulated { now: other }) => {
                Arc::ptr_eq(one, other)
            }
            (
                Source::Real { made_at, monotonic },
                Source::Real { made_at: other_made_at, monotonic: other_monotonic },
            ) => made_at == other_made_at && monotonic == other_monotonic,
            _ => false,
        }
    }
}

impl Eq for Clock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_saturate() {
        assert_eq!(Timestamp(u64::MAX - 1) + Duration::from_secs(1), Timestamp(u64::MAX));
        assert_eq!(Timestamp(0) + Duration::MAX, Timestamp(u64::MAX));
        assert_eq!(Timestamp(5).since(Timestamp(7)), Duration::ZERO);
        assert_eq!(Timestamp(7).since(Timestamp(5)), Duration::from_nanos(2));
    }

    #[test]
    fn a_simulated_clock_moves_by_hand_alone_and_never_back() {
        let clock = Clock::simulated();
        let same = clock.clone();
        assert_eq!(clock.now(), Timestamp(0));
        assert!(clock.advance(Duration::from_nanos(30)));
        assert!(same.advance_to(Timestamp(20)));
        assert_eq!(same.now(), Timestamp(30));
        assert_eq!(clock, same);
        assert_ne!(clock, Clock::simulated());
    }

    #[test]
    fn a_real_clock_goes_on_from_the_time_of_the_system() {
        let before = Timestamp::now();
        let clock = Clock::real();
        let first = clock.now();
        assert!(before <= first && first <= clock.now());
        assert!(!clock.advance(Duration::from_secs(3600)));
        assert!(clock.now().since(first) < Duration::from_secs(3600));
    }
}
