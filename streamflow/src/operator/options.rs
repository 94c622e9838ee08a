//! `NodeOptions`: the options that `graph!` sets on a node.

use super::condition::Conditions;
use super::recovery::OnFailure;
use crate::context::SingleStream;
use crate::param::GraphParams;
use crate::stream::{CudaStreamPool, StreamPool};

/// Where a node's streams come from.
#[derive(Debug, Clone, Copy)]
pub enum NodeStreams<'a> {
    /// `#[streams(POOL)]`: a pool of the graph, which several nodes may share.
    Pool(&'a StreamPool),
    /// The default, without `#[streams]`: a pool for this node alone, on device 0, with any number of streams. The pool makes a
    /// stream when the operator allocates it, so the pool of an operator of host data stays empty.
    Default,
    /// The default in a graph with a default green context: a pool for this node alone, on that context.
    Own(&'a CudaStreamPool),
    /// `#[streams(none)]`: an adopting node, without a pool. It adopts the first stream that comes with a message.
    None,
}

/// The options of a node, from its attributes in `graph!`.
#[derive(Debug)]
pub struct NodeOptions<'a> {
    /// Where the node's streams come from.
    pub streams: NodeStreams<'a>,
    /// `#[worker(name)]`: the name of the only worker that runs the node.
    pub worker: Option<&'static str>,
    /// `#[when(count(n))]`: how many ticks the node does in a run.
    pub count: Option<u64>,
    /// The conditions of `#[when(…)]` other than `count`.
    pub conditions: Option<Conditions>,
    /// `#[on_failure(…)]`: how the node reacts to a failed tick.
    pub on_failure: OnFailure,
    /// Whether the graph has only one stream. If so, no other stream waits for its events, and none are recorded.
    pub single_stream: &'a SingleStream,
    /// The graph's parameters. The node adds its own parameters to them.
    pub params: &'a GraphParams,
}

impl<'a> NodeOptions<'a> {
    /// Returns the options of an element of an array. The element has its own conditions.
    pub(super) fn of_element(&self) -> Self {
        let Self { streams, worker, on_failure, single_stream, params, .. } = *self;
        Self { worker, on_failure, ..Self::plain(streams, single_stream, params) }
    }

    /// Creates the options of a node that has no attributes other than `#[streams(…)]`.
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
