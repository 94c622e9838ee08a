//! The report of a run: the work of its nodes, and the reason of its end. `report/text.rs` has its text.

mod text;

use std::time::Duration;

use crate::context::RunControl;
use crate::driver::replay::ReplayReport;
use crate::message::{EdgeStatus, QueuePolicy};
use crate::operator::{NodeStatus, OnFailure, Summary};
use crate::param::ParamChange;
use crate::platform::Platform;

/// The report of a run that ended well: the reason of its end, and its work. The method `run` of each
/// [`Graph`](crate::graph::Graph) made by `graph!` returns it.
///
/// ```
/// # use streamflow::prelude::*;
/// # #[operator] struct Camera { #[output] frame: u64 }
/// # impl Compute for Camera {
/// #     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> { io.frame.emit(cx.tick()) }
/// # }
/// # graph! {
/// #     struct Recording(frames: u64) {
/// #         #[when(count(frames))] let camera: Camera = Camera::new();
/// #         camera.frame >> _;
/// #     }
/// # }
/// # fn main() -> Result<()> {
/// # let platform = Platform::host().build()?;
/// let report = Recording::new(&platform, 3)?.run()?;
/// assert_eq!(report.ticks("camera"), Some(3));
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Why the run ended.
    pub end: End,
    /// The duration of the run, by the platform's clock: from the end of its `start` hooks until the `stop` hooks had
    /// returned and the work on its devices was complete. In a report of a run that goes on, the duration until that
    /// report. Zero if a `start` hook has failed.
    pub elapsed: Duration,
    /// The nodes, producers before consumers.
    pub nodes: Vec<NodeReport>,
    /// The messages of each edge, in the order of the consumers and of their inputs.
    pub edges: Vec<EdgeReport>,
    /// The messages that were sent and never received, by edge and reason. Empty if there were no such messages.
    pub dropped: Vec<Dropped>,
    /// The nodes that have received messages of one source with different [sequence numbers](crate::message::Metadata::sequence)
    /// in one tick. Empty if there were no such nodes.
    /// [`#[when(same_sequence)]`](crate::guide::conditions#messages-that-belong-together) avoids them.
    pub mixed: Vec<Mixed>,
    /// The waits at the end of the run that are no stall, since timing decides how far the waiting nodes come. These
    /// are nodes behind an edge whose policy drops messages, and nodes without an end of their own that serve such
    /// nodes or optional inputs alone; among the latter also a node that could run, but whose messages no node would
    /// take any more. Each entry is a chain of nodes that wait for each other, as in
    /// [`Error::Stalled`](crate::Error::Stalled).
    pub waited: Vec<String>,
    /// The values of parameters that the nodes have taken over, in the order of the nodes, and of the ticks of each
    /// node. The last 1000 of each node are kept.
    pub parameters: Vec<ParamChange>,
    /// How many values were taken over and are not among `parameters`.
    pub parameters_omitted: u64,
    /// The age of the messages at each sink, by the node at which their data began. Paths that no message took are left
    /// out. Empty without [statistics](crate::platform::PlatformBuilder::statistics).
    pub latency: Vec<PathReport>,
    /// How many messages arrived on a path that was not measured: a run measures the first 1024 paths.
    pub unmeasured: u64,
    /// The replayed ticks and the others; `None` for a graph without `#[replay]`.
    pub replay: Option<ReplayReport>,
    /// Whether the times are of a [simulated clock](crate::time::Clock::simulated).
    pub simulated_time: bool,
    /// Whether the devices are [simulated](crate::Platform::is_simulated): the times say nothing about a GPU.
    pub simulated_device: bool,
}

/// Why a run ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// Each source has done as many ticks as its `count`, and no node can run any more. A source without a count stands
    /// still if its messages go to nothing but optional inputs and nodes behind edges that drop messages: it ends
    /// with the last of these nodes.
    SourcesDone,
    /// Some nodes ended by [`finish`](crate::ExecutionContext::finish), or since a condition of theirs can't hold again,
    /// and no other node can run without them.
    Finished {
        /// These nodes.
        nodes: Vec<String>,
    },
    /// The graph was told to stop.
    Stopped {
        /// The cause of the stop.
        by: StoppedBy,
    },
    /// The nodes without inputs have done the ticks of `run_for`, and no node can run any more.
    TicksDone,
    /// The time of `run_for` is over.
    TimeOver,
    /// The run has not ended: this is a [report of a run that goes on](crate::schedule::Running::report).
    NotYet,
    /// The run has failed, and `join` returns its error. Only a [handle](crate::schedule::RunHandle::report) returns
    /// such a report.
    Failed {
        /// The text of that error.
        error: String,
    },
}

/// The cause of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoppedBy {
    /// The node that called [`stop_graph`](crate::ExecutionContext::stop_graph).
    StopGraph(String),
    /// A handle of the run: its method `stop`, or its drop.
    Handle,
    /// Ctrl-C, after `stop_on_signals` or `stop_on_ctrl_c` of a [`Running`](crate::schedule::Running).
    CtrlC,
    /// Another signal, with its name: SIGTERM or SIGHUP, after `stop_on_signals`.
    Signal(&'static str),
    /// The program called `end_run` before a stepped run was over.
    EndRun,
}

/// The work of a node in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// The node's name in the graph.
    pub name: String,
    /// How many ticks the node did, failed ticks included.
    pub ticks: u64,
    /// How many of its ticks called [`flush`](crate::Flush).
    pub flush_ticks: u64,
    /// Whether the node has a `flush` that was not called to its end, although the node did a tick: the run was
    /// stopped, or the run or the operator has failed. The messages that the operator held back are lost.
    pub unflushed: bool,
    /// How many of its ticks and restarts failed. The run went on if the node has `#[on_failure(…)]`.
    pub failures: u64,
    /// How many moments of its `periodic` have no tick, since a late tick has taken their place: with `skip` all moments that
    /// passed before that tick, with `catch_up(n)` all but the last `n` of them. A node with `spaced` has no moments to miss.
    pub missed_periods: u64,
    /// How often a fresh operator took the place of a failed one.
    pub restarts: u64,
    /// Whether the node's policy restarts it.
    has_restart: bool,
    /// The text of the first failure.
    pub first_failure: Option<String>,
    /// The outputs with consumers at which no tick emitted a message. Empty for a node that did no tick.
    pub silent_outputs: Vec<&'static str>,
    /// The host's time for a tick: `compute`, and sending the messages. `None` without
    /// [statistics](crate::platform::PlatformBuilder::statistics), and for a node that did no tick. Work that a tick has queued
    /// on a device goes on after it.
    pub host_time: Option<Summary>,
    /// The lateness of its ticks: the time from the moment at which a tick was due to its beginning. `None` without
    /// [statistics](crate::platform::PlatformBuilder::statistics), and for a node that waits for no moment.
    pub lateness: Option<Summary>,
}

impl NodeReport {
    fn new(node: &NodeStatus) -> Self {
        let times = node.times.as_ref();
        Self {
            name: node.name.clone(),
            ticks: node.ticks,
            flush_ticks: node.flush_ticks,
            unflushed: node.is_unflushed(),
            failures: node.failures,
            missed_periods: node.missed_periods,
            restarts: node.restarts,
            has_restart: matches!(node.on_failure, OnFailure::Restart { .. }),
            first_failure: node.first_failure.clone(),
            silent_outputs: node.silent_outputs().map(|output| output.name).collect(),
            host_time: times.and_then(|times| times.host_time),
            lateness: times.and_then(|times| times.lateness),
        }
    }
}

/// The latency of a path: the age of messages at the end of the sink's tick that received them.
///
/// A sink is a node without outputs, or with outputs that are all discarded. Of the messages that a tick receives, the
/// one with the earliest acquisition time counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathReport {
    /// The node at which the data began: see [`Metadata`](crate::message::Metadata).
    pub source: String,
    /// The sink: the last node that received the data.
    pub sink: String,
    /// From [`acquired`](crate::message::Metadata::acquired) to the end of the sink's tick.
    pub summary: Summary,
}

/// A node with mixed ticks: one tick received messages of one source, at required inputs, with different sequence numbers, as a
/// frame and the boxes of an earlier one.
///
/// At an input with several edges, all messages are compared with the first one; of a batch, the first message counts.
/// A message of a `#[feedback]` edge is of an earlier tick, and does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mixed {
    /// The node's name.
    pub node: String,
    /// How many of its ticks were mixed.
    pub ticks: u64,
    /// The node at which the data of the first mixed pair of messages began.
    pub source: String,
    /// The inputs at which the pair was received: one name twice for an input with several edges.
    pub inputs: [&'static str; 2],
    /// The sequence numbers of the pair.
    pub sequences: [u64; 2],
}

/// The messages of an edge: `sent` is the sum of `received`, `dropped` and `left`, however the run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeReport {
    /// `producer.output >> consumer.input`
    pub edge: &'static str,
    /// How many messages ticks of the producer sent. A tick that fails sends none. An edge with `#[feedback]` begins a
    /// run with a message. That message counts as well.
    pub sent: u64,
    /// How many messages the ticks of the consumer received or discarded, failed ticks included.
    pub received: u64,
    /// How many messages were dropped while the run went on: [`Report::dropped`] has the reasons.
    pub dropped: u64,
    /// How many messages waited when the run ended; in a report of a run that goes on, how many wait. On an edge with
    /// `#[feedback]` they wait for the next run, and on other edges they are dropped.
    pub left: u64,
}

/// Messages of an edge that were sent and never received.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// `producer.output >> consumer.input`
    pub edge: &'static str,
    /// How many messages.
    pub messages: u64,
    /// The reason.
    pub reason: DropReason,
}

/// Why messages were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// The edge was full, and its policy is `pop` or `reject`.
    Policy(QueuePolicy),
    /// The edge was full, its consumer could not run any more whatever other nodes do, and its producer had ticks left
    /// or messages to take. The edge gave way, since no node needs its messages to go on: it leads to an optional
    /// input, or to a node behind an edge with a policy that drops messages.
    GaveWay,
    /// The consumer's condition `same_sequence` found no partner: the next message of another input had a larger number.
    Alone,
    /// A tick of the consumer failed before it took them, and its policy is `skip` or `restart`: they are dropped with the
    /// messages that it had taken, so that those of several inputs stay together.
    TickFailed,
    /// The messages waited when the run ended.
    RunEnded,
}

impl Report {
    /// How many ticks a node did; `None` if the graph has no node of this name.
    pub fn ticks(&self, node: &str) -> Option<u64> {
        self.nodes.iter().find(|report| report.name == node).map(|report| report.ticks)
    }

    /// How many ticks a node did per second of [`elapsed`](Self::elapsed); `None` if the graph has no node of this name, or no
    /// time has passed.
    pub fn ticks_per_second(&self, node: &str) -> Option<f64> {
        self.rate(self.ticks(node)?)
    }

    /// The messages of an edge, `producer.output >> consumer.input`; `None` if the graph has no edge of this name.
    pub fn edge(&self, name: &str) -> Option<&EdgeReport> {
        self.edges.iter().find(|report| report.edge == name)
    }

    fn rate(&self, ticks: u64) -> Option<f64> {
        (!self.elapsed.is_zero()).then(|| ticks as f64 / self.elapsed.as_secs_f64())
    }

    /// Creates the report from the statuses after the last tick and the statuses after the `stop` hooks.
    pub(super) fn new(
        end: End,
        at_end: &[NodeStatus],
        stopped: &[NodeStatus],
        platform: &Platform,
        run: &RunControl,
    ) -> Self {
        let times = at_end.iter().filter_map(|node| node.times.as_ref());
        let parameters = at_end.iter().flat_map(|node| node.parameters.iter().cloned());
        Self {
            end,
            elapsed: run.elapsed(platform.clock()),
            nodes: at_end.iter().map(NodeReport::new).collect(),
            edges: stopped.iter().flat_map(edges).map(EdgeReport::new).collect(),
            dropped: stopped.iter().flat_map(dropped).collect(),
            mixed: at_end.iter().filter_map(|node| mixed(node, at_end)).collect(),
            waited: Vec::new(),
            parameters: parameters.collect(),
            parameters_omitted: at_end.iter().map(|node| node.parameters_omitted).sum(),
            latency: latency(at_end),
            unmeasured: times.map(|times| times.unmeasured).sum(),
            replay: None,
            simulated_time: platform.clock().is_simulated(),
            simulated_device: platform.is_simulated(),
        }
    }
}

impl End {
    /// The reason of the end of a run that was not stopped, from the statuses after the last tick.
    pub(super) fn by_itself(nodes: &[NodeStatus]) -> Self {
        if nodes.iter().any(|node| node.is_at_limit) {
            return Self::TicksDone;
        }
        match finished(nodes) {
            nodes if nodes.is_empty() => Self::SourcesDone,
            nodes => Self::Finished { nodes },
        }
    }
}

/// The latency of each path, sinks in the order of the nodes.
fn latency(nodes: &[NodeStatus]) -> Vec<PathReport> {
    let mut paths = Vec::new();
    for sink in nodes {
        for (origin, summary) in sink.times.iter().flat_map(|times| &times.latency) {
            let Some(source) = nodes.get(origin.get() as usize - 1) else { continue };
            let (source, sink) = (source.name.clone(), sink.name.clone());
            paths.push(PathReport { source, sink, summary: *summary });
        }
    }
    paths
}

fn finished(nodes: &[NodeStatus]) -> Vec<String> {
    nodes
        .iter()
        .filter(|node| node.is_finished || node.ended_by.is_some())
        .map(|node| node.name.clone())
        .collect()
}

/// The mixed ticks of a node.
fn mixed(node: &NodeStatus, nodes: &[NodeStatus]) -> Option<Mixed> {
    let pair = node.mixed_pair?;
    let source = nodes.get(pair.origin).map(|source| source.name.clone()).unwrap_or_default();
    let (node, ticks) = (node.name.clone(), node.mixed);
    Some(Mixed { node, ticks, source, inputs: pair.inputs, sequences: pair.sequences })
}

/// The edges to a node.
fn edges(node: &NodeStatus) -> impl Iterator<Item = &EdgeStatus> {
    node.inputs.iter().flat_map(|input| &input.edges)
}

impl EdgeReport {
    fn new(edge: &EdgeStatus) -> Self {
        let EdgeStatus { name, sent, received, waiting, dropped_at_end, .. } = *edge;
        let while_it_went_on = [
            edge.dropped_by_policy,
            edge.dropped_to_go_on,
            edge.dropped_alone,
            edge.dropped_by_failure,
        ];
        let (dropped, left) = (while_it_went_on.iter().sum(), waiting as u64 + dropped_at_end);
        Self { edge: name, sent, received, dropped, left }
    }
}

/// The messages that were sent to a node and never received.
fn dropped(node: &NodeStatus) -> impl Iterator<Item = Dropped> {
    edges(node).flat_map(|edge| {
        let reasons = [
            (edge.dropped_by_policy, DropReason::Policy(edge.policy)),
            (edge.dropped_to_go_on, DropReason::GaveWay),
            (edge.dropped_alone, DropReason::Alone),
            (edge.dropped_by_failure, DropReason::TickFailed),
            (edge.dropped_at_end, DropReason::RunEnded),
        ];
        let reasons = reasons.into_iter().filter(|(messages, _)| *messages > 0);
        reasons.map(|(messages, reason)| Dropped { edge: edge.name, messages, reason })
    })
}
