//! Law 8: What a tick sends is sent when it ends.
//!
//! A tick: `compute` or `flush`, and what follows it until the messages are sent.
//!
//! A message that a tick emitted waits in its output's `Outlet` until `compute` has succeeded; then `Work::publish`
//! pushes it to the queues of its edges.

use super::{Hooks, NodeRunner, Reached, Work, driver};
use crate::context::Activity;
use crate::driver::report_unless_refused;
use crate::error::{Error, Failure, Result, caught_as_error, drop_all};
use crate::memory::hook_has_failed;
use crate::message::Handled;
use crate::operator::readiness::Progress;

impl NodeRunner {
    /// Calls `compute`. The messages that it emitted stay in the outputs, unless the tick failed.
    pub(in crate::operator) fn tick_unpublished(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let done = caught_as_error(|| hooks.tick(self, false));
        let done = done.unwrap_or_else(|panic| Err(self.panicked(hooks, panic)));
        done.map(drop).map_err(|error| *self.undo(hooks, error))
    }

    /// Calls `compute` or `flush`, ends the tick of the inputs and, with `publish`, pushes the emitted messages to the edges.
    /// Returns what the tick changed.
    ///
    /// The hook may panic, and so may the messages that are dropped after it: the caller catches that, and ends such a tick with
    /// [`panicked`](Self::panicked).
    #[inline(always)]
    pub(in crate::operator) fn tick<H: Work>(
        &mut self,
        hooks: &mut H,
        publish: bool,
    ) -> Result<Progress, Box<Error>> {
        self.cx.show(Activity::Computing);
        self.reached = Reached::Hook;
        let is_flush = self.is_flushed_now();
        let entered = if is_flush { self.cx.enter_flush() } else { self.cx.enter("compute") };
        if let Err(error) = entered {
            return Err(self.interrupted(hooks, Reached::Hook, driver(error)));
        }
        let called = if is_flush { self.call_flush(hooks) } else { hooks.compute(&self.cx) };
        if let Err(cause) = called {
            return Err(self.interrupted(hooks, Reached::Hook, cause));
        }
        if self.cx.has_lost() {
            return Err(self.lost(hooks));
        }
        if let Err(error) = self.cx.close() {
            return Err(self.interrupted(hooks, Reached::Close, driver(error)));
        }
        // A plan knows nothing of `flush`.
        self.cx.predict_end(!is_flush);
        self.reached = Reached::Messages;
        self.cx.leave();
        let handled = hooks.finish();
        if handled >= Handled::Untouched {
            return Err(self.unhandled(hooks));
        }
        if self.may_fault
            && let Some(full) = full_edge(hooks)
        {
            return Err(self.interrupted(hooks, Reached::Messages, full.into()));
        }
        self.reached = Reached::Sending;
        let emitted = publish && hooks.publish();
        self.reached = Reached::Nothing;
        // If a condition fails here, `undo` counts the tick.
        self.use_conditions()?;
        self.cx.count_tick(Activity::Idle);
        let changed = emitted || handled >= Handled::Taken;
        Ok(if changed || self.has_ended() { Progress::Changed } else { self.idle() })
    }

    /// `compute` has succeeded, but a call of it has failed with which a message was lost.
    #[cold]
    #[inline(never)]
    fn lost(&mut self, hooks: &mut dyn Hooks) -> Box<Error> {
        let cause = self.cx.take_lost().unwrap_or_else(|| Failure::msg("a message is lost"));
        // The hook has dropped the errors of its calls, so `hook_has_failed` is not called, and marks stay.
        report_unless_refused("recording the work of a hook that lost a message", self.cx.close());
        self.interrupted(hooks, Reached::Close, cause)
    }

    /// Ends a tick that has panicked. A panic beside a tick is the error itself.
    #[cold]
    pub(super) fn panicked(&mut self, hooks: &mut dyn Hooks, panic: Box<Error>) -> Box<Error> {
        match self.reached {
            Reached::Nothing => panic,
            reached => self.interrupted(hooks, reached, (*panic).into()),
        }
    }

    /// A tick failed: does what `compute` does after a hook, as far as the tick has not come.
    #[cold]
    #[inline(never)]
    fn interrupted(
        &mut self,
        hooks: &mut dyn Hooks,
        reached: Reached,
        cause: Failure,
    ) -> Box<Error> {
        self.reached = Reached::Nothing;
        self.cx.predict_end(false);
        if reached == Reached::Hook {
            self.close_after_failure();
        }
        // In what follows, the panic hook has printed a second panic, and `cause` came first.
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
            // A message that an edge has dropped has panicked. Some edges have their messages, so all get them.
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
        // The hook's error came first. It may be why this was not tried.
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

    /// Uses up what the conditions permitted: a tick is over.
    #[inline]
    fn use_conditions(&mut self) -> Result<(), Box<Error>> {
        if self.conditions.is_none() { Ok(()) } else { self.use_each() }
    }

    #[inline(never)]
    fn use_each(&mut self) -> Result<(), Box<Error>> {
        if self.has_begun_flush() {
            return Ok(());
        }
        if self.statistics.is_some() {
            self.note_lateness();
        }
        let Some(conditions) = &mut self.conditions else { return Ok(()) };
        let used = conditions.ticked();
        used.map_err(|error| self.failed("readiness", error.into()))
    }

    /// Drops the messages that were emitted and not pushed to the edges.
    pub(in crate::operator) fn cancel(&self, hooks: &mut dyn Hooks) -> Result<()> {
        let cancelled = drop_all(|| hooks.ports().outputs(&mut |output| output.cancel()));
        cancelled.map_err(|panic| *self.failed(self.hook_of_tick(), (*panic).into()))
    }

    #[cold]
    #[inline(never)]
    fn unhandled(&mut self, hooks: &mut dyn Hooks) -> Box<Error> {
        self.reached = Reached::Nothing;
        self.cx.predict_end(false);
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

/// The error of the first edge with the policy `fault` that has no room for an emitted message. There is none if the
/// consumer has made room since the operator was found ready.
#[cold]
fn full_edge(hooks: &mut dyn Hooks) -> Option<Error> {
    let mut full = None;
    hooks.ports().outputs(&mut |output| full = full.take().or_else(|| output.full()));
    full
}
