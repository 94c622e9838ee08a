//! The ticks of a node that call `flush`. They begin when the scheduler finds that the node's inputs have ended.
//!
//! A tick of `flush` runs through `NodeRunner::tick` like a tick of `compute`. The functions in this file are for what differs.

use super::{Hooks, NodeRunner};
use crate::error::{Failure, Result};
use crate::operator::flush::{Flushed, Flushing};
use crate::operator::readiness::Progress;

impl NodeRunner {
    /// Makes the node's next ticks call `flush`. If its operator has failed and was not replaced, the flush is over at once.
    pub(in crate::operator) fn begin_flush(&mut self) {
        if self.flush == Flushing::Pending {
            self.flush = Flushing::GoesOn;
            if self.has_failed() {
                self.end_failed_flush();
            }
        }
    }

    /// Returns whether the next tick calls `flush`, and not `compute`.
    #[inline]
    pub(super) fn is_flushed_now(&self) -> bool {
        self.flush == Flushing::GoesOn
    }

    /// Returns whether no further tick of this run calls `compute`, because the flush has begun.
    pub(in crate::operator) fn has_begun_flush(&self) -> bool {
        matches!(self.flush, Flushing::GoesOn | Flushing::Over)
    }

    /// Returns whether the node will not run again in this run. While its `flush` has not begun, [`is_done`](Self::is_done)
    /// decides.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        match self.flush {
            Flushing::GoesOn => false,
            Flushing::Over => true,
            Flushing::Never | Flushing::Pending => self.is_done(),
        }
    }

    /// Returns the name of the hook that the node's ticks call now.
    pub(super) fn hook_of_tick(&self) -> &'static str {
        if self.has_begun_flush() { "flush" } else { "compute" }
    }

    /// Returns how many ticks of this run have called `compute`.
    pub(super) fn computed(&self) -> u64 {
        self.cx.tick() - self.flush_ticks
    }

    #[cold]
    #[inline(never)]
    pub(super) fn call_flush(&mut self, hooks: &mut dyn Hooks) -> Result<(), Failure> {
        let is_first = self.flush_ticks == 0;
        self.flush_ticks += 1;
        if hooks.flush(is_first, &self.cx)? == Flushed::Done {
            self.flush = Flushing::Over;
        }
        Ok(())
    }

    /// Returns the progress of a tick that received no message and sent none. In a flush this is `Empty`, since only the operator
    /// knows when its `flush` has something to send.
    #[inline]
    pub(super) fn idle(&self) -> Progress {
        if self.is_flushed_now() { Progress::Empty } else { self.idle }
    }

    /// Ends the flush after a failure, if the node is in its flush.
    pub(super) fn end_failed_flush(&mut self) {
        if self.has_begun_flush() {
            (self.flush, self.has_failed_flush) = (Flushing::Over, true);
        }
    }

    /// Calls `flush` without a scheduler, as a test does, unless the flush is over. The emitted messages stay in the outputs.
    pub(in crate::operator) fn flush_unpublished(
        &mut self,
        hooks: &mut dyn Hooks,
    ) -> Result<Flushed> {
        self.begin_flush();
        if self.is_flushed_now() {
            let done = self.tick_unpublished(hooks);
            if done.is_err() {
                self.end_failed_flush();
            }
            done?;
        }
        Ok(if self.is_flushed_now() { Flushed::More } else { Flushed::Done })
    }
}
