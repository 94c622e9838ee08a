//! Runs the hooks of a node: binds the device before a hook, records and sends after it, and wraps its errors.
//!
//! A tick is compiled for each type of operator: dynamic calls would be a sixth of the instructions of a small
//! operator's tick. The rest does not depend on the operator's type, and is compiled once.
//!
//! `tick.rs` has a node's turn: `compute` and the steps before and after it. `life.rs` has the other hooks. An error of
//! a hook becomes an [`Error::Operator`] in `failed` and goes to the scheduler (`schedule/greedy.rs`).

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

/// The part of a node that depends on its operator's type: the hooks, and calls to all its ports.
pub(super) trait Hooks {
    /// Begins the parameters. Called before the `start` of a run.
    fn begin_run(&mut self) -> Result<()>;
    fn start(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    fn stop(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Whether the outputs have room.
    fn has_room(&mut self) -> bool;
    /// Whether the inputs have the messages that the operator needs. An operator with optional inputs alone runs for any
    /// message. Without a message it would run for ever, unless a condition says when it runs.
    fn messages(&mut self) -> InputState;
    /// Runs a tick: [`NodeRunner::tick`], compiled for this type.
    fn tick(&mut self, runner: &mut NodeRunner, publish: bool) -> Result<Progress, Box<Error>>;
    /// All ports.
    fn ports(&mut self) -> &mut dyn Ports;
    fn has_inputs(&self) -> bool;
    /// Whether the operator has a `flush`.
    fn flushes(&self) -> bool;
    /// Calls `flush`. The first tick gets the messages that are left at the inputs.
    fn flush(&mut self, is_first: bool, cx: &ExecutionContext) -> Result<Flushed, Failure>;
    /// The values of parameters that this run has taken over.
    fn changes(&self) -> ParamChanges;
    /// The [`Parts`](super::node::Parts) of the node, for code that knows the operator's type.
    fn any(&mut self) -> &mut dyn Any;
}

/// The functions of a node that its tick calls directly.
pub(super) trait Work: Hooks + Sized {
    fn compute(&mut self, cx: &ExecutionContext) -> Result<(), Failure>;
    /// Ends a tick of the inputs: drops their received messages. Returns how the tick has handled the inputs;
    /// [`Handled::Left`] for an operator without inputs.
    fn finish(&mut self) -> Handled;
    /// Pushes the emitted messages to the edges. Returns whether there were any messages.
    fn publish(&mut self) -> bool;
}

/// The progress within a tick.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// No tick runs.
    Nothing,
    /// The hook was called, or was about to be.
    Hook,
    /// The hook has succeeded, and its work is recorded.
    Close,
    /// Received messages are being dropped.
    Messages,
    /// Emitted messages are being sent, and edges drop messages to make room.
    Sending,
}

/// Puts a fresh operator into the `Parts` of a node, and drops the old one.
pub(super) type Replacement = Box<dyn FnMut(&mut dyn Any) -> Result<(), Failure> + Send>;

/// A node without its operator and ports. Each call gets these as [`Hooks`].
// The fields are in this order because a tick of most nodes uses the first ones and the begin of the context.
#[repr(C)]
pub(super) struct NodeRunner {
    /// The most ticks of the node in this run: its `count`, or less if the run has a limit.
    most: u64,
    /// The progress within the running tick, for the case that it panics.
    reached: Reached,
    /// The progress of a tick that took no message and sent none.
    idle: Progress,
    /// Whether an edge may refuse a message and so fail the tick. Set when the run starts.
    may_fault: bool,
    /// The number of the condition that kept the node from running at the last check; 0 if none did.
    lacking: u8,
    /// Whether `start` was called, without a `stop` since.
    started: bool,
    /// Whether the node's pool belongs to it alone.
    pub(super) owns_pool: bool,
    pub(super) cx: ExecutionContext,
    /// The worker that `#[worker(name)]` names.
    worker: Option<&'static str>,
    count: Option<u64>,
    /// The conditions other than the count. Most nodes have none.
    conditions: Option<Box<Conditions>>,
    recovery: Recovery,
    /// Makes fresh operators, for a node with `#[on_failure(restart(…))]`.
    replacement: Option<Replacement>,
    poll: Poll,
    /// The measurements of this run, if its platform keeps statistics.
    statistics: Option<Box<NodeStatistics>>,
    flush: Flushing,
    /// How many ticks have called `flush` in this run.
    flush_ticks: u64,
    /// Whether a tick of `flush` has failed, or the operator had failed before.
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

    /// The worker that `#[worker(name)]` names for the node, if it has one.
    pub(super) fn worker(&self) -> Option<&'static str> {
        self.worker
    }

    /// Whether the node will not run again, apart from its `flush`.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.cx.is_finished() || self.cx.tick() >= self.most
    }

    /// Lets the node make fresh operators.
    pub(super) fn set_replacement(&mut self, replacement: Replacement) {
        self.replacement = Some(replacement);
    }

    /// Limits the further ticks of the node in this run; `None` removes the limit.
    pub(super) fn limit(&mut self, ticks: Option<u64>) {
        let most = self.count.unwrap_or(u64::MAX);
        self.most = ticks.map_or(most, |ticks| most.min(self.cx.tick().saturating_add(ticks)));
    }

    /// Begins the statistics of a run.
    pub(super) fn keep_statistics(&mut self, paths: Option<&NodePaths>) {
        self.cx.carry();
        self.statistics = Some(Box::new(NodeStatistics::new(paths)));
    }

    /// Records the lateness of a tick, if it was due at a moment.
    fn add_lateness(&mut self) {
        let late = self.conditions.as_ref().and_then(|conditions| conditions.late());
        if let (Some(statistics), Some(late)) = (&mut self.statistics, late) {
            statistics.add_lateness(late);
        }
    }

    /// Whether a condition says when the node runs without a message.
    pub(super) fn runs_without_messages(&self) -> bool {
        self.conditions.as_ref().is_some_and(|conditions| conditions.runs_without_messages())
    }

    /// The text of the condition that lets the node run only for messages with equal sequence numbers.
    pub(super) fn pairs(&self) -> Option<&'static str> {
        self.conditions.as_ref()?.pairs()
    }

    /// Whether the node has work without any other node: see `AnyNode::has_work`.
    pub(super) fn has_work(&self, hooks: &mut dyn Hooks) -> bool {
        self.is_flushed_now()
            || !self.has_ended()
                && match hooks.messages() {
                    InputState::Present => true,
                    InputState::Absent => self.has_own_end(),
                    InputState::Missing => false,
                }
    }

    /// Whether the node may run without a message, and ends by itself: by a `count`, or by a condition that ends.
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

    /// Checks whether the conditions hold. If one of them will never hold again, the node is done.
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
