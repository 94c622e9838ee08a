//! The end of a run, as a future.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::shared::Shared;
use crate::lock::locked;
use crate::stream::task_wakers::{forget, wake};
use crate::turns;

/// The end of a run.
pub(super) struct Ended<'a>(&'a Shared);

impl<'a> Ended<'a> {
    /// The caller lends a run to one of these at a time: the run has one place for a waker.
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
        // The end may have come before the waker.
        if shared.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let waker = locked(&self.0.task).take();
        forget(waker);
    }
}

/// Wakes the task that waits. The end of the run is visible before.
pub(super) fn tell(shared: &Shared) {
    turns::point("a run is over, and no task is woken yet");
    let task = locked(&shared.task).take();
    wake(task);
    turns::point("a run is over, and its task is woken");
}
