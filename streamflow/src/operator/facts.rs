//! The facts about a node for a plan: `graph::plan` reads them when all edges are connected.

use crate::message::EdgeStatus;
use crate::port::PortInfo;
use crate::stream::StreamPool;

/// The facts about a node for a plan.
#[derive(Debug)]
pub struct NodeFacts {
    /// The node's name.
    pub(crate) name: String,
    /// The operator's name.
    pub(crate) operator: &'static str,
    /// The worker that `#[worker(name)]` names for the node.
    pub(crate) worker: Option<&'static str>,
    /// The node's pool. `None` without a pool, and for a pool that has only the default stream.
    pub(crate) pool: Option<StreamPool>,
    /// Whether the pool belongs to this node alone, since the node has no `#[streams]`.
    pub(crate) owns_pool: bool,
    /// The number of streams that the operator may allocate, and the number of those that it names.
    pub(crate) streams: usize,
    pub(crate) named: usize,
    /// The ends of the node's edges.
    pub(crate) inputs: Vec<EdgeFacts>,
    pub(crate) outputs: Vec<EdgeFacts>,
}

/// An end of an edge.
#[derive(Debug)]
pub(crate) struct EdgeFacts {
    pub(crate) port: &'static PortInfo,
    pub(crate) edge: EdgeStatus,
}
