//! The report of a run: how much work each node did, and why the run ended. `report/text.rs` writes the report as text.

mod text;

use std::time::Duration;

use crate::context::RunControl;
use crate::driver::replay::ReplayReport;
use crate::message::{EdgeStatus, QueuePolicy};
use crate::operator::{NodeStatus, OnFailure, Summary};
use crate::param::ParamChange;
use crate::platform::Platform;

/// The report of a run that ended without an error: why the run ended, and how much work each node did. The method `run` of each
/// [`Graph`](crate::graph::Graph) made by `graph!` returns a report.
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
    /// The duration of the run, by the platform's clock. The time counts from the end of the `start` hooks until all `stop` hooks
    /// have returned and all work on the run's devices is complete. In a report of a run that goes on, the time counts until the
    /// report was made. Zero if a `start` hook has failed.
    pub elapsed: Duration,
    /// The reports of all nodes. A producer comes before its consumers.
    pub nodes: Vec<NodeReport>,
    /// The messages of each edge, in the order of the consumers, and of one consumer in the order of its inputs.
    pub edges: Vec<EdgeReport>,
    /// The numbers of messages that were sent and never received, by edge and reason. Empty if every message was received.
    pub dropped: Vec<Dropped>,
    /// The nodes that have received, in one tick, messages of one origin with different [sequence
    /// numbers](crate::message::Metadata::sequence). Empty if there were no such nodes. The condition
    /// [`#[when(same_sequence)]`](crate::guide::conditions#messages-that-belong-together) prevents such ticks.
    pub mixed: Vec<Mixed>,
    /// The nodes that waited for each other when the run ended, where this is no stall: timing decides how many ticks these nodes
    /// do. Such a node is behind an edge whose policy drops messages; or it has no end of its own, and sends only to such nodes
    /// and to optional inputs. A node of the second kind is also listed if it could run, but no node would receive its messages
    /// any more. Each entry is a chain of nodes that wait for each other, as in [`Error::Stalled`](crate::Error::Stalled).
    pub waited: Vec<String>,
    /// The values that handles have set for parameters and that nodes have begun to use, by node, and of each node in the order
    /// of its ticks. Of each node, the list has the last 1000 values.
    pub parameters: Vec<ParamChange>,
    /// How many values nodes have begun to use that `parameters` leaves out, since it has the last 1000 of each node.
    pub parameters_omitted: u64,
    /// The latency of each path from an origin to a sink: the age of the messages that the sink received. Paths that no message
    /// took are left out. Empty without [statistics](crate::platform::PlatformBuilder::statistics).
    pub latency: Vec<PathReport>,
    /// How many messages arrived at a sink on a path whose latency was not measured: a run measures the first 1024 paths.
    pub unmeasured: u64,
    /// How many ticks were replayed from a CUDA graph, and how many were not; `None` for a graph without `#[replay]`.
    pub replay: Option<ReplayReport>,
    /// Whether the times of this report were read from a [simulated clock](crate::time::Clock::simulated).
    pub simulated_time: bool,
    /// Whether the devices are [simulated](crate::Platform::is_simulated). The times of this report then say nothing about a GPU.
    pub simulated_device: bool,
}

/// Why a run ended without an error; also says that a run goes on, or has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// Each source has done as many ticks as its `count`, and no node can run any more. A source without a `count` does not keep
    /// the run going if it sends only to optional inputs and to nodes behind edges that drop messages: such a source stops when
    /// the last of these consumers has ended.
    SourcesDone,
    /// Some nodes ended because they called [`finish`](crate::ExecutionContext::finish), or because one of their conditions can't
    /// hold again, and no other node can run without them.
    Finished {
        /// The names of the nodes that ended.
        nodes: Vec<String>,
    },
    /// The program, an operator or a signal has told the graph to stop.
    Stopped {
        /// The cause of the stop.
        by: StoppedBy,
    },
    /// The nodes without inputs have done the number of ticks that was given to `run_for`, and no node can run any more.
    TicksDone,
    /// The duration that was given to `run_for` is over.
    TimeOver,
    /// The run has not ended: this is a [report of a run that goes on](crate::schedule::Running::report).
    NotYet,
    /// The run has failed, and `join` returns its error. Only [`RunHandle::report`](crate::schedule::RunHandle::report) returns a
    /// report with this end.
    Failed {
        /// The text of the error that `join` returns.
        error: String,
    },
}

/// The cause of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoppedBy {
    /// The node that called [`stop_graph`](crate::ExecutionContext::stop_graph).
    StopGraph(String),
    /// A handle of the run: its method `stop` was called, or a [`Running`](crate::schedule::Running) was dropped.
    Handle,
    /// Ctrl-C, after `stop_on_signals` or `stop_on_ctrl_c` of a [`Running`](crate::schedule::Running).
    CtrlC,
    /// A signal other than Ctrl-C's, by its name: SIGTERM or SIGHUP, after a call of `stop_on_signals`.
    Signal(&'static str),
    /// The program called `end_run` before a run that it steps with `tick` was over.
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
    /// How many of the node's ticks called [`flush`](crate::Flush).
    pub flush_ticks: u64,
    /// Whether the node has a `flush` that was not called until it had sent everything, although the node did a tick: the run was
    /// stopped, or the run or the operator has failed. The messages that the operator held back are lost.
    pub unflushed: bool,
    /// How many of the node's ticks and restarts failed. The run went on after a failure if the node has `#[on_failure(…)]`.
    pub failures: u64,
    /// How many moments of the node's `periodic` condition had no tick of their own, since a tick began late. With `skip`, a late
    /// tick replaces all moments that passed before it; with `catch_up(n)`, all but the last `n` of them. Always 0 for a node
    /// with `spaced`.
    pub missed_periods: u64,
    /// How often a new operator replaced one that had failed.
    pub restarts: u64,
    /// Whether the node's `#[on_failure(…)]` policy is to restart the operator.
    has_restart: bool,
    /// The text of the node's first failure; `None` if no tick or restart of the node failed.
    pub first_failure: Option<String>,
    /// The outputs that have a consumer and at which no tick emitted a message. Empty for a node that did no tick. If a tick has
    /// chosen a branch, the other branches don't count.
    pub silent_outputs: Vec<&'static str>,
    /// The host's time for a tick: for `compute`, and for sending the messages. `None` without
    /// [statistics](crate::platform::PlatformBuilder::statistics), and for a node that did no tick. Device work that the tick has
    /// queued may take longer, and is not in this time.
    pub host_time: Option<Summary>,
    /// The lateness of the node's ticks: the time from the moment at which a tick was due until the tick began. `None` without
    /// [statistics](crate::platform::PlatformBuilder::statistics), and for a node whose ticks are due at no moment.
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

/// The latency of a path: the age of the messages that a sink received, at the end of the sink's tick.
///
/// A sink is a node without outputs, or one whose outputs are all discarded. If a tick receives several messages, the message
/// with the earliest acquisition time counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathReport {
    /// The node that set the acquisition time of the data: see [`Metadata`](crate::message::Metadata).
    pub source: String,
    /// The sink: the last node that received the data.
    pub sink: String,
    /// The time from [`acquired`](crate::message::Metadata::acquired) to the end of the sink's tick.
    pub summary: Summary,
}

/// A node with mixed ticks. In a mixed tick, the required inputs received messages of one origin with different sequence numbers:
/// for example a frame, and the boxes found in an earlier frame.
///
/// At an input with several edges, each message is compared with the first one. Of a batch, only the first message is compared. A
/// message of a `#[feedback]` edge comes from an earlier tick, and is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mixed {
    /// The node's name.
    pub node: String,
    /// How many of the node's ticks were mixed.
    pub ticks: u64,
    /// The origin of the first two messages that made a tick mixed.
    pub source: String,
    /// The inputs at which the first two messages were received that made a tick mixed: the same name twice if it was one input with several edges.
    pub inputs: [&'static str; 2],
    /// The sequence numbers of the first two messages that made a tick mixed.
    pub sequences: [u64; 2],
}

/// The counts of an edge's messages. However the run has ended, `sent` is the sum of `received`, `dropped` and `left`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeReport {
    /// The edge's name, as `producer.output >> consumer.input`.
    pub edge: &'static str,
    /// How many messages the ticks of the producer sent. A tick that fails sends none. The message that a `#[feedback]` edge has
    /// when the run begins also counts as sent.
    pub sent: u64,
    /// How many messages the consumer's ticks received or discarded. Failed ticks count too.
    pub received: u64,
    /// How many messages were dropped before the run ended. [`Report::dropped`] has the reasons.
    pub dropped: u64,
    /// How many messages were in the edge's queue when the run ended; in a report of a run that goes on, when the report was
    /// made. At the end of a run, the queue of a `#[feedback]` edge is kept for the next run, and other queues are cleared.
    pub left: u64,
}

/// A number of messages of one edge that were sent and never received, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The edge's name, as `producer.output >> consumer.input`.
    pub edge: &'static str,
    /// How many messages were dropped for this reason.
    pub messages: u64,
    /// Why the messages were dropped.
    pub reason: DropReason,
}

/// Why messages of an edge were dropped and not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// The edge was full, and its policy is `pop` or `reject`.
    Policy(QueuePolicy),
    /// The edge was full, and its consumer could not run any more, whatever other nodes do. Its producer still had ticks to do or
    /// messages to receive. The edge dropped messages so that the producer could go on: no node needs these messages, since the
    /// edge leads to an optional input, or to a node behind an edge with a policy that drops messages.
    GaveWay,
    /// The consumer's condition `same_sequence` dropped the message, since the next message of another input had a larger number.
    Alone,
    /// A tick of the consumer failed before it received the messages, and the consumer's `#[on_failure(…)]` is `skip` or
    /// `restart`. They are dropped together with the messages that the failed tick had received, so that messages which belong
    /// together at several inputs are dropped together.
    TickFailed,
    /// The messages were still in the edge's queue when the run ended.
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

    /// The report of an edge, by its name `producer.output >> consumer.input`; `None` if the graph has no edge of this name.
    pub fn edge(&self, name: &str) -> Option<&EdgeReport> {
        self.edges.iter().find(|report| report.edge == name)
    }

    fn rate(&self, ticks: u64) -> Option<f64> {
        (!self.elapsed.is_zero()).then(|| ticks as f64 / self.elapsed.as_secs_f64())
    }

    /// Creates a report from `at_end`, the statuses after the last tick, and `stopped`, the statuses after the `stop` hooks.
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
    /// Returns why a run ended that nothing has stopped, from the nodes' statuses after the last tick.
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

/// Returns the latency of each path, sorted by the sink's place in the order of the nodes.
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

/// Returns the report of a node's mixed ticks; `None` if the node had none.
fn mixed(node: &NodeStatus, nodes: &[NodeStatus]) -> Option<Mixed> {
    let pair = node.mixed_pair?;
    let source = nodes.get(pair.origin).map(|source| source.name.clone()).unwrap_or_default();
    let (node, ticks) = (node.name.clone(), node.mixed);
    Some(Mixed { node, ticks, source, inputs: pair.inputs, sequences: pair.sequences })
}

/// Returns the statuses of all edges that lead to a node.
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

/// Returns the numbers of messages that were sent to a node and never received, by edge and reason.
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
