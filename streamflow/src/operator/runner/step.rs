//! A node's turn in a pass of the scheduler: whether it can run, and what becomes of its tick.
//!
//! What depends on the operator's type is compiled for each type. That is the tick alone, and what decides about it.

use super::{Hooks, NodeRunner};
use crate::context::Activity;
use crate::error::Error;
use crate::message::InputState;
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
    pub(in crate::operator) fn readiness(
        &mut self,
        hooks: &mut dyn Hooks,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        let can_run = self.may_tick(hooks);
        self.readiness_if(can_run, hooks, waits)
    }

    /// As `readiness`. `can_run` says whether the ports are ready.
    fn readiness_if(
        &mut self,
        can_run: bool,
        hooks: &mut dyn Hooks,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        if self.has_ended() {
            return Ok(Readiness::Done);
        }
        self.lacking = 0;
        if !can_run {
            return Ok(Readiness::Blocked);
        }
        if self.is_plain() { Ok(Readiness::Ready) } else { self.is_let(hooks, waits) }
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

    /// A turn of any node, in any run: see `AnyNode::step`.
    #[inline(never)]
    pub(in crate::operator) fn step_with_extras<H: Hooks>(
        &mut self,
        hooks: &mut H,
        waits: &mut Waits,
        until: Option<Timestamp>,
    ) -> Result<Step, Box<Error>> {
        let can_run = self.may_tick(hooks);
        match self.begin_step(can_run, hooks, waits, until) {
            Ok(None) => {
                let done = match self.take_failure(hooks) {
                    None => hooks.tick(self, true),
                    Some(error) => Err(error),
                };
                self.end_step(hooks, done, waits)
            }
            Ok(Some(step)) => Ok(step),
            Err(error) => Err(error),
        }
    }

    /// Begins a turn. Returns what becomes of it if it has no tick.
    fn begin_step(
        &mut self,
        can_run: bool,
        hooks: &mut dyn Hooks,
        waits: &mut Waits,
        until: Option<Timestamp>,
    ) -> Result<Option<Step>, Box<Error>> {
        let idle = match self.readiness_if(can_run, hooks, waits)? {
            Readiness::Ready => None,
            Readiness::Dropped => {
                self.cx.show_dropped();
                return Ok(Some(Step::Changed));
            }
            Readiness::Waiting => Some(Activity::Waiting),
            Readiness::Blocked => Some(Activity::Blocked),
            Readiness::Done => Some(Activity::Done),
        };
        if let Some(activity) = idle {
            self.cx.show_waiting(activity, self.lacking);
            return Ok(Some(Step::Nothing));
        }
        if !self.cx.permits_ticks() {
            return Ok(Some(Step::Interrupted));
        }
        if let Some(end) = until
            && self.cx.now() >= end
        {
            return Ok(Some(Step::TimeOver));
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.begin_tick(self.cx.platform().clock());
        }
        Ok(None)
    }

    /// The failure of the tick that would begin now, if its messages can't be received together: no hook is called.
    /// A tick of `flush` compares none.
    fn take_failure(&mut self, hooks: &mut dyn Hooks) -> Option<Box<Error>> {
        if self.is_flushed_now() {
            return None;
        }
        let failure = self.conditions.as_mut()?.take_failure()?;
        hooks.ports().inputs(&mut |input| input.begin_tick());
        Some(self.failed("readiness", failure))
    }

    fn end_step(
        &mut self,
        hooks: &mut dyn Hooks,
        done: Result<Progress, Box<Error>>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        if self.statistics.is_some() {
            self.measure(done.is_ok());
        }
        let progress = self.end_unusual(hooks, done)?;
        self.stepped(hooks, progress, waits)
    }

    /// Ends a tick without extras that has failed, or that changed nothing.
    #[inline(never)]
    pub(in crate::operator) fn end_unusual_step(
        &mut self,
        hooks: &mut dyn Hooks,
        done: Result<Progress, Box<Error>>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        if matches!(done, Ok(Progress::Unchanged)) {
            return Ok(Step::Nothing);
        }
        let progress = self.end_unusual(hooks, done)?;
        self.stepped(hooks, progress, waits)
    }

    /// Ends a turn whose tick has panicked: the policy decides as after an error.
    #[cold]
    #[inline(never)]
    pub(in crate::operator) fn panicked(
        &mut self,
        hooks: &mut dyn Hooks,
        panic: Box<Error>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        if self.reached == super::Reached::Nothing {
            return Err(panic);
        }
        let error = self.interrupted(hooks, self.reached, (*panic).into());
        self.end_step(hooks, Err(error), waits)
    }

    fn stepped(
        &mut self,
        hooks: &mut dyn Hooks,
        progress: Progress,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        match progress {
            Progress::Changed => Ok(Step::Changed),
            Progress::Unchanged => Ok(Step::Nothing),
            Progress::Empty => self.was_empty(hooks, waits),
        }
    }

    /// A tick had nothing to send. What the node waits for now belongs to this pass.
    #[inline(never)]
    fn was_empty(&mut self, hooks: &mut dyn Hooks, waits: &mut Waits) -> Result<Step, Box<Error>> {
        if matches!(self.readiness(hooks, waits)?, Readiness::Ready | Readiness::Dropped) {
            waits.at_once();
        }
        Ok(Step::Nothing)
    }
}
