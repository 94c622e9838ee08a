//! What is said about a node, and what it says about itself.

use crate::context::SingleStream;
use crate::stream::{CudaStreamPool, Point, StreamPool};

/// Where a node's streams come from.
#[derive(Debug, Clone, Copy)]
pub enum NodeStreams<'a> {
    /// `#[streams(POOL)]`.
    Pool(&'a StreamPool),
    /// Nothing was said: a pool of its own without a maximum, on device 0. Its streams are made when
    /// they are asked for, so an operator of host data has none.
    Default,
    /// Nothing was said, and the graph has a default green context: a pool of its own that is described
    /// so.
    Own(&'a CudaStreamPool),
    /// `#[streams(none)]`: the stream of the first message that it receives.
    None,
}

/// What `graph!` says about a node beside its operator.
#[derive(Debug, Clone, Copy)]
pub struct NodeOptions<'a> {
    /// Where its streams come from.
    pub streams: NodeStreams<'a>,
    /// `#[when(count(n))]`: how often it runs.
    pub count: Option<u64>,
    /// `#[when(stream_done(port))]`: the inputs whose streams must be done before it runs.
    pub stream_done: &'static [&'static str],
    /// Whether the graph has but one stream, so that no other ever needs an event.
    pub single_stream: &'a SingleStream,
}

/// Whether a node can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It can as soon as the device has got this far.
    AfterStream(Point),
    /// A message is missing, or room for one.
    Blocked,
    /// It will not run again.
    Done,
}
