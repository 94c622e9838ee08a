//! What a node does after a failure, by its policy: it ends the run, goes on, or gets a fresh operator.
//!
//! When the policy applies, the failed tick is over: its messages are dropped, and `cx` has counted the tick. The failed operator
//! is stopped at once. A fresh operator is made when the node is ready for its next tick and the wait of the policy is over.
//! Until then the node has no operator that could run.

use super::{Hooks, NodeRunner};
use crate::context::Activity;
use crate::error::{Error, drop_all, forget};
use crate::message::Handled;
use crate::operator::Progress;
use crate::operator::recovery::{Verdict, text_of};
use crate::operator::statistics;
use crate::operator::waits::Waits;

impl NodeRunner {
    /// Handles a failed tick: returns the error, which ends the run, or does what the node's policy says.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(
        &mut self,
        hooks: &mut dyn Hooks,
        error: Box<Error>,
    ) -> Result<Progress, Box<Error>> {
        if self.statistics.is_some() {
            // The hooks called below are part of no tick, so the statistics don't count their time.
            statistics::interrupt();
        }
        let tick = self.cx.tick();
        // The conditions refused these messages, since they can't be received together. A fresh operator could not receive them
        // either.
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
            // The scheduler's next check of this node finds out when the node goes on.
            return Ok(Progress::Changed);
        }
        match self.idle {
            _ if took || self.has_ended() => Ok(Progress::Changed),
            // The node may fail again and again. `Empty` makes it wait between ticks, so that it does not fail in a busy loop.
            Progress::Changed if !self.is_paced() => Ok(Progress::Empty),
            idle => Ok(idle),
        }
    }

    fn is_paced(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.pace())
    }

    /// Records a failure and returns what to do. `next` is the number of the node's next tick.
    fn judge(&mut self, error: &Error, next: u64) -> Verdict {
        let is_sticky = self.cx.platform().driver().sticky_error().is_some();
        self.recovery.judge(error, (self.cx.tick(), next), self.cx.now(), is_sticky)
    }

    /// Returns whether the operator has failed and was not replaced yet.
    #[inline]
    pub(in crate::operator) fn has_failed(&self) -> bool {
        self.recovery.due().is_some()
    }

    /// Replaces the operator that has failed, if its wait is over. Returns whether the node has an operator that can run. If the
    /// restart fails, that counts as one more failure of the node.
    ///
    /// # Errors
    /// The error of the failed restart, if the policy permits no further restart.
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

    /// Makes a fresh operator by the operator's expression in `graph!`, and drops the old operator.
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

    /// Stops the operator that has failed. An error of its `stop` is only logged, since the node goes on with a fresh operator.
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

    /// Drops the messages of a failed tick: those that it received, and those that it did not receive yet, so that messages of
    /// several inputs that belong together are dropped together. A tick that received no message leaves them in the queues,
    /// unless `always` is set. Returns whether a message was received or dropped.
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
