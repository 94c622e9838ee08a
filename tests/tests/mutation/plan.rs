//! A graph as a plan: which operators, and who feeds whom.

use streamflow::MemoryOptions;
use streamflow::prelude::*;
use streamflow_tests::ordered::MEMORY;

/// By how much a source's value rises in each tick.
const RISE: f32 = 16.0;

/// What a feedback edge begins with.
pub(crate) const FIRST: f32 = 7.0;

/// What a source does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A kernel writes on a stream of its own.
    Kernel,
    /// The same on the default stream.
    Default,
    /// The host writes, and it is uploaded.
    Upload,
}

/// What an operator with one reading input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Two launches on the internal stream.
    Map,
    /// The second launch on a stream of its own, which it sends on.
    Extra,
    /// By a tensor that it keeps: written on the internal stream, read on another one.
    Scratch,
}

/// When a sink reads on the host what it has downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// All of it at the end of the run.
    Late,
    /// One tick later.
    Next,
    /// At once, after `stream_done`.
    Done,
    /// All of it but the last at the end of the run. Nobody waits for the last.
    ButTheLast,
}

/// An operator, and the nodes that feed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Source(Origin),
    Unary(How, usize),
    /// Takes its message and adds in place; with `true` it gets a copy.
    Taking(usize, bool),
    /// Hands on what it shares, untouched.
    Relay(usize),
    /// Adds twice what came one tick before.
    Keep(usize),
    /// Twice the one, and the other. That may be of this or a later node: then it is of the tick before.
    Combine(usize, usize),
    /// Twice the one, and the other, of [`LATE_BY`] ticks of the third before, a clock: what both have sent waits so long.
    Late(usize, usize, usize),
    /// Says that a tick more has passed, when `LATE_BY` have.
    Clock,
    Sink(Reading, usize),
}

/// More than a stream has events, so that each of them was recorded again before a late consumer asks.
pub(crate) const LATE_BY: u64 = 24;

impl Step {
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

/// A graph to be made.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: String,
    /// Producers before consumers.
    pub(crate) steps: Vec<Step>,
    pub(crate) memory: MemoryOptions,
    /// The nodes that are on device 1. Edges from one device to the other transfer.
    pub(crate) far: &'static [usize],
    /// Nodes own no streams, sources aside.
    pub(crate) adopting: bool,
    /// How often sources run.
    pub(crate) ticks: usize,
    /// How many messages an edge has room for.
    pub(crate) capacity: usize,
}

/// Enough for memory to be used three times, where it is used again at once.
pub(crate) const TICKS: usize = 6;

impl Plan {
    pub(crate) fn new(name: &str, steps: &[Step]) -> Self {
        let (name, steps) = (name.to_owned(), steps.to_vec());
        let (ticks, capacity) = (TICKS, 1);
        Self { name, steps, memory: MEMORY, far: &[], adopting: false, ticks, capacity }
    }

    pub(crate) fn in_flight(mut self, blocks: usize) -> Self {
        self.memory.in_flight = blocks;
        self.memory.small_in_flight = blocks;
        self
    }

    /// What is dropped goes back to the driver.
    pub(crate) fn freeing(mut self) -> Self {
        self.memory.release_threshold = 0;
        self
    }

    pub(crate) fn adopting(mut self) -> Self {
        self.adopting = true;
        self
    }

    /// Long enough for each stream's events to be recorded three times, with room for messages to wait.
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

    /// A source's value in a tick.
    pub(crate) fn source_value(node: usize, tick: u64) -> f32 {
        1000.0 * (node + 1) as f32 + RISE * tick as f32
    }

    /// What each node sends in each tick.
    pub(crate) fn values(&self, ticks: usize) -> Vec<Vec<f32>> {
        let mut values = vec![Vec::new(); self.steps.len()];
        for tick in 0..ticks {
            for (node, step) in self.steps.iter().enumerate() {
                // What is not there yet comes by a feedback edge, from the tick before.
                let of = |from: usize| {
                    let sent: &Vec<f32> = &values[from];
                    let before = tick.checked_sub(1).map(|before| sent[before]);
                    sent.get(tick).copied().or(before).unwrap_or(FIRST)
                };
                let sent = match *step {
                    Step::Source(_) => Self::source_value(node, tick as u64),
                    Step::Unary(_, from) | Step::Taking(from, _) => of(from) + 1.0,
                    Step::Relay(from) | Step::Sink(_, from) => of(from),
                    Step::Keep(from) => 2.0 * values[from][tick.saturating_sub(1)] + of(from),
                    Step::Combine(a, b) | Step::Late(a, b, _) => 2.0 * of(a) + of(b),
                    Step::Clock => 0.0,
                };
                values[node].push(sent);
            }
        }
        values
    }
}
