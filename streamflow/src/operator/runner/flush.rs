//! The ticks of a node that call `flush`. They begin when the scheduler finds that the inputs have ended.
//!
//! A tick of `flush` goes through `NodeRunner::tick` like any other tick; these functions have the differences.

use super::{Hooks, NodeRunner};
use crate::error::{Failure, Result};
use crate::operator::flush::{Flushed, Flushing};
use crate::operator::readiness::Progress;

impl NodeRunner {
    /// Makes the next ticks call `flush`. A failed operator that was not replaced is not flushed.
    pub(in crate::operator) fn begin_flush(&mut self) {
        if self.flush == Flushing::Pending {
            self.flush = Flushing::GoesOn;
            if self.has_failed() {
                self.end_failed_flush();
            }
        }
    }

    /// Whether the next tick calls `flush`.
    #[inline]
    pub(super) fn is_flushed_now(&self) -> bool {
        self.flush == Flushing::GoesOn
    }

    /// Whether no tick calls `compute` any more in this run.
    pub(in crate::operator) fn has_begun_flush(&self) -> bool {
        matches!(self.flush, Flushing::GoesOn | Flushing::Over)
    }

    /// Whether the node will not run again. Before its `flush` has begun, [`is_done`](Self::is_done) decides.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        match self.flush {
            Flushing::GoesOn => false,
            Flushing::Over => true,
            Flushing::Never | Flushing::Pending => self.is_done(),
        }
    }

    /// The hook that the node's ticks call now.
    pub(super) fn hook_of_tick(&self) -> &'static str {
        if self.has_begun_flush() { "flush" } else { "compute" }
    }

    /// How many ticks have called `compute`.
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

    /// The progress of a tick that has neither taken nor sent a message. Only the operator knows when its `flush` has
    /// something to send.
    #[inline]
    pub(super) fn idle(&self) -> Progress {
        if self.is_flushed_now() { Progress::Empty } else { self.idle }
    }

    /// Ends the flush if the failed tick was one of `flush`.
    pub(super) fn end_failed_flush(&mut self) {
        if self.has_begun_flush() {
            (self.flush, self.has_failed_flush) = (Flushing::Over, true);
        }
    }

    /// Calls `flush` without a scheduler, unless the flush is over.
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
