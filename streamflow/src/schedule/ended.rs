//! A future that is ready at the end of a run.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::shared::Shared;
use crate::lock::locked;
use crate::stream::task_wakers::{forget, wake};
use crate::turns;

/// A future that is ready when the run is over.
pub(super) struct Ended<'a>(&'a Shared);

impl<'a> Ended<'a> {
    /// Creates the future. A run stores one waker, so a caller must not have two such futures of one run at a time.
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self(shared)
    }
}

impl Future for Ended<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self(shared) = *self;
        if shared.is_over() {
            return Poll::Ready(());
        }
        turns::point("a task has seen that a run goes on, and its waker is not there yet");
        let waker = cx.waker().clone();
        let before = locked(&shared.task).replace(waker);
        forget(before);
        // The run may have ended before the waker was stored, and has then not woken it.
        if shared.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let waker = locked(&self.0.task).take();
        forget(waker);
    }
}

/// Wakes the task that waits for the end of the run. The caller has called `set_over` before, so the task finds the run over.
pub(super) fn wake_task(shared: &Shared) {
    turns::point("a run is over, and no task is woken yet");
    let task = locked(&shared.task).take();
    wake(task);
    turns::point("a run is over, and its task is woken");
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Wake, Waker};

    use super::*;
    use crate::context::RunControl;
    use crate::time::Clock;

    /// A waker that notes, when it is woken and when it is dropped, whether the lock of the run's stored waker is free.
    struct Looks(Arc<Shared>, Arc<Mutex<Vec<(&'static str, bool)>>>);

    impl Looks {
        fn look(&self, part: &'static str) {
            let is_free = self.0.task.try_lock().is_ok();
            locked(&self.1).push((part, is_free));
        }
    }

    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            self.look("wake");
        }
    }

    impl Drop for Looks {
        fn drop(&mut self) {
            self.look("drop");
        }
    }

    #[test]
    fn a_waker_is_woken_and_dropped_without_the_lock_of_its_run() {
        let shared = Arc::new(Shared::new("Graph", Arc::new(RunControl::default()), Clock::real()));
        let seen = Arc::default();
        let looks = || Waker::from(Arc::new(Looks(shared.clone(), Arc::clone(&seen))));
        let poll = |ended: &mut Ended<'_>| {
            let waker = looks();
            pin!(ended).poll(&mut Context::from_waker(&waker))
        };
        let mut ended = Ended::new(&shared);
        assert!(poll(&mut ended).is_pending());
        assert!(locked(&seen).is_empty());
        // The second poll replaces the waker of the first, which is dropped.
        assert!(poll(&mut ended).is_pending());
        assert_eq!(*locked(&seen), [("drop", true)]);
        // Dropping the future drops its stored waker.
        drop(ended);
        assert_eq!(*locked(&seen), [("drop", true); 2]);
        let mut ended = Ended::new(&shared);
        assert!(poll(&mut ended).is_pending());
        shared.set_over();
        wake_task(&shared);
        assert_eq!(locked(&seen)[2..], [("wake", true), ("drop", true)]);
        assert!(poll(&mut ended).is_ready());
    }
}
