//! The end of a failed tick: its streams are recorded, its messages are dropped, and it sends nothing.

use super::{Hooks, NodeRunner, Reached};
use crate::context::Activity;
use crate::driver::report_unless_refused;
use crate::error::{Error, Failure, Result, drop_all};
use crate::memory::hook_has_failed;
use crate::message::Handled;

impl NodeRunner {
    /// Ends a tick with a `compute` that succeeded, although a message was lost by a failed call in it.
    #[cold]
    #[inline(never)]
    pub(super) fn lost(&mut self, hooks: &mut dyn Hooks) -> Box<Error> {
        let cause = self.cx.take_lost().unwrap_or_else(|| Failure::msg("a message is lost"));
        // The hook has dropped the errors of its calls and has not failed itself, so `hook_has_failed` is not called,
        // and marks stay.
        report_unless_refused("recording the work of a hook that lost a message", self.cx.close());
        self.interrupted(hooks, Reached::Close, cause)
    }

    /// Ends a tick that has panicked. A panic outside of a tick is returned as it is.
    #[cold]
    pub(super) fn panicked(&mut self, hooks: &mut dyn Hooks, panic: Box<Error>) -> Box<Error> {
        match self.reached {
            Reached::Nothing => panic,
            reached => self.interrupted(hooks, reached, (*panic).into()),
        }
    }

    /// Completes a failed tick: does the work after the hook that the tick has not reached.
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
        // Second panics are ignored from here on: the panic hook has printed them, and `cause` came first.
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
            // A message that an edge has dropped has panicked. Some edges have got their messages, so all edges get them.
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

    /// Records the work of a hook that failed.
    #[cold]
    pub(super) fn close_after_failure(&self) {
        hook_has_failed();
        // The hook's error came first, and may be the reason why this call was refused.
        report_unless_refused("recording the work of a hook that failed", self.cx.close());
    }

    /// Drops the messages of a tick that failed: it sends nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn undo(&mut self, hooks: &mut dyn Hooks, error: Box<Error>) -> Box<Error> {
        // A panic while dropping a message is not returned: the panic hook has printed it, and `error` came first.
        let _second = self.cancel(hooks);
        let _third = self.use_conditions();
        self.cx.count_tick(Activity::Failed);
        error
    }

    /// Drops the messages that were emitted and not pushed to the edges.
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

/// The error of the first edge with the policy `fault` that has no room for an emitted message. `None` if the consumer
/// has made room since the operator was found ready.
#[cold]
pub(super) fn full_edge(hooks: &mut dyn Hooks) -> Option<Error> {
    let mut full = None;
    hooks.ports().outputs(&mut |output| full = full.take().or_else(|| output.full()));
    full
}
