//! A signal from a stream to a host thread that sleeps.

use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering};
use crate::turns;

/// The length of a sleep that counts as one without a time limit: only a signal should end it.
const NO_LIMIT: Duration = Duration::from_secs(3600);

/// The bits of the count that raises change. [`nudge`](Signal::nudge) changes the other bits.
const RAISES: u64 = (1 << 40) - 1;

/// Counts how often streams have raised the signal. A thread can sleep until the count changes.
///
/// Every queued call owns a reference to the signal, so the signal may outlive the thread that waits. After a sticky error
/// the driver may never make the call: then the call's reference is leaked, and the sleep ends after its time limit.
#[doc(hidden)]
#[derive(Default)]
pub struct Signal {
    /// The count. It is changed under `lock`, so that a thread that is about to sleep sees the change.
    count: AtomicU64,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Signal {
    /// A number that each raise changes. A thread reads it *before* the state that the signal is about: a raise after
    /// that read ends the thread's sleep at once.
    #[doc(hidden)]
    #[inline]
    pub fn raised(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The number of raises so far, without the [nudges](Self::nudge), which [`raised`](Self::raised) also counts.
    #[doc(hidden)]
    #[inline]
    pub fn raises(&self) -> u64 {
        self.raised() & RAISES
    }

    /// Sleeps until [`raised`](Self::raised) differs from `seen`, or `at_most` has passed. A thread that takes turns
    /// passes on its turn and does not sleep: once if there is a time limit, since that limit may pass at any time, and
    /// else until the signal was raised. So an explored test finds a lost wake-up. Returns `false` in a test if all
    /// other threads have ended or sleep, and no thread is left to raise the signal.
    #[doc(hidden)]
    pub fn sleep(&self, seen: u64, at_most: Duration) -> bool {
        let wait = |at_most| {
            let unchanged = |_: &mut ()| self.raised() == seen;
            let slept = self.changed.wait_timeout_while(self.lock(), at_most, unchanged);
            drop(slept);
        };
        if at_most >= NO_LIMIT && turns::may_sleep() {
            return turns::sleep(|| self.raised() != seen, wait);
        }
        if !turns::yield_turn() {
            wait(at_most);
        }
        true
    }

    /// Counts a raise, and ends the sleeps of threads that read the count before it.
    #[doc(hidden)]
    pub fn raise(&self) {
        self.count_up(1);
    }

    /// Ends sleeps without counting a raise. The scheduler nudges its own workers: no condition has changed then.
    #[doc(hidden)]
    pub fn nudge(&self) {
        self.count_up(RAISES + 1);
    }

    fn count_up(&self, by: u64) {
        let guard = self.lock();
        self.count.fetch_add(by, Ordering::AcqRel);
        drop(guard);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// `fmt` takes no lock, since the formatter's writer is the user's code.
impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("raises", &self.raises()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_raise_by_another_thread_ends_the_sleep() {
        let signal = Arc::new(Signal::default());
        let seen = signal.raised();
        let other = signal.clone();
        let thread = std::thread::spawn(move || other.raise());
        signal.sleep(seen, Duration::from_secs(3600));
        thread.join().unwrap();
        assert_eq!(signal.raised(), seen + 1);
    }

    #[test]
    fn a_sleep_without_a_raise_ends_after_its_time_limit() {
        let signal = Signal::default();
        signal.sleep(signal.raised(), Duration::from_micros(1));
        assert_eq!(signal.raised(), 0);
    }
}
