//! A random graph: its nodes, its edges, and what timing decides in it.

use streamflow::message::QueuePolicy;

/// An operator of [`operators`](super::operators).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Source,
    /// With one required input and two optional ones.
    One,
    /// As `One`, and holds messages back until it is flushed.
    Hold,
    /// With two required inputs and two optional ones.
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

/// A condition beside the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// This number of messages at `a`.
    Available(usize),
    /// Room at `x`, also on an edge that would drop a message.
    Room,
    /// Each millisecond of the simulated clock, with or without messages.
    Periodic,
    /// This number of credits of a handle that was closed, each with a message.
    Credits(u64),
    /// Equal sequence numbers at `a` and `b`.
    SameSequence,
}

/// How far a tick comes that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fails {
    /// Before any message is received.
    Early,
    /// After the message of `a`, if there is one, and before any other.
    Between,
    /// After all messages are received and emitted.
    Late,
}

/// The policy of a node for a tick that fails.
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
    /// The operator takes a message of `b` in each so-many-th tick, and else leaves it.
    pub(crate) takes: u64,
    /// The operator calls `finish` in its so-many-th tick.
    pub(crate) finish: Option<u64>,
    /// The operator calls `stop_graph` in its so-many-th tick.
    pub(crate) stops: Option<u64>,
    /// The operator fails in its so-many-th tick.
    pub(crate) fails: Option<(u64, Fails)>,
    pub(crate) on_failure: Policies,
    /// The number of messages for `x` that the operator holds back until it is flushed.
    pub(crate) holds: usize,
    /// How often it lets other threads run, before it does anything.
    pub(crate) slow: u8,
    pub(crate) when: Option<When>,
}

impl NodePlan {
    /// Whether one of its ticks ends the run, wherever the other nodes are.
    pub(crate) fn ends_all(&self) -> bool {
        self.stops.is_some() || self.fails.is_some() && self.on_failure == Policies::Stop
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdgePlan {
    pub(crate) from: usize,
    /// 0: `x`, 1: `y`.
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
}

/// The nodes and edges with numbers that are up to timing, by the library's documentation.
#[derive(Debug)]
pub(crate) struct UpToTiming {
    /// By node: how many ticks it does.
    pub(crate) ticks: Vec<bool>,
    /// By node: whether it is one of these and has no end of its own. Such a node does not keep the run going.
    pub(crate) attends: Vec<bool>,
    /// By edge: how many messages are received, dropped and left.
    pub(crate) edges: Vec<bool>,
}

impl Plan {
    /// Whether an edge leads to an optional input beside a required one.
    pub(crate) fn is_optional(&self, edge: &EdgePlan) -> bool {
        matches!(edge.port, Port::O | Port::P) && self.nodes[edge.to].kind != Kind::Merge
    }

    pub(crate) fn inputs(&self, node: usize) -> impl Iterator<Item = &EdgePlan> {
        self.edges.iter().filter(move |edge| edge.to == node)
    }

    pub(crate) fn outputs(&self, node: usize) -> impl Iterator<Item = &EdgePlan> {
        self.edges.iter().filter(move |edge| edge.from == node)
    }

    /// Returns the source with the ticks that number all messages of the node, independent of timing, if there is one.
    pub(crate) fn origin(&self, node: usize) -> Option<usize> {
        match self.nodes[node].kind {
            Kind::Source => Some(node),
            // A tick of `flush` has received nothing: its messages begin there.
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

    /// Whether `a` and `b` of a node get messages of one source.
    pub(crate) fn joins(&self, node: usize) -> bool {
        let mut inputs = self.inputs(node).filter(|edge| matches!(edge.port, Port::A | Port::B));
        let (Some(a), Some(b)) = (inputs.next(), inputs.next()) else { return false };
        let origin = self.origin(a.from);
        !b.is_feedback() && origin.is_some() && origin == self.origin(b.from)
    }

    /// Whether messages of both inputs that a node compares may be lost on their way. Each edge can then lose the
    /// partner of the message that the other one holds, for as long as the source runs.
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
        // A node with optional inputs alone takes its messages in any number of ticks, so a tick of a given number may have any.
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
