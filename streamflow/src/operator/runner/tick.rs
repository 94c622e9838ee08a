//! Law 8: What a tick sends is sent when it ends.
//!
//! What a node does when the scheduler visits it, from top to bottom: the check whether the node can run, `compute` or `flush`,
//! the steps after the hook until the messages are sent, and the result of the visit. `failed_tick.rs` ends a tick that fails.
//!
//! A message that a tick emitted is stored in its output's `Outlet` until `compute` has succeeded. Then `Work::publish` pushes
//! the message to the queues of its edges.
//!
//! The tick, and the check whether it may begin, are compiled for each type of operator. The remaining code is compiled once.

use super::failed_tick::full_edge;
use super::{Hooks, NodeRunner, Reached, Work, driver};
use crate::context::Activity;
use crate::error::{Error, Result, caught_as_error};
use crate::message::{Handled, InputState};
use crate::operator::flush::Flushing;
use crate::operator::poll::Poll;
use crate::operator::readiness::{Progress, Readiness, Step};
use crate::operator::waits::Waits;
use crate::time::Timestamp;

impl NodeRunner {
    /// Runs a tick if the node is ready for one: see `AnyNode::step`.
    #[inline(always)]
    pub(in crate::operator) fn step<H: Work>(
        &mut self,
        hooks: &mut H,
        waits: &mut Waits,
        until: Option<Timestamp>,
    ) -> Result<Step, Box<Error>> {
        match self.readiness(hooks, waits)? {
            Readiness::Ready => {}
            Readiness::Dropped => {
                self.cx.show_dropped();
                return Ok(Step::Changed);
            }
            Readiness::Waiting => return Ok(self.idles(Activity::Waiting)),
            Readiness::Blocked => return Ok(self.idles(Activity::Blocked)),
            Readiness::Done => return Ok(self.idles(Activity::Done)),
        }
        if !self.cx.permits_ticks() {
            return Ok(Step::Interrupted);
        }
        if let Some(end) = until
            && self.cx.now() >= end
        {
            return Ok(Step::TimeOver);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.begin_tick(self.cx.platform().clock());
        }
        let done = match self.take_failure(hooks) {
            None => self.tick(hooks, true),
            Some(error) => Err(error),
        };
        if self.statistics.is_some() {
            self.update_statistics(done.is_ok());
        }
        match done {
            Ok(Progress::Changed) => {
                self.poll = Poll::default();
                Ok(Step::Changed)
            }
            done => self.end_step(hooks, done, waits),
        }
    }

    /// Returns whether the messages that the operator needs have arrived at its inputs, and its outputs have room.
    #[inline(always)]
    pub(in crate::operator) fn can_run<H: Hooks + ?Sized>(&self, hooks: &mut H) -> bool {
        hooks.has_room()
            && match hooks.messages() {
                InputState::Present => true,
                InputState::Absent => self.runs_without_messages(),
                InputState::Missing => false,
            }
    }

    /// Returns whether the ports are ready for the next tick. A tick of `flush` needs room at the outputs, but no messages.
    #[inline(always)]
    fn may_tick<H: Hooks + ?Sized>(&self, hooks: &mut H) -> bool {
        if self.is_flushed_now() { hooks.has_room() } else { self.can_run(hooks) }
    }

    /// Returns whether the node can run now. If it waits for an event outside of the graph, adds the event to `waits`.
    #[inline(always)]
    pub(in crate::operator) fn readiness<H: Hooks>(
        &mut self,
        hooks: &mut H,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        // Return before `lacking` is reset, so that a node that is done keeps the number of the condition that ended it.
        if self.has_ended() {
            return Ok(Readiness::Done);
        }
        self.lacking = 0;
        if !self.may_tick(hooks) {
            return Ok(Readiness::Blocked);
        }
        self.is_permitted(hooks, waits)
    }

    /// Returns whether a node that has messages and room can run now. It may have to wait because it sent nothing or failed, or
    /// for its conditions.
    #[inline]
    fn is_permitted(
        &mut self,
        hooks: &mut dyn Hooks,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        if let Some(due) = self.poll.due()
            && (self.is_flushed_now()
                || !hooks.has_inputs()
                || hooks.messages() == InputState::Absent)
            && self.cx.now() < due
        {
            waits.until(due);
            return Ok(Readiness::Waiting);
        }
        if self.has_failed() && !self.recover(hooks, waits)? {
            return Ok(Readiness::Waiting);
        }
        if self.conditions.is_none() || self.is_flushed_now() {
            return Ok(Readiness::Ready);
        }
        self.check_conditions(hooks.ports(), waits)
    }

    /// Calls `compute` or `flush` and ends the tick: drops the received messages and, if `publish` is true, pushes the emitted
    /// messages to their edges. Returns what the tick has changed.
    ///
    /// The hook may panic, and so may the `Drop` of messages after it. The caller must catch the panic and end the tick with
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
        // If a condition fails here, the caller's `undo` counts the tick.
        self.use_conditions()?;
        self.cx.count_tick(Activity::Idle);
        let changed = emitted || handled >= Handled::Taken;
        Ok(if changed || self.has_ended() { Progress::Changed } else { self.idle() })
    }

    /// Tells the conditions that the node has done a tick, so that each uses up its permission.
    #[inline]
    pub(super) fn use_conditions(&mut self) -> Result<(), Box<Error>> {
        if self.conditions.is_none() { Ok(()) } else { self.use_each() }
    }

    #[inline(never)]
    fn use_each(&mut self) -> Result<(), Box<Error>> {
        if self.has_begun_flush() {
            return Ok(());
        }
        if self.statistics.is_some() {
            self.add_lateness();
        }
        let Some(conditions) = &mut self.conditions else { return Ok(()) };
        let used = conditions.ticked();
        used.map_err(|error| self.failed("readiness", error.into()))
    }

    /// Returns the error of the tick that would begin now, if a condition has found that its messages can't be received together.
    /// No hook is called for such a tick. A tick of `flush` compares no messages.
    #[inline]
    fn take_failure(&mut self, hooks: &mut dyn Hooks) -> Option<Box<Error>> {
        let conditions = self.conditions.as_mut()?;
        let failure = conditions.take_failure().filter(|_| self.flush != Flushing::GoesOn)?;
        hooks.ports().inputs(&mut |input| input.begin_tick());
        Some(self.failed("readiness", failure))
    }

    /// Ends a visit without a tick: publishes why the node does not run, as `activity`, for other threads.
    #[inline]
    fn idles(&self, activity: Activity) -> Step {
        self.cx.show_waiting(activity, self.lacking);
        Step::Nothing
    }

    /// Records the end of a tick in the statistics.
    #[inline(never)]
    fn update_statistics(&mut self, succeeded: bool) {
        if let Some(statistics) = &mut self.statistics {
            // The end of the tick also counts as the moment at which the messages arrived at the sink.
            let data = if succeeded { self.cx.received() } else { None };
            statistics.add_tick(self.cx.now(), data);
        }
    }

    /// Ends a visit whose tick has failed or changed nothing.
    #[inline(never)]
    fn end_step(
        &mut self,
        hooks: &mut dyn Hooks,
        done: Result<Progress, Box<Error>>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        let progress = done.or_else(|error| self.fail(hooks, error));
        match progress {
            Ok(Progress::Empty) => self.poll.mark_empty(self.cx.now()),
            _ => self.poll = Poll::default(),
        }
        match progress? {
            Progress::Changed => Ok(Step::Changed),
            Progress::Unchanged => Ok(Step::Nothing),
            Progress::Empty => self.was_empty(hooks, waits),
        }
    }

    /// Ends a visit that has panicked. A panic within a tick is handled by the node's policy, like an error.
    #[cold]
    #[inline(never)]
    pub(in crate::operator) fn end_panicked_step(
        &mut self,
        hooks: &mut dyn Hooks,
        panic: Box<Error>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        let in_tick = self.reached != Reached::Nothing;
        let error = self.panicked(hooks, panic);
        if !in_tick {
            return Err(error);
        }
        self.update_statistics(false);
        self.end_step(hooks, Err(error), waits)
    }

    /// Ends a visit whose tick had nothing to send. Adds to `waits` the events for which the node waits now, or that it runs
    /// again at once.
    #[inline(never)]
    fn was_empty(&mut self, hooks: &mut dyn Hooks, waits: &mut Waits) -> Result<Step, Box<Error>> {
        let may_tick = !self.has_ended() && self.may_tick(hooks);
        if may_tick
            && matches!(self.is_permitted(hooks, waits)?, Readiness::Ready | Readiness::Dropped)
        {
            waits.at_once();
        }
        Ok(Step::Nothing)
    }

    /// Calls `compute` or `flush` in a tick. The emitted messages stay in the outputs and are not sent; after a failed tick they
    /// are dropped.
    pub(in crate::operator) fn tick_unpublished(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let done = caught_as_error(|| hooks.tick(self, false));
        let done = done.unwrap_or_else(|panic| Err(self.panicked(hooks, panic)));
        done.map(drop).map_err(|error| *self.undo(hooks, error))
    }
}
