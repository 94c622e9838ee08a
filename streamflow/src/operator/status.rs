//! What a node is doing, for reports about a run.

use super::statistics::NodeTimes;
use crate::message::EdgeStatus;
use crate::param::ParamChange;

/// A node at one moment.
#[derive(Debug, Clone)]
pub struct NodeStatus {
    /// Its name in the graph.
    pub name: String,
    /// How many ticks it has done in this run.
    pub ticks: u64,
    /// `#[when(count(n))]`: how many it may do.
    pub count: Option<u64>,
    /// How many ticks and restarts failed in this run.
    pub failures: u64,
    /// How often a fresh operator took the place of one that had failed.
    pub restarts: u64,
    /// The text of the first failure that the run survived.
    pub first_failure: Option<String>,
    /// Whether it has called [`ExecutionContext::finish`](crate::ExecutionContext::finish).
    pub is_finished: bool,
    /// Whether it has done as many ticks as [`RunFor`](crate::schedule::RunFor) permits, and fewer than its `count`.
    pub is_at_limit: bool,
    /// Whether it has called [`ExecutionContext::stop_graph`](crate::ExecutionContext::stop_graph).
    pub has_stopped_graph: bool,
    /// Its inputs, in the order of declaration.
    pub inputs: Vec<PortStatus>,
    /// Its outputs, in the order of declaration.
    pub outputs: Vec<PortStatus>,
    /// The values of parameters that it has taken over in this run: the last 1000.
    pub parameters: Vec<ParamChange>,
    /// How many it had taken over before these.
    pub parameters_omitted: u64,
    /// What was measured, if the platform keeps statistics.
    pub(crate) times: Option<NodeTimes>,
}

/// A port of a node at one moment.
#[derive(Debug, Clone)]
pub struct PortStatus {
    /// The port's name.
    pub name: &'static str,
    /// Whether the operator may run without a message here; `false` for outputs.
    pub optional: bool,
    /// Its edges, in the order in which they were connected.
    pub edges: Vec<EdgeStatus>,
}

impl NodeStatus {
    /// Whether it has done as many ticks as it may.
    pub(crate) fn has_reached_count(&self) -> bool {
        self.count.is_some_and(|count| self.ticks >= count)
    }

    /// Whether it ended before its `count`, so that what waits for it is dropped.
    pub(crate) fn has_ended_early(&self) -> bool {
        self.is_finished || self.is_at_limit
    }

    /// Whether it will not run again.
    pub(crate) fn is_done(&self) -> bool {
        self.is_finished || self.is_at_limit || self.has_reached_count()
    }
}
