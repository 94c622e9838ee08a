//! The end of a failed tick: the work on its streams is recorded, its messages are dropped, and nothing is sent.

use super::{Hooks, NodeRunner, Reached};
use crate::context::Activity;
use crate::driver::report_unless_refused;
use crate::error::{Error, Failure, Result, drop_all};
use crate::memory::hook_has_failed;
use crate::message::Handled;

impl NodeRunner {
    /// Ends a tick that fails although `compute` returned `Ok`, because a failed call in it lost a message.
    #[cold]
    #[inline(never)]
    pub(super) fn lost(&mut self, hooks: &mut dyn Hooks) -> Box<Error> {
        let cause = self.cx.take_lost().unwrap_or_else(|| Failure::msg("a message is lost"));
        // The hook has ignored the errors of its calls and has not failed itself. So `hook_has_failed` is not called, and memory
        // stays marked as not written.
        report_unless_refused("recording the work of a hook that lost a message", self.cx.close());
        self.interrupted(hooks, Reached::Close, cause)
    }

    /// Ends a tick that has panicked. If the panic was outside of a tick, returns it unchanged.
    #[cold]
    pub(super) fn panicked(&mut self, hooks: &mut dyn Hooks, panic: Box<Error>) -> Box<Error> {
        match self.reached {
            Reached::Nothing => panic,
            reached => self.interrupted(hooks, reached, (*panic).into()),
        }
    }

    /// Completes a failed tick: does those steps after the hook that the tick has not reached.
    #[cold]
    #[inline(never)]
    pub(super) fn interrupted(
        &mut self,
        hooks: &mut dyn Hooks,
        reached: Reached,
        cause: Failure,
    ) -> Box<Error> {
        self.reached = Reached::Nothing;
        if reached == Reached::Hook {
            self.close_after_failure();
        }
        // Later panics are ignored from here on: the panic hook has printed them, and `cause` was the first error.
        let _second = drop_all(|| drop(self.cx.take_lost()));
        match reached {
            Reached::Hook | Reached::Close => {
                self.cx.leave();
                let _second = drop_all(|| {
                    hooks.ports().inputs(&mut |input| {
                        input.finish();
                    });
                });
            }
            // The `Drop` of a message that an edge dropped has panicked. Some edges have already got the tick's messages, so the
            // other edges get them, too.
            Reached::Sending => {
                let _second = drop_all(|| {
                    hooks.ports().outputs(&mut |output| {
                        output.publish();
                    });
                });
            }
            Reached::Messages | Reached::Nothing => {}
        }
        self.failed(self.hook_of_tick(), cause)
    }

    /// Records the work that a hook queued before it failed.
    #[cold]
    pub(super) fn close_after_failure(&self) {
        hook_has_failed();
        // Only log an error of this call: the hook's error came first, and may be the reason for it.
        report_unless_refused("recording the work of a hook that failed", self.cx.close());
    }

    /// Drops the emitted messages of a failed tick, so that nothing is sent, and counts the tick.
    #[cold]
    #[inline(never)]
    pub(super) fn undo(&mut self, hooks: &mut dyn Hooks, error: Box<Error>) -> Box<Error> {
        // A panic of a message's `Drop` is ignored: the panic hook has printed it, and `error` was the first error.
        let _second = self.cancel(hooks);
        let _third = self.use_conditions();
        self.cx.count_tick(Activity::Failed);
        error
    }

    /// Drops the messages that were emitted and not pushed to the queues of the edges.
    pub(in crate::operator) fn cancel(&self, hooks: &mut dyn Hooks) -> Result<()> {
        let cancelled = drop_all(|| hooks.ports().outputs(&mut |output| output.cancel()));
        cancelled.map_err(|panic| *self.failed(self.hook_of_tick(), (*panic).into()))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn unhandled(&mut self, hooks: &mut dyn Hooks) -> Box<Error> {
        self.reached = Reached::Nothing;
        let (node, mut untouched, mut oversized) = (self.cx.node().to_owned(), None, None);
        hooks.ports().inputs(&mut |input| {
            if input.finish() == Handled::Untouched {
                untouched = untouched.or(Some(input.name()));
            }
            oversized = oversized.take().or_else(|| input.oversized());
        });
        let port = untouched.unwrap_or_default();
        self.failed("compute", oversized.unwrap_or(Error::Unhandled { node, port }).into())
    }
}

/// Returns the error of the first edge with the policy `fault` that has no room for an emitted message. `None` if the consumer
/// has made room since the node was found ready.
#[cold]
pub(super) fn full_edge(hooks: &mut dyn Hooks) -> Option<Error> {
    let mut full = None;
    hooks.ports().outputs(&mut |output| full = full.take().or_else(|| output.full()));
    full
}
