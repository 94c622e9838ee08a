//! Options that `graph!` sets on a node; its readiness.

use super::recovery::OnFailure;
use crate::context::SingleStream;
use crate::param::GraphParams;
use crate::stream::{CudaStreamPool, StreamPool};

/// Where a node's streams come from.
#[derive(Debug, Clone, Copy)]
pub enum NodeStreams<'a> {
    /// `#[streams(POOL)]`: a pool that nodes may share.
    Pool(&'a StreamPool),
    /// A node without `#[streams]`: a pool of its own without a maximum, on device 0. Streams are made when they are
    /// allocated, so an operator of host data has none.
    Default,
    /// A node without `#[streams]` in a graph with a default green context: a pool of its own on that context.
    Own(&'a CudaStreamPool),
    /// `#[streams(none)]`: an adopting node. It has no pool, and adopts the first stream that comes with a message.
    None,
}

/// The options of a node in `graph!`.
#[derive(Debug, Clone, Copy)]
pub struct NodeOptions<'a> {
    /// Where its streams come from.
    pub streams: NodeStreams<'a>,
    /// `#[when(count(n))]`: how many ticks it has in a run.
    pub count: Option<u64>,
    /// `#[when(stream_done(port))]`: the inputs whose messages' data must be ready before it runs.
    pub stream_done: &'static [&'static str],
    /// `#[on_failure(…)]`: what the node does when a tick fails.
    pub on_failure: OnFailure,
    /// Whether the graph has one stream alone, so that no other stream needs its events.
    pub single_stream: &'a SingleStream,
    /// The graph's parameters, to which the node adds its own.
    pub params: &'a GraphParams,
}

/// Whether a node can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can run.
    Ready,
    /// It can run when something outside of the graph has happened: a stream has reached a point, a moment has come, or
    /// another thread has changed something. The [`Waits`](super::Waits) say what.
    Waiting,
    /// A message is missing at an input, or room at an output.
    Blocked,
    /// It will not run again.
    Done,
}

/// What a tick changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It took a message, sent one, or ended its node.
    Changed,
    /// Nothing: the next tick would do the same, unless another node changes something.
    Unchanged,
    /// A source sent nothing. Only its operator can find out when it has something to send.
    Empty,
}
