//! The signals that wake schedulers when a state changes.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::Signal;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

/// The signals of those schedulers whose nodes wait for a state that other threads change.
///
/// No wake-up is lost if each thread changes the state before it [raises](Self::raise) the signals, and each
/// scheduler reads its signal before the state.
#[doc(hidden)]
#[derive(Default)]
pub struct Listeners {
    /// The number of conditions that wait for the state now.
    waiting: AtomicUsize,
    /// A signal for each condition of each running graph.
    signals: Mutex<Vec<Arc<Signal>>>,
}

impl Listeners {
    /// Adds a signal for the duration of a run.
    #[doc(hidden)]
    #[inline]
    pub fn add(&self, signal: &Arc<Signal>) {
        self.lock().push(signal.clone());
    }

    /// Removes a signal that was added.
    #[doc(hidden)]
    #[inline]
    pub fn remove(&self, signal: &Arc<Signal>) {
        let mut signals = self.lock();
        if let Some(index) = signals.iter().position(|other| Arc::ptr_eq(other, signal)) {
            signals.swap_remove(index);
        }
    }

    /// Notes that a condition waits from now on. The condition must read the state after this call.
    #[doc(hidden)]
    #[inline]
    pub fn begin_wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the condition no longer waits.
    #[doc(hidden)]
    #[inline]
    pub fn end_wait(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Raises the signals if a condition waits. The state must be changed and read under one lock: if the condition
    /// read the state before the change, that lock orders `begin_wait` before the load in this method.
    #[doc(hidden)]
    #[inline]
    pub fn raise_if_awaited(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.raise();
        }
    }

    /// Raises the signals. The call allocates nothing.
    #[doc(hidden)]
    #[cold]
    pub fn raise(&self) {
        self.lock().iter().for_each(|signal| signal.raise());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Signal>>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// `fmt` takes no lock, since the formatter's writer is the user's code.
impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.load(Ordering::Relaxed);
        f.debug_struct("Listeners").field("waiting", &waiting).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_signal_is_raised_until_it_is_removed() {
        let listeners = Listeners::default();
        let [one, two] = [Arc::<Signal>::default(), Arc::<Signal>::default()];
        // Two conditions of one graph add the same signal twice.
        [&one, &one, &two].into_iter().for_each(|signal| listeners.add(signal));
        listeners.raise_if_awaited();
        assert_eq!((one.raised(), two.raised()), (0, 0));
        listeners.begin_wait();
        listeners.raise_if_awaited();
        assert_eq!((one.raised(), two.raised()), (2, 1));
        listeners.remove(&one);
        listeners.end_wait();
        listeners.raise();
        assert_eq!((one.raised(), two.raised()), (3, 2));
    }
}
