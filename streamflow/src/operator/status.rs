//! The state of a node, for reports about a run.

use super::flush::Flushing;
use super::recovery::OnFailure;
use super::statistics::NodeTimes;
use crate::message::EdgeStatus;
use crate::message::Pair;
use crate::param::ParamChange;

/// A node at one moment.
#[derive(Debug, Clone)]
pub struct NodeStatus {
    /// The node's name in the graph.
    pub name: String,
    /// The number of ticks in this run.
    pub ticks: u64,
    /// The progress of the `flush`.
    pub(crate) flush: Flushing,
    /// Whether the `flush` was called and has failed.
    pub(crate) has_failed_flush: bool,
    /// The number of ticks that have called `flush`.
    pub(crate) flush_ticks: u64,
    /// `#[when(count(n))]`: the most ticks, without those of `flush`.
    pub count: Option<u64>,
    /// The reaction to a tick that fails.
    pub(crate) on_failure: OnFailure,
    /// The number of ticks and restarts that failed in this run.
    pub failures: u64,
    /// How often a fresh operator took the place of a failed one.
    pub restarts: u64,
    /// The text of the first failure in this run.
    pub first_failure: Option<String>,
    /// Whether the operator has called [`ExecutionContext::finish`](crate::ExecutionContext::finish).
    pub is_finished: bool,
    /// Whether the node has done as many ticks as [`RunFor`](crate::schedule::RunFor) permits, and fewer than its `count`.
    pub is_at_limit: bool,
    /// Whether only the operator limits the node's ticks: there is no `count`, no condition, and no limit of the run.
    pub(crate) has_no_end: bool,
    /// Whether the operator has called [`ExecutionContext::stop_graph`](crate::ExecutionContext::stop_graph).
    pub has_stopped_graph: bool,
    /// The condition that will never hold again in this run.
    pub ended_by: Option<EndedCondition>,
    /// The node's conditions that do not hold.
    pub unmet: Vec<UnmetCondition>,
    /// Whether a condition says when the node runs without a message.
    pub runs_without_messages: bool,
    /// Whether the node may come to wait for messages of some optional inputs alone, since a condition names these inputs.
    pub(crate) may_await: bool,
    /// The node's inputs, in the order of declaration.
    pub inputs: Vec<PortStatus>,
    /// The node's outputs, in the order of declaration.
    pub outputs: Vec<PortStatus>,
    /// The values of parameters that the node has taken over in this run: the last 1000.
    pub parameters: Vec<ParamChange>,
    /// How many values the node had taken over before these.
    pub parameters_omitted: u64,
    /// How many moments of a period have passed in this run without a tick.
    pub(crate) missed_periods: u64,
    /// The number of mixed ticks, and the first mixed pair of messages.
    pub(crate) mixed: u64,
    pub(crate) mixed_pair: Option<Pair>,
    /// The measured times, if the platform keeps statistics.
    pub(crate) times: Option<NodeTimes>,
}

/// A condition of a node that does not hold.
#[derive(Debug, Clone)]
pub struct UnmetCondition {
    /// The condition, as written in `#[when(…)]`.
    pub condition: &'static str,
    /// The missing part, as the object of "waits for".
    pub lacks: String,
    /// The numbers of the edges without the needed messages or room.
    pub(crate) edges: Vec<usize>,
    /// Whether room is missing, and not messages.
    pub(crate) is_room: bool,
    /// Whether some of the messages are there. These may be left over at the end of a run.
    pub(crate) has_some: bool,
}

/// A condition of a node that will never hold again in a run: the node is done.
#[derive(Debug, Clone)]
pub struct EndedCondition {
    /// The condition, as written in `#[when(…)]`.
    pub condition: &'static str,
    /// The reason why the condition will never hold again.
    pub reason: String,
    /// Whether this was nobody's decision: all handles were dropped.
    pub is_abandoned: bool,
}

/// A port of a node at one moment.
#[derive(Debug, Clone)]
pub struct PortStatus {
    /// The port's name.
    pub name: &'static str,
    /// Whether the operator may run without a message here; `false` for outputs.
    pub optional: bool,
    /// For an input, whether a condition waits for messages here.
    pub(crate) is_awaited: bool,
    /// For an input, whether a condition drops messages here that have no partner at another input.
    pub(crate) is_paired: bool,
    /// For an output, whether a tick of this run has emitted a message here; `false` for inputs.
    pub has_emitted: bool,
    /// The port's edges, in the order in which they were connected.
    pub edges: Vec<EdgeStatus>,
}

#[cfg(test)]
impl NodeStatus {
    /// Creates the status of a node that has done nothing, for tests.
    pub(crate) fn idle(name: &str, inputs: Vec<PortStatus>, outputs: Vec<PortStatus>) -> Self {
        Self {
            name: name.to_owned(),
            ticks: 0,
            flush: Flushing::Never,
            has_failed_flush: false,
            flush_ticks: 0,
            count: None,
            on_failure: OnFailure::Stop,
            failures: 0,
            restarts: 0,
            first_failure: None,
            is_finished: false,
            is_at_limit: false,
            has_no_end: false,
            has_stopped_graph: false,
            ended_by: None,
            unmet: Vec::new(),
            runs_without_messages: false,
            may_await: false,
            inputs,
            outputs,
            parameters: Vec::new(),
            parameters_omitted: 0,
            missed_periods: 0,
            mixed: 0,
            mixed_pair: None,
            times: None,
        }
    }
}

impl PortStatus {
    /// Creates the status of a port with these edges, without other facts.
    pub(crate) fn new(name: &'static str, edges: Vec<EdgeStatus>) -> Self {
        let (optional, is_awaited, is_paired, has_emitted) = (false, false, false, false);
        Self { name, optional, is_awaited, is_paired, has_emitted, edges }
    }

    /// Whether the node does not run without messages here. A condition that is one of several may still let it run.
    pub(crate) fn is_required(&self) -> bool {
        !self.optional || self.is_awaited
    }
}

impl NodeStatus {
    /// The text, after the number of ticks, about the effect of failures on the sent messages. Empty if the node has
    /// failed in no tick that the run survived.
    pub(crate) fn failed_ticks(&self) -> String {
        match (self.failures, self.on_failure) {
            (0, _) | (_, OnFailure::Stop) => String::new(),
            (failed, OnFailure::Skip) => {
                format!(", of which {failed} failed and sent nothing (`on_failure(skip)`)")
            }
            (failures, OnFailure::Restart { .. }) => {
                format!(", with {failures} failure(s) that sent nothing (`on_failure(restart)`)")
            }
        }
    }

    /// The outputs with consumers at which no tick emitted a message: perhaps a forgotten `emit`.
    pub(crate) fn silent_outputs(&self) -> impl Iterator<Item = &PortStatus> {
        let has_worked = self.ticks > self.failures;
        let silent = |output: &&PortStatus| !output.has_emitted && !output.edges.is_empty();
        self.outputs.iter().filter(move |_| has_worked).filter(silent)
    }

    /// Whether the node has done all ticks of its `count`.
    pub(crate) fn has_reached_count(&self) -> bool {
        self.count.is_some_and(|count| self.ticks - self.flush_ticks >= count)
    }

    /// Whether the node ended before its `count`: then the messages that wait for it are dropped.
    pub(crate) fn has_ended_early(&self) -> bool {
        self.is_finished || self.is_at_limit
    }

    /// Whether the node's ticks call `flush` now.
    pub(crate) fn is_flushed_now(&self) -> bool {
        self.flush == Flushing::GoesOn
    }

    /// Whether the node may hold back messages that its `flush` has not sent.
    pub(crate) fn is_unflushed(&self) -> bool {
        let has_begun = self.ticks > 0;
        match self.flush {
            Flushing::Never => false,
            Flushing::Pending | Flushing::GoesOn => has_begun,
            Flushing::Over => self.has_failed_flush,
        }
    }

    /// Whether the node will not run again, even if messages come.
    pub(crate) fn is_done(&self) -> bool {
        !self.is_flushed_now() && self.is_done_computing()
    }

    fn is_done_computing(&self) -> bool {
        self.is_finished || self.is_at_limit || self.has_reached_count() || self.ended_by.is_some()
    }

    /// Whether the node has ended itself: by its operator's or a condition's decision.
    pub(crate) fn has_ended_itself(&self) -> bool {
        self.is_finished || self.ended_by.as_ref().is_some_and(|ended| !ended.is_abandoned)
    }
}
