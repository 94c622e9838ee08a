//! Programs that are graphs: a clock, and nodes that do in each of its ticks what their script says.

/// What a node can keep.
pub(crate) const REGISTERS: usize = 4;

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Flow {
    /// How often the clock ticks.
    pub(crate) ticks: u64,
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) edges: Vec<EdgePlan>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodePlan {
    pub(crate) kind: Kind,
    /// It owns no streams, and works on the first that it receives. Not a [`Kind::Work`].
    pub(crate) adopts: bool,
    /// It runs when the streams of its messages are done. Not a [`Kind::Work`].
    pub(crate) awaits: bool,
    pub(crate) script: Vec<Phase>,
}

/// Which ports it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All of them, and each optional. It runs in each tick of the clock.
    Work,
    /// [`Port::Read`], which is required.
    Unary,
    /// [`Port::Share`], which is required; it sends what others may share.
    Forward,
    /// [`Port::All`], of which each message is required.
    Merge,
}

impl Kind {
    pub(crate) fn has(self, port: Port) -> bool {
        match self {
            Self::Work => true,
            Self::Unary => port == Port::Read,
            Self::Forward => port == Port::Share,
            Self::Merge => port == Port::All,
        }
    }

    /// The only device input of a node that is no [`Kind::Work`].
    pub(crate) fn port(self) -> Port {
        match self {
            Self::Work | Self::Unary => Port::Read,
            Self::Forward => Port::Share,
            Self::Merge => Port::All,
        }
    }
}

/// An input for device data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// `&Item`
    Read,
    /// `&Item`, a second one.
    Also,
    /// `Shared<Item>`
    Share,
    /// `Item`
    Take,
    /// `#[input(many)]` of `&Item`.
    All,
}

impl Port {
    pub(crate) const EACH: [Self; 5] = [Self::Read, Self::Also, Self::Share, Self::Take, Self::All];
}

/// An edge. From a later node to an earlier one it is a feedback edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgePlan {
    pub(crate) from: usize,
    /// From the output of what is shared, and not from that of what has one owner.
    pub(crate) shared: bool,
    pub(crate) to: usize,
    pub(crate) port: Port,
    pub(crate) capacity: usize,
    pub(crate) full: Full,
}

/// What becomes of a message for which an edge has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    BackPressure,
    Pop,
    Reject,
}

/// What a node does in so many ticks: the calls, in each or in some of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) ticks: u64,
    pub(crate) every: u64,
    pub(crate) calls: Vec<Call>,
}

/// One call. One that has nothing to work on is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) on: On,
    pub(crate) act: Act,
    /// What makes the result of this call another one than those of others, with the tick.
    pub(crate) tag: u32,
    /// On a GPU.
    pub(crate) slow: bool,
}

/// On which stream of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// The internal one, once something was received in this tick; else as `First`.
    Internal,
    First,
    Second,
    Default,
}

/// Something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct From {
    pub(crate) of: Of,
    /// Without so many elements at the beginning.
    pub(crate) skip: usize,
}

/// Memory that a node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// What came there in this tick.
    Read,
    Also,
    All(usize),
    /// What it keeps.
    Register(usize),
}

/// How a message is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    OrAdopt,
    ToDefault,
    /// By `synchronize_streams`, on the stream of the call. A required input is received plainly.
    Synchronized,
}

/// What is done. A number without more is a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Into a register, where the message may be kept.
    Receive(Port, Way, usize),
    Discard(Port),
    New(usize, usize),
    Upload(usize, usize),
    /// Of what is not there nothing is read.
    Map(usize, From, usize),
    Join(usize, From, From, usize),
    /// In place. What is shared is not changed.
    Change(usize, From),
    Copy(usize, From),
    Download(From, Fate),
    Look,
    Await,
    Forget,
    Drop(usize),
    /// Away, if nobody shares it.
    Emit(usize),
    /// And keeps it.
    Pass(usize),
    Record,
    /// For a point that the node recorded so many points ago.
    Wait(usize),
    IsComplete,
    Synchronize,
    Timing,
    Raw,
    /// A copy past streamflow of what was received in this tick. On another stream than it was received on
    /// that stream first waits for a record of the other.
    Unseen(usize, From),
    /// A copy past streamflow, through `read_raw` and `write_raw`.
    CopyRaw(usize, From),
    /// The same, by something that lives on the stream.
    OnStream(usize, From),
}

/// What becomes of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Awaited,
    Kept,
    Dropped,
}

impl Flow {
    /// The edges that can be made, each with whether it copies its messages, and whether it is not the only
    /// one of its output.
    pub(crate) fn wiring(&self) -> Vec<(&EdgePlan, Carries)> {
        let mut used = Vec::new();
        let mut edges = Vec::new();
        for edge in &self.edges {
            let (Some(from), Some(to)) = (self.nodes.get(edge.from), self.nodes.get(edge.to))
            else {
                continue;
            };
            let has_output = match from.kind {
                Kind::Work => true,
                Kind::Unary | Kind::Merge => !edge.shared,
                Kind::Forward => edge.shared,
            };
            let back = edge.from >= edge.to && to.kind != Kind::Work;
            let twice = edge.port != Port::All && used.contains(&(edge.to, edge.port));
            if edge.from == edge.to || !has_output || !to.kind.has(edge.port) || back || twice {
                continue;
            }
            used.push((edge.to, edge.port));
            edges.push(edge);
        }
        let siblings = |edge: &EdgePlan| {
            edges.iter().filter(|it| (it.from, it.shared) == (edge.from, edge.shared)).count()
        };
        let carries = |edge: &EdgePlan| match edge.port {
            Port::Take if edge.shared || siblings(edge) > 1 => Carries::Copy,
            _ if siblings(edge) > 1 => Carries::Shared,
            _ => Carries::Itself,
        };
        edges.iter().map(|edge| (*edge, carries(edge))).collect()
    }
}

impl Flow {
    /// What a node does with the ports to which edges lead.
    pub(crate) fn script(&self, node: usize) -> Vec<Phase> {
        let wiring = self.wiring();
        let is_there = |port| wiring.iter().any(|(edge, _)| (edge.to, edge.port) == (node, port));
        let mut script = self.nodes[node].script.clone();
        for phase in &mut script {
            phase.calls.retain(|call| match call.act {
                Act::Receive(port, ..) | Act::Discard(port) => is_there(port),
                _ => true,
            });
        }
        script
    }
}

/// How an edge carries its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    Itself,
    Shared,
    Copy,
}
