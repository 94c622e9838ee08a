//! Describes a graph of the mutation tests as a value: its operators, and the edges between them.

use streamflow::memory::MemoryOptions;
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow_tests::ordered::MEMORY;

/// The length of all messages: few elements, so that transforms make exact sums.
pub(crate) const LEN: usize = 4;

/// The shape of every message: a matrix of one column, as products take it.
pub(crate) const SHAPE: [usize; 2] = [LEN, 1];

/// By how much a source's value grows per tick.
const RISE: f32 = 16.0;

/// The value of a feedback edge's first message.
pub(crate) const FIRST: f32 = 7.0;

/// How a source makes its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A kernel writes the data on the source's own stream.
    Kernel,
    /// A kernel writes the data on the default stream.
    Default,
    /// The host writes the data and uploads it.
    Upload,
}

/// The work of an operator that reads one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryWork {
    /// Two launches on the internal stream.
    Map,
    /// Two launches, the second on an extra stream; the operator also sends on this stream.
    Extra,
    /// Two launches through a tensor that the operator keeps: the first writes it on the internal stream, the second
    /// reads it on another stream.
    Scratch,
    /// A kernel fills the message. Then a library function, with a work area of its plan, adds the input.
    Library,
    /// Calls of libraries, on two streams or with a plan that is dropped.
    Calls(Calls),
}

/// Calls of libraries. In each variant, exactly one operand has work on two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Adds the input to a vector that is kept and that an extra stream reads.
    Sum,
    /// A transform and its inverse write a vector that an extra stream reads.
    Transform,
    /// A transform, and its inverse on an extra stream: the operator has two plans.
    Spectrum,
    /// A product writes a vector that an extra stream reads.
    Product,
    /// A product with a weight of this tick, which an extra stream writes.
    Weight,
    /// Adds a bias of this tick that an extra stream writes.
    Bias,
    /// The operator drops a plan after its call. Then an extra stream writes memory that the plan may have had.
    Dropped(Short),
}

/// What the plan that lives from one tick to the next calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    Forward,
    Inverse,
    Product,
    Sum,
}

/// When a sink reads its downloads on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The sink reads all downloads at the end of the run.
    Late,
    /// The sink reads a download one tick later.
    Next,
    /// The sink reads a download at once, since `stream_done` has waited for its data.
    Done,
    /// The sink reads all downloads but the last at the end of the run. Nothing waits for the last one.
    ButTheLast,
}

/// A node of a plan: its operator, with the indices of the nodes that send to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanNode {
    Source(Origin),
    Unary(UnaryWork, usize),
    /// Takes its message and adds in place. With `true` the operator receives a copy.
    Taking(usize, bool),
    /// Forwards its shared message unchanged.
    Relay(usize),
    /// Adds twice the message of the tick before.
    Keep(usize),
    /// Sends twice the first input plus the second. If the second comes from this node or a later one, it is a message of
    /// the tick before.
    Combine(usize, usize),
    /// Sends twice the first input plus the second. Both messages were sent [`LATE_BY`] ticks before: the third input, a
    /// clock, makes them wait.
    Late(usize, usize, usize),
    /// Sends a message in each tick from tick `LATE_BY` on.
    Clock,
    Sink(Reading, usize),
}

/// A number of ticks larger than the number of events that a stream has. So each event has been recorded again before a
/// late consumer receives its message.
pub(crate) const LATE_BY: u64 = 24;

impl PlanNode {
    pub(crate) fn inputs(self) -> Vec<usize> {
        match self {
            Self::Source(_) | Self::Clock => vec![],
            Self::Unary(_, from)
            | Self::Taking(from, _)
            | Self::Relay(from)
            | Self::Keep(from)
            | Self::Sink(_, from) => vec![from],
            Self::Combine(a, b) | Self::Late(a, b, _) => vec![a, b],
        }
    }
}

/// A graph of `shapes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Lanes,
    Again,
    Deep,
    Far,
}

impl Shape {
    pub(crate) const EACH: [Self; 4] = [Self::Lanes, Self::Again, Self::Deep, Self::Far];
}

/// A graph to be built.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: String,
    /// The nodes, producers before consumers.
    pub(crate) nodes: Vec<PlanNode>,
    pub(crate) memory: MemoryOptions,
    /// The nodes that are on device 1. An edge from one device to the other transfers its messages.
    pub(crate) far: &'static [usize],
    /// Whether all nodes except sources adopt the streams of their messages.
    pub(crate) adopting: bool,
    /// How often sources tick.
    pub(crate) ticks: usize,
    /// The capacity of each edge.
    pub(crate) capacity: usize,
    /// The graph of graphs and of arrays that has these nodes. Without one, the graph is flat.
    pub(crate) shape: Option<Shape>,
}

/// How many ticks a run has: enough for memory to be used three times, if it is recycled at once.
pub(crate) const TICKS: usize = 6;

impl Plan {
    pub(crate) fn new(name: &str, nodes: &[PlanNode]) -> Self {
        let (name, nodes) = (name.to_owned(), nodes.to_vec());
        let (ticks, capacity) = (TICKS, 1);
        let (memory, shape) = (MEMORY, None);
        Self { name, nodes, memory, far: &[], adopting: false, ticks, capacity, shape }
    }

    pub(crate) fn in_flight(mut self, blocks: usize) -> Self {
        self.memory.in_flight = blocks;
        self.memory.small_in_flight = blocks;
        self
    }

    /// Makes the pool give dropped memory back to the driver.
    pub(crate) fn freeing(mut self) -> Self {
        self.memory.release_threshold = 0;
        self
    }

    pub(crate) fn adopting(mut self) -> Self {
        self.adopting = true;
        self
    }

    /// A run long enough that each stream records each event three times, with room for messages to wait.
    pub(crate) fn long(mut self) -> Self {
        (self.ticks, self.capacity) = (48, 64);
        self
    }

    pub(crate) fn far(mut self, nodes: &'static [usize]) -> Self {
        self.far = nodes;
        self
    }

    pub(crate) fn device(&self, node: usize) -> DeviceId {
        device(self.far.contains(&node).into())
    }

    /// Returns a source's value in a tick.
    pub(crate) fn source_value(node: usize, tick: u64) -> f32 {
        1000.0 * (node + 1) as f32 + RISE * tick as f32
    }

    /// Returns what library calls compute from `value`, if they computed `before` in the previous tick.
    fn called(calls: Calls, value: f32, before: f32, tick: u64) -> f32 {
        let not_normalized = LEN as f32 * value;
        match calls {
            Calls::Sum => before + value,
            Calls::Transform | Calls::Spectrum => not_normalized,
            Calls::Product => value,
            Calls::Weight => Self::weight(tick) * value,
            Calls::Bias => value + Self::bias(tick),
            Calls::Dropped(Short::Forward | Short::Inverse) => {
                2.0 * not_normalized + 3.0 * (value + 1.0)
            }
            Calls::Dropped(Short::Product | Short::Sum) => 5.0 * value + 3.0,
        }
    }

    /// Returns the factor of a product in a tick.
    pub(crate) fn weight(tick: u64) -> f32 {
        (1 + tick % 2) as f32
    }

    /// Returns the number that a product adds in a tick.
    pub(crate) fn bias(tick: u64) -> f32 {
        (1 + tick % 3) as f32
    }

    /// Returns the values that each node sends in each tick.
    pub(crate) fn values(&self, ticks: usize) -> Vec<Vec<f32>> {
        let mut values = vec![Vec::new(); self.nodes.len()];
        for tick in 0..ticks {
            for (node, step) in self.nodes.iter().enumerate() {
                // A value that does not exist yet comes by a feedback edge, from the tick before.
                let of = |from: usize| {
                    let sent: &Vec<f32> = &values[from];
                    let before = tick.checked_sub(1).map(|before| sent[before]);
                    sent.get(tick).copied().or(before).unwrap_or(FIRST)
                };
                let sent = match *step {
                    PlanNode::Source(_) => Self::source_value(node, tick as u64),
                    PlanNode::Unary(UnaryWork::Calls(calls), from) => {
                        let before = values[node].last().copied().unwrap_or_default();
                        Self::called(calls, of(from), before, tick as u64)
                    }
                    PlanNode::Unary(_, from) | PlanNode::Taking(from, _) => of(from) + 1.0,
                    PlanNode::Relay(from) | PlanNode::Sink(_, from) => of(from),
                    PlanNode::Keep(from) => 2.0 * values[from][tick.saturating_sub(1)] + of(from),
                    PlanNode::Combine(a, b) | PlanNode::Late(a, b, _) => 2.0 * of(a) + of(b),
                    PlanNode::Clock => 0.0,
                };
                values[node].push(sent);
            }
        }
        values
    }
}
