//! The facts about a node from which `graph::plan` plans the streams. It reads them after all edges were connected.

use crate::message::EdgeStatus;
use crate::port::PortInfo;
use crate::stream::StreamPool;

/// The facts about a node that a plan of the streams needs.
#[derive(Debug)]
pub struct NodeFacts {
    /// The node's name.
    pub(crate) name: String,
    /// The operator's name.
    pub(crate) operator: &'static str,
    /// The name of the worker that `#[worker(name)]` sets for the node.
    pub(crate) worker: Option<&'static str>,
    /// The node's stream pool. `None` for a node without a pool, and for a pool that has only the default stream.
    pub(crate) pool: Option<StreamPool>,
    /// Whether only this node uses the pool, which was made for it because the node has no `#[streams]`.
    pub(crate) owns_pool: bool,
    /// The most streams that the operator may allocate. `named` of these are declared in `#[operator(streams(…))]`.
    pub(crate) streams: usize,
    pub(crate) named: usize,
    /// The edges at the node's inputs, each with its port; `outputs` has those at the outputs.
    pub(crate) inputs: Vec<EdgeFacts>,
    pub(crate) outputs: Vec<EdgeFacts>,
}

/// One end of an edge: the port, and the edge's status.
#[derive(Debug)]
pub(crate) struct EdgeFacts {
    pub(crate) port: &'static PortInfo,
    pub(crate) edge: EdgeStatus,
}
