//! The schedulers that a change of some state shall wake.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::Signal;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

/// The signals of schedulers whose nodes depend on a state that other threads change.
///
/// No wake-up is lost if a thread changes the state before it [raises](Self::raise) the signals, and a scheduler
/// reads its signal before the state.
#[doc(hidden)]
#[derive(Default)]
pub struct Listeners {
    /// How many conditions wait at the moment.
    waiting: AtomicUsize,
    /// A listener for each condition of a graph that runs.
    signals: Mutex<Vec<Arc<Signal>>>,
}

impl Listeners {
    /// Adds a signal, for the length of a run.
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

    /// A condition waits from now on. It reads the state after this call.
    #[doc(hidden)]
    #[inline]
    pub fn begin_wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// The condition waits no longer.
    #[doc(hidden)]
    #[inline]
    pub fn end_wait(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Raises the signals if a condition waits. For a state that is changed and read under one lock: that lock orders
    /// `begin_wait` before the load here, if the condition read the state before it was changed.
    #[doc(hidden)]
    #[inline]
    pub fn raise_if_awaited(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.raise();
        }
    }

    /// Raises the signals. It allocates nothing.
    #[doc(hidden)]
    #[cold]
    pub fn raise(&self) {
        self.lock().iter().for_each(|signal| signal.raise());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Signal>>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Without the lock: what writes is the user's code.
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
        // Two conditions of one graph.
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
