//! A random graph: its nodes, its edges, and what timing decides in it.

use std::ops::Range;

use streamflow::message::QueuePolicy;

/// An operator of [`operators`](super::operators).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Source,
    /// A node with one required input and two optional ones.
    One,
    /// Like `One`, and holds messages back until the node is flushed.
    Hold,
    /// A node with two required inputs and two optional ones.
    Two,
    /// A sink with two optional inputs.
    Merge,
}

impl Kind {
    pub(crate) fn has_outputs(self) -> bool {
        self != Self::Merge
    }

    pub(crate) fn required(self) -> &'static [Port] {
        match self {
            Self::Source | Self::Merge => &[],
            Self::One | Self::Hold => &[Port::A],
            Self::Two => &[Port::A, Port::B],
        }
    }

    pub(crate) fn optional(self) -> &'static [Port] {
        if self == Self::Source { &[] } else { &[Port::O, Port::P] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    A,
    B,
    O,
    P,
}

impl Port {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::O => "o",
            Self::P => "p",
        }
    }
}

/// A condition of a node in addition to its count of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// The input `a` has this many messages.
    Available(usize),
    /// The output `x` has room. This counts even for an edge that would drop a message.
    Room,
    /// Each millisecond of the simulated clock, with or without messages.
    Periodic,
    /// A handle, which has been closed, still has credits: at first this many, and a message for each.
    Credits(u64),
    /// The messages at `a` and `b` have equal sequence numbers.
    SameSequence,
}

/// At which point of a tick it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fails {
    /// The tick fails before any message is received.
    Early,
    /// The tick fails after receiving the message of `a`, if there is one, and before receiving any other.
    Between,
    /// The tick fails after all messages are received and emitted.
    Late,
}

/// What a node does after a failed tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policies {
    Stop,
    Skip,
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodePlan {
    pub(crate) kind: Kind,
    pub(crate) count: Option<u64>,
    /// The operator emits at `x` and at `y` in each so-many-th tick.
    pub(crate) every: [u64; 2],
    /// The operator takes a message of `b` in every n-th tick (`takes` is n), and otherwise leaves the message.
    pub(crate) takes: u64,
    /// The number of the tick in which the operator calls `finish`.
    pub(crate) finish: Option<u64>,
    /// The number of the tick in which the operator calls `stop_graph`.
    pub(crate) stops: Option<u64>,
    /// The number of the tick in which the operator fails, and at which point.
    pub(crate) fails: Option<(u64, Fails)>,
    pub(crate) on_failure: Policies,
    /// How many messages for `x` the operator holds back until it is flushed.
    pub(crate) holds: usize,
    /// How often the operator lets other threads run at the beginning of a tick.
    pub(crate) slow: u8,
    pub(crate) when: Option<When>,
}

impl NodePlan {
    /// Whether one of the node's ticks ends the whole run, wherever the other nodes are.
    pub(crate) fn ends_all(&self) -> bool {
        self.stops.is_some() || self.fails.is_some() && self.on_failure == Policies::Stop
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdgePlan {
    pub(crate) from: usize,
    /// The output: 0 is `x`, 1 is `y`.
    pub(crate) out: usize,
    pub(crate) to: usize,
    pub(crate) port: Port,
    pub(crate) capacity: usize,
    pub(crate) policy: QueuePolicy,
}

impl EdgePlan {
    pub(crate) fn is_feedback(&self) -> bool {
        self.from >= self.to
    }

    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self.policy, QueuePolicy::Pop | QueuePolicy::Reject)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) edges: Vec<EdgePlan>,
    /// The nodes of each graph inside. The second graph is inside of the first.
    pub(crate) graphs: Vec<Range<usize>>,
}

/// The nodes and edges with numbers that are up to timing, by the library's documentation.
#[derive(Debug)]
pub(crate) struct UpToTiming {
    /// For each node: whether timing decides how many ticks it does.
    pub(crate) ticks: Vec<bool>,
    /// For each node: whether timing decides its ticks and it has no end of its own. Such a node does not keep the run
    /// going.
    pub(crate) attends: Vec<bool>,
    /// For each edge: whether timing decides how many messages are received, dropped and left.
    pub(crate) edges: Vec<bool>,
}

impl Plan {
    /// Returns how many graphs an edge leads out of, and into how many.
    pub(crate) fn borders(&self, edge: &EdgePlan) -> [usize; 2] {
        let graphs = |from: usize, to: usize| {
            self.graphs.iter().filter(|graph| graph.contains(&from) && !graph.contains(&to)).count()
        };
        [graphs(edge.from, edge.to), graphs(edge.to, edge.from)]
    }

    /// Whether an edge leads to an optional input of a node that also has a required one.
    pub(crate) fn is_optional(&self, edge: &EdgePlan) -> bool {
        matches!(edge.port, Port::O | Port::P) && self.nodes[edge.to].kind != Kind::Merge
    }

    pub(crate) fn inputs(&self, node: usize) -> impl Iterator<Item = &EdgePlan> {
        self.edges.iter().filter(move |edge| edge.to == node)
    }

    pub(crate) fn outputs(&self, node: usize) -> impl Iterator<Item = &EdgePlan> {
        self.edges.iter().filter(move |edge| edge.from == node)
    }

    /// Returns the source whose ticks number all messages of the node, whatever the timing, if there is one.
    pub(crate) fn origin(&self, node: usize) -> Option<usize> {
        match self.nodes[node].kind {
            Kind::Source => Some(node),
            // A tick of `flush` has received nothing, so its messages begin at this node.
            Kind::Hold | Kind::Merge => None,
            Kind::One | Kind::Two => {
                if self.inputs(node).any(|edge| self.is_optional(edge)) {
                    return None;
                }
                let mut before = self.inputs(node).filter(|edge| !edge.is_feedback());
                let first = self.origin(before.next()?.from)?;
                before.all(|edge| self.origin(edge.from) == Some(first)).then_some(first)
            }
        }
    }

    /// Whether the inputs `a` and `b` of a node receive messages of the same source.
    pub(crate) fn joins(&self, node: usize) -> bool {
        let mut inputs = self.inputs(node).filter(|edge| matches!(edge.port, Port::A | Port::B));
        let (Some(a), Some(b)) = (inputs.next(), inputs.next()) else { return false };
        let origin = self.origin(a.from);
        !b.is_feedback() && origin.is_some() && origin == self.origin(b.from)
    }

    /// Whether messages of both inputs that a node compares may be lost on their way. Then each edge can lose the partner
    /// of the message that waits on the second edge, for as long as the source runs.
    pub(crate) fn loses_partners(&self, node: usize) -> bool {
        let mut compared = self.inputs(node).filter(|edge| matches!(edge.port, Port::A | Port::B));
        compared.all(|edge| self.is_thinned(edge))
    }

    /// Whether a message may be lost at an edge, or before it. Only a node's own edge leads back.
    fn is_thinned(&self, edge: &EdgePlan) -> bool {
        let mut before = self.inputs(edge.from).filter(|it| !it.is_feedback());
        edge.is_lossy() || before.any(|it| !self.is_optional(it) && self.is_thinned(it))
    }

    pub(crate) fn up_to_timing(&self) -> UpToTiming {
        let nodes = 0..self.nodes.len();
        let mut thinned = vec![false; nodes.len()];
        let mut serves: Vec<bool> =
            nodes.clone().map(|node| self.outputs(node).next().is_some()).collect();
        let mut attends = vec![false; nodes.len()];
        // Each pass spreads each property along an edge at least.
        for _ in nodes.clone() {
            for edge in self.edges.iter().filter(|edge| !self.is_optional(edge)) {
                thinned[edge.to] |= edge.is_lossy() || thinned[edge.from];
            }
        }
        for _ in nodes.clone() {
            for edge in self.edges.iter().filter(|edge| !self.is_optional(edge)) {
                serves[edge.from] &= thinned[edge.to] || serves[edge.to];
            }
        }
        for _ in nodes.clone() {
            for node in nodes.clone().filter(|node| serves[*node]) {
                let is_endless =
                    self.nodes[node].kind == Kind::Source && self.nodes[node].count.is_none();
                let is_fed = |edge: &EdgePlan| !self.is_optional(edge) && attends[edge.from];
                attends[node] = attends[node] || is_endless || self.inputs(node).any(is_fed);
            }
        }
        let ticks: Vec<_> = nodes.map(|node| thinned[node] || attends[node]).collect();
        // A node that has only optional inputs receives its messages in any number of ticks, so the tick with a given
        // number may have any of them.
        let fails =
            |node: usize| self.nodes[node].kind == Kind::Merge && self.nodes[node].fails.is_some();
        let is_up = |edge: &EdgePlan| {
            self.is_optional(edge)
                || edge.is_lossy()
                || ticks[edge.from]
                || ticks[edge.to]
                || fails(edge.to)
        };
        let edges = self.edges.iter().map(is_up).collect();
        UpToTiming { ticks, attends, edges }
    }
}
