//! Runs the hooks of a node: makes the device current before a hook, records the hook's work and sends its messages afterwards,
//! and wraps its errors.
//!
//! The code of a tick is compiled for each type of operator: dynamic calls would be a sixth of the instructions of a small
//! operator's tick. The remaining code does not depend on the operator's type, and is compiled once.
//!
//! `tick.rs` has what a node does when the scheduler visits it: `compute`, and the steps before and after it. `life.rs` has the
//! other hooks. `failed` makes an [`Error::Operator`] of a hook's error, for the scheduler (`schedule/greedy.rs`).

mod failed;
mod failed_tick;
mod flush;
mod life;
mod status;
#[cfg(all(test, not(loom)))]
mod tests;
mod tick;

use std::any::Any;

use self::status::port_statuses;
use super::condition::{Conditions, NodePorts};
use super::flush::{Flushed, Flushing};
use super::poll::Poll;
use super::readiness::{Progress, Readiness};
use super::recovery::{OnFailure, Recovery};
use super::statistics::{self, NodePaths, NodeStatistics};
use super::waits::Waits;
use crate::context::{Activity, ExecutionContext};
use crate::driver::DriverError;
use crate::error::{Error, Failure, Result};
use crate::message::{Handled, InputState};
use crate::param::ParamChanges;
use crate::port::Ports;
use crate::time::Timestamp;

/// The part of a node that depends on its operator's type: calls of the operator's hooks, and of its ports.
pub(super) trait Hooks {
    /// Begins a run for the operator's parameters. Called before the `start` hook.
    fn begin_run(&mut self) -> Result<()>;
    fn start(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    fn stop(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Returns whether all outputs have room.
    fn has_room(&mut self) -> bool;
    /// Returns whether the messages that the operator needs have arrived at its inputs. An operator that has only optional inputs
    /// runs when any message arrives; without a message it does not run, unless a condition permits that.
    fn messages(&mut self) -> InputState;
    /// Runs a tick by [`NodeRunner::tick`], which is compiled for each type of operator.
    fn tick(&mut self, runner: &mut NodeRunner, publish: bool) -> Result<Progress, Box<Error>>;
    /// Returns all ports of the operator.
    fn ports(&mut self) -> &mut dyn Ports;
    fn has_inputs(&self) -> bool;
    /// Returns whether the operator has the hook `flush`.
    fn flushes(&self) -> bool;
    /// Calls the `flush` hook. If `is_first` is true, it gets the messages that are left at the inputs.
    fn flush(&mut self, is_first: bool, cx: &ExecutionContext) -> Result<Flushed, Failure>;
    /// Returns the values of parameters that the operator has got in this run.
    fn changes(&self) -> ParamChanges;
    /// Returns the [`Parts`](super::node::Parts) of the node, for code that knows the operator's type.
    fn any(&mut self) -> &mut dyn Any;
}

/// The functions of a node that its tick calls directly, without a dynamic call.
pub(super) trait Work: Hooks + Sized {
    fn compute(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Ends a tick of the inputs: drops their received messages. Returns what the tick did with the inputs; [`Handled::Left`] for
    /// an operator without inputs.
    fn finish(&mut self) -> Handled;
    /// Pushes the emitted messages to the queues of their edges. Returns whether there were any messages.
    fn publish(&mut self) -> bool;
}

/// How far a tick has come, so that a panic in it can be cleaned up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// No tick is running.
    Nothing,
    /// The hook was called, or the tick was about to call it.
    Hook,
    /// The hook has succeeded, and the work that it queued is recorded.
    Close,
    /// The received messages are being dropped.
    Messages,
    /// The emitted messages are being sent; edges may drop older messages to make room.
    Sending,
}

/// A closure that puts a fresh operator into the `Parts` of a node and drops the old one.
pub(super) type Replacement = Box<dyn FnMut(&mut dyn Any) -> Result<(), Failure> + Send>;

/// A node without its operator and its ports. Each function gets these as an argument, `hooks`.
// The fields are in this order because a tick of most nodes uses only the first ones and the start of the context.
#[repr(C)]
pub(super) struct NodeRunner {
    /// The most ticks of the node in this run: its `count`, or fewer if the run has a limit.
    most: u64,
    /// How far the running tick has come, in case it panics.
    reached: Reached,
    /// The progress that a tick reports if it received no message and sent none.
    idle: Progress,
    /// Whether an edge of the node may fail the tick because it has no room: the policy `fault`. Set when the run starts.
    may_fault: bool,
    /// The number, from 1, of the condition because of which the node could not run at the last check; 0 if there is none.
    lacking: u8,
    /// Whether `start` was called, and `stop` was not called since.
    started: bool,
    /// Whether only this node uses its stream pool.
    pub(super) owns_pool: bool,
    pub(super) cx: ExecutionContext,
    /// The name of the worker that `#[worker(name)]` sets.
    worker: Option<&'static str>,
    count: Option<u64>,
    /// The conditions other than `count`. Most nodes have none.
    conditions: Option<Box<Conditions>>,
    recovery: Recovery,
    /// Makes fresh operators, for a node with `#[on_failure(restart(…))]`.
    replacement: Option<Replacement>,
    poll: Poll,
    /// The measurements of this run, if the platform keeps statistics.
    statistics: Option<Box<NodeStatistics>>,
    flush: Flushing,
    /// The number of ticks that have called `flush` in this run.
    flush_ticks: u64,
    /// Whether a tick of `flush` has failed, or `flush` was not called because the operator had failed before.
    has_failed_flush: bool,
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
            reached: Reached::Nothing,
            flush: Flushing::Never,
            flush_ticks: 0,
            has_failed_flush: false,
        }
    }

    /// Returns the name of the worker that `#[worker(name)]` sets for the node; `None` without that attribute.
    pub(super) fn worker(&self) -> Option<&'static str> {
        self.worker
    }

    /// Returns whether no further tick of this run calls `compute`. A `flush` may still follow.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.cx.is_finished() || self.cx.tick() >= self.most
    }

    /// Sets the closure that makes fresh operators.
    pub(super) fn set_replacement(&mut self, replacement: Replacement) {
        self.replacement = Some(replacement);
    }

    /// Limits how many more ticks the node does in this run; `None` removes the limit.
    pub(super) fn limit(&mut self, ticks: Option<u64>) {
        let most = self.count.unwrap_or(u64::MAX);
        self.most = ticks.map_or(most, |ticks| most.min(self.cx.tick().saturating_add(ticks)));
    }

    /// Begins the statistics of a run. `paths` are the paths that end at this node.
    pub(super) fn keep_statistics(&mut self, paths: Option<&NodePaths>) {
        self.cx.carry();
        self.statistics = Some(Box::new(NodeStatistics::new(paths)));
    }

    /// Records how late a tick is, if a condition sets a moment at which it is due.
    fn add_lateness(&mut self) {
        let late = self.conditions.as_ref().and_then(|conditions| conditions.late());
        if let (Some(statistics), Some(late)) = (&mut self.statistics, late) {
            statistics.add_lateness(late);
        }
    }

    /// Returns whether a condition lets the node run without a message.
    pub(super) fn runs_without_messages(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.runs_without_messages())
    }

    /// Returns the text of the condition `same_sequence`, if the node has it.
    pub(super) fn pairs(&self) -> Option<&'static str> {
        self.conditions.as_ref()?.pairs()
    }

    /// Returns whether the node can run, now or later, without any other node: see `AnyNode::has_work`.
    pub(super) fn has_work(&self, hooks: &mut dyn Hooks) -> bool {
        self.is_flushed_now()
            || !self.has_ended()
                && match hooks.messages() {
                    InputState::Present => true,
                    InputState::Absent => self.has_own_end(),
                    InputState::Missing => false,
                }
    }

    /// Returns whether a node that may run without a message ends by itself: by its `count`, or by a condition that ends.
    fn has_own_end(&self) -> bool {
        let conditions =
            self.conditions.as_ref().filter(|conditions| conditions.runs_without_messages());
        conditions.is_some_and(|conditions| self.count.is_some() || conditions.end())
    }

    /// Checks the values in the conditions, as a number of messages, after all edges were connected.
    pub(super) fn bind_conditions(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let Some(conditions) = &mut self.conditions else { return Ok(()) };
        let (inputs, outputs) = port_statuses(hooks.ports());
        let ports = NodePorts { inputs: &inputs, outputs: &outputs, tick: 0 };
        conditions.bind(self.cx.node(), &ports)
    }

    /// Checks whether the conditions hold. If one of them will not hold again in this run, the node is done.
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

    #[cold]
    #[inline(never)]
    fn failed(&self, hook: &'static str, cause: Failure) -> Box<Error> {
        self.cx.show(Activity::Failed);
        let (node, tick) = (self.cx.node().to_owned(), self.cx.tick());
        Box::new(Error::Operator { node, hook, tick, cause })
    }
}

#[cold]
#[inline(never)]
fn driver(error: DriverError) -> Failure {
    Error::from(error).into()
}
