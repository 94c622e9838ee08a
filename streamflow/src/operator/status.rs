//! `NodeStatus`: the state of a node, for reports about a run.

use super::flush::Flushing;
use super::recovery::OnFailure;
use super::statistics::NodeTimes;
use crate::message::EdgeStatus;
use crate::message::Pair;
use crate::param::ParamChange;

/// The state of a node at one moment.
#[derive(Debug, Clone)]
pub struct NodeStatus {
    /// The node's name in the graph.
    pub name: String,
    /// The number of ticks that the node has done in this run.
    pub ticks: u64,
    /// How far the node's `flush` has come.
    pub(crate) flush: Flushing,
    /// Whether `flush` has failed, or was not called because the operator had failed before.
    pub(crate) has_failed_flush: bool,
    /// The number of ticks that have called `flush`.
    pub(crate) flush_ticks: u64,
    /// `#[when(count(n))]`: the most ticks of the node in a run, not counting those of `flush`.
    pub count: Option<u64>,
    /// How the node reacts to a tick that fails.
    pub(crate) on_failure: OnFailure,
    /// The number of ticks and restarts that failed in this run.
    pub failures: u64,
    /// How often a fresh operator has replaced a failed one in this run.
    pub restarts: u64,
    /// The text of the first failure in this run.
    pub first_failure: Option<String>,
    /// Whether the operator has called [`ExecutionContext::finish`](crate::ExecutionContext::finish).
    pub is_finished: bool,
    /// Whether the node has done as many ticks as [`RunFor`](crate::schedule::RunFor) permits, but fewer than its `count`.
    pub is_at_limit: bool,
    /// Whether only the operator can end the node: it has no `count`, no condition that ends, and the run has no limit of ticks.
    pub(crate) has_no_end: bool,
    /// Whether the operator has called [`ExecutionContext::stop_graph`](crate::ExecutionContext::stop_graph).
    pub has_stopped_graph: bool,
    /// The condition that will not hold again in this run, if there is one.
    pub ended_by: Option<EndedCondition>,
    /// The node's conditions that do not hold at this moment.
    pub unmet: Vec<UnmetCondition>,
    /// Whether a condition lets the node run without a message.
    pub runs_without_messages: bool,
    /// Whether the node may have to wait for messages at optional inputs, and at no other ones, because a condition names these
    /// inputs.
    pub(crate) may_await: bool,
    /// The node's inputs, in the order of declaration.
    pub inputs: Vec<PortStatus>,
    /// The node's outputs, in the order of declaration.
    pub outputs: Vec<PortStatus>,
    /// The values of parameters that the operator has got in this run: the last 1000.
    pub parameters: Vec<ParamChange>,
    /// The number of values that the operator had got in this run before those in `parameters`.
    pub parameters_omitted: u64,
    /// How many due moments of the condition `periodic` have passed in this run without a tick.
    pub(crate) missed_periods: u64,
    /// The number of mixed ticks in this run. `mixed_pair` has the messages of the first one.
    pub(crate) mixed: u64,
    pub(crate) mixed_pair: Option<Pair>,
    /// The measured times of this run, if the platform keeps statistics.
    pub(crate) times: Option<NodeTimes>,
}

/// A condition of a node that does not hold at the moment of the report.
#[derive(Debug, Clone)]
pub struct UnmetCondition {
    /// The condition as the user wrote it in `#[when(…)]`.
    pub condition: &'static str,
    /// What the condition lacks, as the object of the words "waits for".
    pub lacks: String,
    /// The numbers of the edges that lack a message or room.
    pub(crate) edges: Vec<usize>,
    /// Whether the edges lack room, and not messages.
    pub(crate) is_room: bool,
    /// Whether some of the needed messages have arrived. They may be left in their queues at the end of a run.
    pub(crate) has_some: bool,
}

/// A condition that will not hold again in this run, so the node is done.
#[derive(Debug, Clone)]
pub struct EndedCondition {
    /// The condition as the user wrote it in `#[when(…)]`.
    pub condition: &'static str,
    /// The reason why the condition will not hold again.
    pub reason: String,
    /// Whether the condition ended because all handles were dropped, and not because a program closed them.
    pub is_abandoned: bool,
}

/// The state of a port at one moment.
#[derive(Debug, Clone)]
pub struct PortStatus {
    /// The port's name.
    pub name: &'static str,
    /// Whether the operator may run without a message at this port; `false` for outputs.
    pub optional: bool,
    /// For an input, whether a condition waits for messages at it.
    pub(crate) is_awaited: bool,
    /// For an input, whether a condition drops messages at it that have no partner at another input.
    pub(crate) is_paired: bool,
    /// For an output, whether a tick of this run has emitted a message at it; `false` for inputs.
    pub has_emitted: bool,
    /// Whether the port is a branch, `#[output(branch)]`. A tick sends on at most one branch.
    pub(crate) is_branch: bool,
    /// The port's edges, in the order in which they were connected.
    pub edges: Vec<EdgeStatus>,
}

#[cfg(test)]
impl NodeStatus {
    /// Creates the status of a node that has not run, for tests.
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
    /// Creates the status of a required port with these edges. The other facts are `false`.
    pub(crate) fn new(name: &'static str, edges: Vec<EdgeStatus>) -> Self {
        let (optional, is_awaited, is_paired, has_emitted) = (false, false, false, false);
        Self { name, optional, is_awaited, is_paired, has_emitted, is_branch: false, edges }
    }

    /// Returns whether the node waits for messages at this input. In `any(…)`, another condition may still let the node run
    /// without them.
    pub(crate) fn is_required(&self) -> bool {
        !self.optional || self.is_awaited
    }
}

impl NodeStatus {
    /// Returns the text about failed ticks that follows the number of ticks in a report. The text is empty if the run survived no
    /// failure of this node.
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

    /// Returns the outputs that have consumers but at which no tick of this run emitted a message: perhaps an `emit` was
    /// forgotten. If a tick has emitted on one branch, the other branches don't count.
    pub(crate) fn silent_outputs(&self) -> impl Iterator<Item = &PortStatus> {
        let has_worked = self.ticks > self.failures;
        let has_chosen = self.outputs.iter().any(|output| output.is_branch && output.has_emitted);
        let silent = move |output: &&PortStatus| {
            let is_excused = output.is_branch && has_chosen;
            !output.has_emitted && !output.edges.is_empty() && !is_excused
        };
        self.outputs.iter().filter(move |_| has_worked).filter(silent)
    }

    /// Returns whether the node has done all ticks of its `count`.
    pub(crate) fn has_reached_count(&self) -> bool {
        self.count.is_some_and(|count| self.ticks - self.flush_ticks >= count)
    }

    /// Returns whether the node ended before its `count` was reached. Messages that wait for such a node are dropped.
    pub(crate) fn has_ended_early(&self) -> bool {
        self.is_finished || self.is_at_limit
    }

    /// Returns whether the node's ticks call `flush` now.
    pub(crate) fn is_flushed_now(&self) -> bool {
        self.flush == Flushing::GoesOn
    }

    /// Returns whether the operator may hold back messages that `flush` has not sent.
    pub(crate) fn is_unflushed(&self) -> bool {
        let has_begun = self.ticks > 0;
        match self.flush {
            Flushing::Never => false,
            Flushing::Pending | Flushing::GoesOn => has_begun,
            Flushing::Over => self.has_failed_flush,
        }
    }

    /// Returns whether the node will not run again in this run, even if messages arrive.
    pub(crate) fn is_done(&self) -> bool {
        !self.is_flushed_now() && self.is_done_computing()
    }

    fn is_done_computing(&self) -> bool {
        self.is_finished || self.is_at_limit || self.has_reached_count() || self.ended_by.is_some()
    }

    /// Returns whether the operator or a condition has ended the node, and not the drop of all handles.
    pub(crate) fn has_ended_itself(&self) -> bool {
        self.is_finished || self.ended_by.as_ref().is_some_and(|ended| !ended.is_abandoned)
    }
}
