//! Random programs that are graphs: a clock, and nodes that follow a script in each tick of the clock.

use streamflow::prelude::CudaStreamPool;
use streamflow::stream::Assign;

/// How many registers a node has.
pub(crate) const REGISTERS: usize = 4;

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Flow {
    /// How often the clock ticks.
    pub(crate) ticks: u64,
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) edges: Vec<EdgePlan>,
    /// The graph of graphs and of arrays that has these nodes and edges. Without one, the graph is flat.
    pub(crate) shape: Option<Shape>,
    /// The number of workers; 0 if the program sets none.
    pub(crate) workers: usize,
    /// The number of sets of planned streams; 0 if the program plans none.
    pub(crate) depth: u32,
}

/// A graph of `shapes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Lanes,
    Borders,
    Ways,
    Chains,
}

impl Shape {
    pub(crate) const EACH: [Self; 4] = [Self::Lanes, Self::Borders, Self::Ways, Self::Chains];
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodePlan {
    pub(crate) kind: Kind,
    /// The node owns no streams, and works on the first stream that it receives. Not for [`Kind::Work`].
    pub(crate) adopts: bool,
    /// The node runs when the streams of its messages are complete. Not for [`Kind::Work`].
    pub(crate) awaits: bool,
    pub(crate) script: Vec<Phase>,
}

/// The ports of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The node has all ports, each optional, and runs in each tick of the clock.
    Work,
    /// The node has only [`Port::Read`], which is required.
    Unary,
    /// The node has only [`Port::Share`], which is required, and sends shared messages.
    Forward,
    /// The node has only [`Port::All`], and requires a message of each producer.
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

    /// The only device input of a node other than [`Kind::Work`].
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
    /// An input of type `&Item`.
    Read,
    /// A second input of type `&Item`.
    Also,
    /// An input of type `Shared<Item>`.
    Share,
    /// An input of type `Item`, which takes its message.
    Take,
    /// An input `#[input(many)]` of type `&Item`.
    All,
}

impl Port {
    pub(crate) const EACH: [Self; 5] = [Self::Read, Self::Also, Self::Share, Self::Take, Self::All];
}

/// An edge. An edge from a later node to an earlier one is a feedback edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EdgePlan {
    pub(crate) from: usize,
    /// Whether the edge begins at the output of shared messages instead of the output of owned messages.
    pub(crate) shared: bool,
    pub(crate) to: usize,
    pub(crate) port: Port,
    pub(crate) capacity: usize,
    pub(crate) full: FullPolicy,
}

/// What an edge does with a new message when it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FullPolicy {
    BackPressure,
    Pop,
    Reject,
}

/// The calls of a node during a number of ticks: in each of these ticks, or in every n-th.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) ticks: u64,
    pub(crate) every: u64,
    pub(crate) calls: Vec<Call>,
}

/// A call of a node. A call whose operands are absent is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) on: On,
    pub(crate) act: Action,
    /// Makes this call's result differ from the results of other calls, together with the tick.
    pub(crate) tag: u32,
    /// Whether the call's kernel is slow on a GPU.
    pub(crate) slow: bool,
}

/// The stream on which a call works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// The internal stream once a message was received in this tick; before that `First`.
    Internal,
    First,
    Second,
    Default,
}

/// An operand that a call reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) of: Memory,
    /// The number of elements to skip at the beginning.
    pub(crate) skip: usize,
}

/// Memory that a node can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The message that the port has received in this tick.
    Read,
    Also,
    All(usize),
    /// The value in a register of the node.
    Register(usize),
}

/// How a message is received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiving {
    Plain,
    OrAdopt,
    ToDefault,
    /// With `synchronize_streams`, on the stream of the call. A required input is received as `Plain` instead.
    Synchronized,
}

/// The action of a call. A plain number is a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Receives into a register, if the message may be kept.
    Receive(Port, Receiving, usize),
    Discard(Port),
    New(usize, usize),
    Upload(usize, usize),
    /// Launches a kernel. Absent operands are not read.
    Map(usize, Operand, usize),
    Join(usize, Operand, Operand, usize),
    /// Computes by calls of libraries, on the call's stream and on another stream.
    Calculate(usize, Operand),
    /// Changes memory in place. Shared data is not changed.
    Change(usize, Operand),
    Copy(usize, Operand),
    Download(Operand, DownloadUse),
    Look,
    Await,
    Forget,
    Drop(usize),
    /// Emits the value of a register, if it is not shared.
    Emit(usize),
    /// Emits the value of a register as shared, and keeps it.
    Pass(usize),
    Record,
    /// Waits for the point that the node recorded this many points ago.
    Wait(usize),
    IsComplete,
    Synchronize,
    Timing,
    Raw,
    /// A copy of a received message that bypasses streamflow. If its stream is not the stream of the message, it first
    /// waits for a record of that stream.
    CopyBypassing(usize, Operand),
    /// A copy that bypasses streamflow, through `read_raw` and `write_raw`.
    CopyRaw(usize, Operand),
    /// Like `CopyRaw`, through a handle of `on_stream`.
    OnStream(usize, Operand),
}

/// What happens to a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DownloadUse {
    Awaited,
    Kept,
    Dropped,
}

impl Flow {
    /// Returns the edges that can be built, each with how it carries its messages.
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
    /// The pool of the streams.
    pub(super) fn pool(&self) -> CudaStreamPool {
        let pool = CudaStreamPool::new();
        if self.depth == 0 { pool } else { pool.assign(Assign::Planned { depth: self.depth }) }
    }

    /// The capacity of the edge between two nodes.
    pub(super) fn capacity(&self, ends: (usize, usize), port: Port) -> usize {
        let is_it = |edge: &&EdgePlan| (edge.from, edge.to) == ends && edge.port == port;
        self.edges.iter().find(is_it).map_or(1, |edge| edge.capacity)
    }

    /// The script of a node, restricted to connected ports.
    pub(crate) fn script(&self, node: usize) -> Vec<Phase> {
        let wiring = self.wiring();
        let is_there = |port| wiring.iter().any(|(edge, _)| (edge.to, edge.port) == (node, port));
        let mut script = self.nodes[node].script.clone();
        for phase in &mut script {
            phase.calls.retain(|call| match call.act {
                Action::Receive(port, ..) | Action::Discard(port) => is_there(port),
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
