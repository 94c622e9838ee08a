//! The reaction of a node to a failure, by its policy: it ends the run, goes on, or gets a fresh operator.
//!
//! The failed tick is over when the policy applies: its messages are gone, and `cx` has counted it. A fresh operator is
//! made when the node is ready for its next tick, and its wait is over. Until then the node has no operator that could
//! run; the failed one is stopped.

use super::{Hooks, NodeRunner};
use crate::context::Activity;
use crate::error::{Error, drop_all, forget};
use crate::message::Handled;
use crate::operator::Progress;
use crate::operator::recovery::{Verdict, text_of};
use crate::operator::statistics;
use crate::operator::waits::Waits;

impl NodeRunner {
    /// Ends the run with the error of a failed tick, or obeys the node's policy.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(
        &mut self,
        hooks: &mut dyn Hooks,
        error: Box<Error>,
    ) -> Result<Progress, Box<Error>> {
        if self.statistics.is_some() {
            // The hooks called here are part of no tick.
            statistics::interrupt();
        }
        let tick = self.cx.tick();
        // The messages can't be received together. A fresh operator would not change that.
        let is_refused = matches!(*error, Error::Operator { hook: "readiness", .. });
        let verdict = self.judge(&error, tick + 1);
        let error = self.undo(hooks, error);
        if verdict == Verdict::End {
            return Err(error);
        }
        forget(*error);
        self.end_failed_flush();
        let took = self.drop_inputs(hooks, verdict == Verdict::GoOn || is_refused);
        if verdict == Verdict::Replace {
            self.retire(hooks)?;
            // The next check of readiness finds when the node goes on.
            return Ok(Progress::Changed);
        }
        match self.idle {
            _ if took || self.has_ended() => Ok(Progress::Changed),
            // The node may fail for a long time: `Empty` makes it wait, so that it does not fail in a busy loop.
            Progress::Changed if !self.is_paced() => Ok(Progress::Empty),
            idle => Ok(idle),
        }
    }

    fn is_paced(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.pace())
    }

    /// The reaction to a failure. `next` is the node's next tick.
    fn judge(&mut self, error: &Error, next: u64) -> Verdict {
        let is_sticky = self.cx.platform().driver().sticky_error().is_some();
        self.recovery.judge(error, (self.cx.tick(), next), self.cx.now(), is_sticky)
    }

    /// Whether the operator has failed and is not replaced yet.
    #[inline]
    pub(in crate::operator) fn has_failed(&self) -> bool {
        self.recovery.due().is_some()
    }

    /// Replaces the operator that has failed, if that is due. Returns whether the node has an operator now. A failure of
    /// the restart is one more failure of the node.
    ///
    /// # Errors
    /// The failure of the restart, if the policy permits no further one.
    #[cold]
    #[inline(never)]
    pub(in crate::operator) fn recover(
        &mut self,
        hooks: &mut dyn Hooks,
        waits: &mut Waits,
    ) -> Result<bool, Box<Error>> {
        if let Some(due) = self.recovery.due().filter(|due| self.cx.now() < *due) {
            waits.until(due);
            return Ok(false);
        }
        let restarted = self.restart(hooks);
        if self.statistics.is_some() {
            statistics::interrupt();
        }
        let Err(error) = restarted else {
            self.recovery.count_restart();
            return Ok(true);
        };
        if self.judge(&error, self.cx.tick()) == Verdict::End {
            return Err(error);
        }
        forget(*error);
        self.retire(hooks)?;
        self.recovery.due().into_iter().for_each(|due| waits.until(due));
        Ok(false)
    }

    /// Makes a fresh operator from its expression in `graph!`, and drops the old one.
    pub(super) fn replace(&mut self, hooks: &mut dyn Hooks) -> Result<(), Box<Error>> {
        let Some(mut replacement) = self.replacement.take() else { return Ok(()) };
        let replaced = self.hook("new", |_| replacement(hooks.any()));
        self.replacement = Some(replacement);
        replaced
    }

    fn restart(&mut self, hooks: &mut dyn Hooks) -> Result<(), Box<Error>> {
        self.cx.show(Activity::Starting);
        self.replace(hooks)?;
        self.started = true;
        self.hook("start", |cx| hooks.start(cx))?;
        self.cx.show(Activity::Idle);
        Ok(())
    }

    /// Stops the operator that has failed. An error of its `stop` is logged: the node goes on without this operator.
    fn retire(&mut self, hooks: &mut dyn Hooks) -> Result<(), Box<Error>> {
        if !std::mem::take(&mut self.started) {
            return Ok(());
        }
        self.cx.show(Activity::Stopping);
        let stopped = self.stop_hook(hooks);
        self.cx.show(Activity::Failed);
        let Err(error) = stopped else { return Ok(()) };
        if self.cx.platform().driver().sticky_error().is_some() {
            return Err(error);
        }
        tracing::warn!("while it is replaced: {}", text_of(&error));
        forget(*error);
        Ok(())
    }

    /// Drops the messages of a failed tick: the received ones, and also those that it had not received yet, so that the
    /// messages of several inputs stay together. A tick that received no message keeps them, unless `always` is set.
    /// Returns whether the tick took or lost a message.
    fn drop_inputs(&self, hooks: &mut dyn Hooks, always: bool) -> bool {
        let (mut took, mut dropped) = (false, false);
        let _second = drop_all(|| {
            hooks.ports().inputs(&mut |input| match input.finish() {
                Handled::Taken | Handled::Oversized => took = true,
                Handled::Untouched | Handled::Ignored | Handled::Left => {}
            });
        });
        if always || took {
            let _third = drop_all(|| {
                hooks.ports().inputs(&mut |input| {
                    if matches!(input.finish(), Handled::Untouched | Handled::Ignored) {
                        input.drop_untaken(&mut dropped);
                    }
                });
            });
        }
        took || dropped
    }
}
