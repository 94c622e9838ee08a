//! A node's turn in a pass of the scheduler: whether it can run, and what becomes of its tick.
//!
//! What depends on the operator's type is compiled for each type. That is the tick alone, and what decides about it.

use super::{Hooks, NodeRunner, Reached, Work};
use crate::context::Activity;
use crate::error::Error;
use crate::message::InputState;
use crate::operator::flush::Flushing;
use crate::operator::poll::Poll;
use crate::operator::readiness::{Progress, Readiness, Step};
use crate::operator::waits::Waits;
use crate::time::Timestamp;

impl NodeRunner {
    /// Whether the inputs have the messages that the operator needs, and the outputs have room.
    #[inline(always)]
    pub(in crate::operator) fn can_run<H: Hooks + ?Sized>(&self, hooks: &mut H) -> bool {
        hooks.has_room()
            && match hooks.messages() {
                InputState::Present => true,
                InputState::Absent => self.runs_without_messages(),
                InputState::Missing => false,
            }
    }

    /// Whether the ports are ready for the next tick. One of `flush` needs room alone.
    #[inline(always)]
    fn may_tick<H: Hooks + ?Sized>(&self, hooks: &mut H) -> bool {
        if self.is_flushed_now() { hooks.has_room() } else { self.can_run(hooks) }
    }

    /// Whether it can run now. If it waits for something outside of the graph, it adds that to `waits`.
    #[inline(always)]
    pub(in crate::operator) fn readiness<H: Hooks>(
        &mut self,
        hooks: &mut H,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        // A node that is done keeps the condition that has ended it.
        if self.has_ended() {
            return Ok(Readiness::Done);
        }
        self.lacking = 0;
        if !self.may_tick(hooks) {
            return Ok(Readiness::Blocked);
        }
        if self.has_extras { self.is_let(hooks, waits) } else { Ok(Readiness::Ready) }
    }

    /// Whether a node with messages and room can run now: an earlier tick and the conditions decide.
    #[inline(never)]
    fn is_let(
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

    /// A node's turn in a pass: see `AnyNode::step`.
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
        match done {
            Ok(Progress::Changed) if !self.has_extras => Ok(Step::Changed),
            done => self.end_step(hooks, done, waits),
        }
    }

    /// The failure of the tick that would begin now, if its messages can't be received together: no hook is called.
    /// A tick of `flush` compares none.
    #[inline]
    fn take_failure(&mut self, hooks: &mut dyn Hooks) -> Option<Box<Error>> {
        let conditions = self.conditions.as_mut()?;
        let failure = conditions.take_failure().filter(|_| self.flush != Flushing::GoesOn)?;
        hooks.ports().inputs(&mut |input| input.begin_tick());
        Some(self.failed("readiness", failure))
    }

    /// Ends a turn without a tick, in which the node does this.
    #[inline]
    fn idles(&self, activity: Activity) -> Step {
        self.cx.show_waiting(activity, self.lacking);
        Step::Nothing
    }

    /// Ends a turn whose tick has failed or changed nothing, and each one of a node with extras.
    #[inline(never)]
    fn end_step(
        &mut self,
        hooks: &mut dyn Hooks,
        done: Result<Progress, Box<Error>>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        if let Some(statistics) = &mut self.statistics {
            // The end of the tick is also the moment at which the messages have arrived.
            let data = if done.is_ok() { self.cx.received() } else { None };
            statistics.note_tick(self.cx.now(), data);
        }
        let progress = done.or_else(|error| self.fail(hooks, error));
        match progress {
            Ok(Progress::Empty) => self.poll.note_empty(self.cx.now()),
            _ => self.poll = Poll::default(),
        }
        self.settle();
        match progress? {
            Progress::Changed => Ok(Step::Changed),
            Progress::Unchanged => Ok(Step::Nothing),
            Progress::Empty => self.was_empty(hooks, waits),
        }
    }

    /// Ends a turn that has panicked: the policy decides about a tick as after an error.
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
        if in_tick { self.end_step(hooks, Err(error), waits) } else { Err(error) }
    }

    /// A tick had nothing to send. What the node waits for now belongs to this pass.
    #[inline(never)]
    fn was_empty(&mut self, hooks: &mut dyn Hooks, waits: &mut Waits) -> Result<Step, Box<Error>> {
        let may_tick = !self.has_ended() && self.may_tick(hooks);
        if may_tick && matches!(self.is_let(hooks, waits)?, Readiness::Ready | Readiness::Dropped) {
            waits.at_once();
        }
        Ok(Step::Nothing)
    }
}
