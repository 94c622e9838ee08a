//! Options that `graph!` sets on a node.

use super::condition::Conditions;
use super::recovery::OnFailure;
use crate::context::SingleStream;
use crate::param::GraphParams;
use crate::stream::{CudaStreamPool, StreamPool};

/// The source of a node's streams.
#[derive(Debug, Clone, Copy)]
pub enum NodeStreams<'a> {
    /// `#[streams(POOL)]`: a pool that nodes may share.
    Pool(&'a StreamPool),
    /// A node without `#[streams]`: a pool of its own without a maximum, on device 0. Streams are made when they are
    /// allocated, so an operator of host data has none.
    Default,
    /// A node without `#[streams]` in a graph with a default green context: a pool of its own on that context.
    Own(&'a CudaStreamPool),
    /// `#[streams(none)]`: an adopting node, without a pool. It adopts the first stream that comes with a message.
    None,
}

/// The options of a node in `graph!`.
#[derive(Debug)]
pub struct NodeOptions<'a> {
    /// The source of the node's streams.
    pub streams: NodeStreams<'a>,
    /// `#[worker(name)]`: the only worker that runs the node.
    pub worker: Option<&'static str>,
    /// `#[when(count(n))]`: the number of ticks of the node in a run.
    pub count: Option<u64>,
    /// The other conditions of `#[when(…)]`.
    pub conditions: Option<Conditions>,
    /// `#[on_failure(…)]`: the reaction of the node to a failed tick.
    pub on_failure: OnFailure,
    /// Whether the graph has only one stream: then no other stream needs its events.
    pub single_stream: &'a SingleStream,
    /// The graph's parameters. The node adds its own.
    pub params: &'a GraphParams,
}

impl<'a> NodeOptions<'a> {
    /// The options of a node without other attributes than `#[streams(…)]`.
    #[must_use]
    pub fn plain(
        streams: NodeStreams<'a>,
        single_stream: &'a SingleStream,
        params: &'a GraphParams,
    ) -> Self {
        let (worker, count, conditions, on_failure) = (None, None, None, OnFailure::Stop);
        Self { streams, worker, count, conditions, on_failure, single_stream, params }
    }
}
