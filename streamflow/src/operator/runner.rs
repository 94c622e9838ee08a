//! Law 8: What a tick sends is sent when it ends.
//!
//! Runs the hooks of a node: binds the device before a hook, records and sends after it, and wraps its errors.
//!
//! A tick is compiled for each type of operator: calls through a table would be a sixth of the instructions of a small
//! operator's tick. The rest does not depend on the operator's type, and is compiled once.
//!
//! A message that a tick emitted waits in its output's `Outlet` until `compute` has succeeded; then `Hooks::publish`
//! pushes it to the queues of its edges. An error of a hook becomes an [`Error::Operator`] in `failed`; the scheduler
//! (`schedule/greedy.rs`) gets it.

mod failed;
mod step;

use std::any::Any;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::condition::{Conditions, NodePorts};
use super::poll::Poll;
use super::readiness::{Progress, Readiness};
use super::recovery::{OnFailure, Recovery};
use super::statistics::{self, NodePaths, NodeStatistics};
use super::status::{NodeStatus, PortStatus};
use super::waits::Waits;
use crate::context::{Activity, ExecutionContext, RunControl};
use crate::driver::{DriverError, report_in_drop, report_unless_refused};
use crate::error::{Error, Failure, Result, caught_as_error, drop_all, forget};
use crate::message::{Handled, InputState};
use crate::param::ParamChanges;
use crate::port::Ports;
use crate::time::Timestamp;

/// The part of a node that depends on its operator's type: the hooks, and calls to all its ports.
pub(super) trait Hooks {
    /// Called before the `start` of a run: the parameters begin.
    fn begin_run(&mut self) -> Result<()>;
    fn start(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    fn stop(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Whether the outputs have room.
    fn has_room(&mut self) -> bool;
    /// Whether the inputs have the messages that the operator needs. An operator with optional inputs alone runs for any
    /// message. Without a message it would run for ever, unless a condition says when it runs.
    fn messages(&mut self) -> InputState;
    /// Runs a tick: [`NodeRunner::compute`], compiled for this type.
    fn tick(&mut self, runner: &mut NodeRunner, publish: bool) -> Result<Progress, Box<Error>>;
    /// All ports.
    fn ports(&mut self) -> &mut dyn Ports;
    fn has_inputs(&self) -> bool;
    /// What this run has taken over of the parameters.
    fn changes(&self) -> ParamChanges;
    /// The [`Parts`](super::node::Parts) of the node, for code that knows the operator's type.
    fn any(&mut self) -> &mut dyn Any;
}

/// What a tick calls of its node, directly.
pub(super) trait Work: Hooks + Sized {
    fn compute(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Ends a tick of the inputs: drops their received messages. Returns what the tick did with the inputs;
    /// [`Handled::Left`] for an operator without inputs.
    fn finish(&mut self) -> Handled;
    /// Pushes the emitted messages to the edges. Returns whether there were any.
    fn publish(&mut self) -> bool;
}

/// How far a tick has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// No tick runs.
    Nothing,
    /// The hook was called, or was about to be.
    Hook,
    /// The hook has succeeded, and its work is recorded.
    Close,
    /// Messages are dropped and sent.
    Messages,
}

/// Puts a fresh operator into the `Parts` of a node, and drops the old one.
pub(super) type Replacement = Box<dyn FnMut(&mut dyn Any) -> Result<(), Failure> + Send>;

/// A node without its operator and ports, which each call gets as [`Hooks`].
// In this order: a tick of most nodes uses the first fields and the begin of the context.
#[repr(C)]
pub(super) struct NodeRunner {
    /// How many ticks it may do in this run: its `count`, or less if the run has a limit.
    most: u64,
    /// Whether the node has nothing that few nodes have: see [`settle`](Self::settle). A tick checks this alone.
    is_plain: bool,
    /// How far the tick that runs has come, for the case that it panics.
    reached: Reached,
    /// What a tick means that took no message and sent none.
    idle: Progress,
    /// Whether an edge may refuse a message, which fails the tick. Set when the run starts.
    may_fault: bool,
    /// The number of the condition that kept the node from running when that was last checked; 0 if none did.
    lacking: u8,
    /// Whether `start` was called, and `stop` not since.
    started: bool,
    /// Whether no other node has its pool.
    pub(super) owns_pool: bool,
    pub(super) cx: ExecutionContext,
    /// The worker that `#[worker(name)]` names.
    worker: Option<&'static str>,
    count: Option<u64>,
    /// Beside the count. Most nodes have none.
    conditions: Option<Box<Conditions>>,
    recovery: Recovery,
    /// Makes fresh operators, for a node with `#[on_failure(restart(…))]`.
    replacement: Option<Replacement>,
    poll: Poll,
    /// What this run measures, if its platform keeps statistics.
    statistics: Option<Box<NodeStatistics>>,
}

impl NodeRunner {
    pub(super) fn new(
        mut cx: ExecutionContext,
        worker: Option<&'static str>,
        count: Option<u64>,
        conditions: Option<Box<Conditions>>,
        idle: Progress,
        on_failure: OnFailure,
    ) -> Self {
        let most = count.unwrap_or(u64::MAX);
        if let Some(conditions) = &conditions {
            cx.set_conditions(conditions.texts());
        }
        let recovery = Recovery::new(on_failure);
        Self {
            cx,
            worker,
            owns_pool: false,
            count,
            most,
            conditions,
            lacking: 0,
            idle,
            may_fault: false,
            started: false,
            recovery,
            replacement: None,
            poll: Poll::default(),
            statistics: None,
            is_plain: false,
            reached: Reached::Nothing,
        }
    }

    /// The worker on which it runs, if a name binds it to one.
    pub(super) fn worker(&self) -> Option<&'static str> {
        self.worker
    }

    /// Finds out whether the next tick is like that of most nodes: without conditions beside the count, without
    /// statistics, without an edge that may refuse a message, without a layer that uses notes, after a tick that neither
    /// failed nor had nothing to send. Called when a run starts, and after everything that can change this.
    fn settle(&mut self) {
        let is_watched = self.cx.platform().is_watched();
        let has_extras = self.conditions.is_some() || self.statistics.is_some();
        let has_extras = has_extras || self.may_fault || is_watched;
        self.is_plain = !has_extras && !self.poll.is_counting() && !self.has_failed();
    }

    /// Whether its readiness depends on the ports and its end alone.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it will not run again.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.cx.is_finished() || self.cx.tick() >= self.most
    }

    /// Lets the node make fresh operators.
    pub(super) fn set_replacement(&mut self, replacement: Replacement) {
        self.replacement = Some(replacement);
    }

    /// Limits the ticks that it does in this run from now on; `None` ends that.
    pub(super) fn limit(&mut self, ticks: Option<u64>) {
        let most = self.count.unwrap_or(u64::MAX);
        self.most = ticks.map_or(most, |ticks| most.min(self.cx.tick().saturating_add(ticks)));
    }

    pub(super) fn status(&self, hooks: &mut dyn Hooks) -> NodeStatus {
        let (inputs, outputs) = port_statuses(hooks.ports());
        let changes = hooks.changes();
        let conditions = self.conditions.as_deref();
        let ports = NodePorts { inputs: &inputs, outputs: &outputs, tick: self.cx.tick() };
        let unmet = conditions.map(|conditions| conditions.unmet(&ports)).unwrap_or_default();
        let ended_by = conditions.and_then(Conditions::ended);
        NodeStatus {
            name: self.cx.node().to_owned(),
            ticks: self.cx.tick(),
            count: self.count,
            on_failure: self.recovery.policy(),
            failures: self.recovery.failures(),
            restarts: self.recovery.restarts(),
            first_failure: self.recovery.first().map(str::to_owned),
            // A condition that will never hold again ends the node in the same way.
            is_finished: self.cx.is_finished() && ended_by.is_none(),
            is_at_limit: self.cx.tick() >= self.most && self.count != Some(self.most),
            has_stopped_graph: self.cx.has_stopped_graph(),
            ended_by,
            unmet,
            runs_without_messages: self.runs_without_messages(),
            inputs,
            outputs,
            parameters: changes.kept.into(),
            parameters_omitted: changes.omitted,
            times: self.statistics.as_ref().map(|statistics| statistics.times()),
        }
    }

    /// Begins the statistics of a run, in which the node has this number.
    pub(super) fn keep_statistics(&mut self, number: NonZeroU32, paths: Option<&NodePaths>) {
        self.cx.set_number(number);
        self.statistics = Some(Box::new(NodeStatistics::new(paths)));
        self.is_plain = false;
    }

    /// Notes by how much a tick began after the moment at which it was due, if it was due at one.
    fn note_lateness(&mut self) {
        let late = self.conditions.as_ref().and_then(|conditions| conditions.late());
        if let (Some(statistics), Some(late)) = (&mut self.statistics, late) {
            statistics.note_lateness(late);
        }
    }

    /// Whether a condition says when it runs without a message.
    pub(super) fn runs_without_messages(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.runs_without_messages())
    }

    /// Whether it has something to do without any other node: see `AnyNode::has_work`.
    pub(super) fn has_work(&self, hooks: &mut dyn Hooks) -> bool {
        !self.is_done()
            && match hooks.messages() {
                InputState::Present => true,
                InputState::Absent => self.has_own_end(),
                InputState::Missing => false,
            }
    }

    /// Whether it may run without a message, and something says when that ends: a `count`, or a condition that ends.
    fn has_own_end(&self) -> bool {
        let conditions =
            self.conditions.as_ref().filter(|conditions| conditions.runs_without_messages());
        conditions.is_some_and(|conditions| self.count.is_some() || conditions.end())
    }

    /// Checks the values of the conditions, when all edges are connected.
    pub(super) fn bind_conditions(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let Some(conditions) = &mut self.conditions else { return Ok(()) };
        let (inputs, outputs) = port_statuses(hooks.ports());
        let ports = NodePorts { inputs: &inputs, outputs: &outputs, tick: 0 };
        conditions.bind(self.cx.node(), &ports)
    }

    /// Whether the conditions hold. If one never will again, the node is done.
    fn check_conditions(
        &mut self,
        ports: &mut dyn Ports,
        waits: &mut Waits,
    ) -> Result<Readiness, Box<Error>> {
        if self.statistics.is_some() {
            statistics::interrupt();
        }
        let Self { cx, conditions, .. } = self;
        let Some(conditions) = conditions else { return Ok(Readiness::Ready) };
        let now = if conditions.needs_time() { cx.now() } else { Timestamp(0) };
        let checked = conditions.check(ports, cx.platform(), now, cx.tick(), waits);
        self.lacking = conditions.lacking();
        match checked {
            Ok(Readiness::Done) => {
                cx.finish();
                Ok(Readiness::Done)
            }
            Ok(readiness) => Ok(readiness),
            Err(error) => Err(self.failed("readiness", error.into())),
        }
    }

    pub(super) fn start(&mut self, hooks: &mut dyn Hooks, run: &Arc<RunControl>) -> Result<()> {
        let mut checked = Ok(());
        hooks.ports().inputs(&mut |input| {
            if checked.is_ok() {
                checked = input.begin_run();
            }
        });
        checked?;
        self.may_fault = false;
        hooks.ports().outputs(&mut |output| self.may_fault |= output.may_fault());
        self.cx.begin(run);
        self.poll = Poll::default();
        if let Some(conditions) = &mut self.conditions {
            let started = conditions.start(&run.waker());
            started.map_err(|error| *self.failed("start", error.into()))?;
        }
        if self.recovery.begin() {
            // The operator failed at the end of the run before.
            self.replace(hooks).map_err(|error| *error)?;
            self.recovery.note_replaced();
        }
        self.cx.show(Activity::Starting);
        // Not if the device can't be bound: then `start` was not called, and `stop` is not.
        let mut was_called = false;
        let started = self.hook("start", |cx| {
            was_called = true;
            hooks.ports().outputs(&mut |output| output.begin_run());
            hooks.begin_run()?;
            hooks.start(cx)
        });
        self.started = was_called;
        started.map_err(|error| *error)?;
        self.cx.show(Activity::Idle);
        self.settle();
        Ok(())
    }

    /// Applies the policy after a failure, and counts the ticks that had nothing to send.
    #[inline(never)]
    fn end_unusual(
        &mut self,
        hooks: &mut dyn Hooks,
        done: Result<Progress, Box<Error>>,
    ) -> Result<Progress, Box<Error>> {
        let done = done.or_else(|error| self.fail(hooks, error));
        match done {
            Ok(Progress::Empty) => self.poll.note_empty(self.cx.now()),
            _ => self.poll = Poll::default(),
        }
        self.settle();
        done
    }

    /// Notes a tick in the statistics, at its end.
    #[inline(never)]
    fn measure(&mut self, succeeded: bool) {
        if let Some(statistics) = &mut self.statistics {
            // The end of the tick is also the moment at which the messages have arrived.
            let data = if succeeded { self.cx.received() } else { None };
            statistics.note_tick(self.cx.now(), data);
        }
    }

    /// Calls `compute`. The messages that it emitted stay in the outputs, unless the tick failed.
    pub(super) fn tick_unpublished(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let done = caught_as_error(|| hooks.tick(self, false));
        let done = done
            .unwrap_or_else(|panic| Err(self.interrupted(hooks, self.reached, (*panic).into())));
        done.map(drop).map_err(|error| *self.undo(hooks, error))
    }

    /// Calls `compute`, ends the tick of the inputs and, with `publish`, pushes the emitted messages to the edges.
    /// Returns what the tick changed. `PLAIN` says that [`is_plain`](Self::is_plain) is set. If the tick did not end with
    /// [`Progress::Changed`], the caller calls [`end_unusual_step`](Self::end_unusual_step).
    ///
    /// The hook may panic, and so may the messages that are dropped after it. The scheduler catches panics, once for
    /// all ticks that succeed: to catch them here would take a sixth of the instructions of a small operator's tick.
    #[inline(always)]
    pub(super) fn compute<H: Work, const PLAIN: bool>(
        &mut self,
        hooks: &mut H,
        publish: bool,
    ) -> Result<Progress, Box<Error>> {
        self.cx.show(Activity::Computing);
        self.reached = Reached::Hook;
        let entered = if PLAIN { self.cx.enter_plain() } else { self.cx.enter("compute") };
        if let Err(error) = entered {
            return Err(self.interrupted(hooks, Reached::Hook, driver(error)));
        }
        if let Err(cause) = hooks.compute(&self.cx) {
            return Err(self.interrupted(hooks, Reached::Hook, cause));
        }
        if let Err(error) = self.cx.close() {
            return Err(self.interrupted(hooks, Reached::Close, driver(error)));
        }
        self.cx.predict_end(true);
        self.reached = Reached::Messages;
        if !PLAIN {
            self.cx.leave();
        }
        let handled = hooks.finish();
        if handled >= Handled::Untouched {
            return Err(self.unhandled(hooks));
        }
        if !PLAIN
            && self.may_fault
            && let Some(full) = full_edge(hooks)
        {
            return Err(self.interrupted(hooks, Reached::Messages, full.into()));
        }
        let emitted = publish && hooks.publish();
        self.reached = Reached::Nothing;
        if !PLAIN {
            // If a condition fails here, `undo` counts the tick.
            self.use_conditions()?;
        }
        self.cx.count_tick(Activity::Idle);
        let changed = emitted || handled == Handled::Taken;
        Ok(if changed || self.is_done() { Progress::Changed } else { self.idle })
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
        if reached != Reached::Messages {
            self.cx.leave();
            // The panic hook has printed a second panic, and `cause` came first.
            let _second = drop_all(|| {
                hooks.ports().inputs(&mut |input| {
                    input.finish();
                });
            });
        }
        self.failed("compute", cause)
    }

    /// Records the work of a hook that failed.
    #[cold]
    fn close_after_failure(&self) {
        // The hook's error came first. It may be why this was not tried.
        report_unless_refused("recording the work of a hook that failed", self.cx.close());
    }

    /// Drops the messages of a tick that failed: it sends nothing.
    #[cold]
    #[inline(never)]
    fn undo(&mut self, hooks: &mut dyn Hooks, error: Box<Error>) -> Box<Error> {
        // A panic while dropping a message is not returned: the panic hook has printed it, and `error` came first.
        let _second = self.cancel(hooks);
        let _third = self.use_conditions();
        self.cx.count_tick(Activity::Failed);
        error
    }

    /// Uses up what the conditions permitted: a tick is over.
    #[inline]
    fn use_conditions(&mut self) -> Result<(), Box<Error>> {
        if self.statistics.is_some() {
            self.note_lateness();
        }
        let Some(conditions) = &mut self.conditions else { return Ok(()) };
        let used = conditions.ticked();
        used.map_err(|error| self.failed("readiness", error.into()))
    }

    /// Drops the messages that were emitted and not pushed to the edges.
    pub(super) fn cancel(&self, hooks: &mut dyn Hooks) -> Result<()> {
        let cancelled = drop_all(|| hooks.ports().outputs(&mut |output| output.cancel()));
        cancelled.map_err(|panic| *self.failed("compute", (*panic).into()))
    }

    pub(super) fn stop(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        if let Some(conditions) = &mut self.conditions {
            conditions.stop();
        }
        let before = self.cx.cell().word().activity();
        let has_started = std::mem::take(&mut self.started);
        let done = if has_started {
            self.cx.show(Activity::Stopping);
            self.stop_hook(hooks)
        } else {
            Ok(())
        };
        // Messages are dropped here, which runs code of the user.
        let cleared = drop_all(|| hooks.ports().inputs(&mut |input| input.clear()));
        let cleared = cleared.map_err(|panic| self.failed("stop", (*panic).into()));
        let done = done.and(cleared);
        if has_started && done.is_ok() {
            self.cx.show(if before == Activity::Failed { before } else { Activity::Done });
        }
        done.map_err(|error| *error)
    }

    pub(super) fn synchronize_blocking(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let before = self.cx.cell().word().activity();
        self.cx.show(Activity::Synchronizing);
        let mut done = self.cx.synchronize_blocking();
        hooks.ports().outputs(&mut |output| {
            let copied = output.synchronize_blocking();
            if done.is_ok() {
                done = copied;
            }
        });
        self.cx.show(before);
        done.map_err(|error| *self.failed("synchronize", error.into()))
    }

    /// Calls a hook other than `compute` with the device bound, and records its streams afterwards, also if it failed.
    fn hook(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&ExecutionContext) -> Result<(), Failure>,
    ) -> Result<(), Box<Error>> {
        let entered = self.cx.enter(name).map_err(driver);
        let done = entered.and_then(|()| self.call(call));
        self.cx.leave();
        done.map_err(|error| self.failed(name, error))
    }

    /// Calls a hook, and records its streams afterwards.
    fn call(
        &self,
        call: impl FnOnce(&ExecutionContext) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let called = caught_as_error(|| call(&self.cx));
        match called.unwrap_or_else(|panic| Err((*panic).into())) {
            Ok(()) => self.cx.close().map_err(driver),
            Err(error) => {
                self.close_after_failure();
                Err(error)
            }
        }
    }

    /// Calls `stop`, also if the device can't be bound: an operator that was started is stopped, and gets the errors of
    /// the calls that it makes.
    fn stop_hook(&mut self, hooks: &mut dyn Hooks) -> Result<(), Box<Error>> {
        let entered = self.cx.enter("stop").map_err(driver);
        let stopped = self.call(|cx| hooks.stop(cx));
        self.cx.leave();
        let failed = |error| self.failed("stop", error);
        match (entered.map_err(failed), stopped.map_err(failed)) {
            (Ok(()), done) | (done, Ok(())) => done,
            // A sticky error was reported when it was met. The hook's may be another one.
            (Err(first), Err(second)) if first.is_refusal() => Err(second),
            (Err(first), Err(second)) => {
                if second.is_refusal() {
                    forget(*second);
                } else {
                    report_in_drop("stopping an operator without its device", Err(second));
                }
                Err(first)
            }
        }
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

    #[cold]
    #[inline(never)]
    fn failed(&self, hook: &'static str, cause: Failure) -> Box<Error> {
        self.cx.show(Activity::Failed);
        let (node, tick) = (self.cx.node().to_owned(), self.cx.tick());
        Box::new(Error::Operator { node, hook, tick, cause })
    }
}

/// The inputs and the outputs. It allocates.
fn port_statuses(ports: &mut dyn Ports) -> (Vec<PortStatus>, Vec<PortStatus>) {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    ports.inputs(&mut |input| {
        let (name, optional, edges) = (input.name(), input.is_optional(), input.edges());
        inputs.push(PortStatus { name, optional, has_emitted: false, edges });
    });
    ports.outputs(&mut |output| {
        let (name, edges) = (output.name(), output.edges());
        let has_emitted = output.has_emitted();
        outputs.push(PortStatus { name, optional: false, has_emitted, edges });
    });
    (inputs, outputs)
}

#[cold]
#[inline(never)]
fn driver(error: DriverError) -> Failure {
    Error::from(error).into()
}

/// The error of the first edge with the policy `fault` that has no room for an emitted message. There is none if the
/// consumer has made room since the operator was found ready.
#[cold]
fn full_edge(hooks: &mut dyn Hooks) -> Option<Error> {
    let mut full = None;
    hooks.ports().outputs(&mut |output| full = full.take().or_else(|| output.full()));
    full
}
