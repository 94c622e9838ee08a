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
    /// The worker on which it runs.
    pub(crate) worker: Option<&'static str>,
    /// Its pool, if it has one whose streams are not the default stream.
    pub(crate) pool: Option<StreamPool>,
    /// Whether no other node has this pool, since the node has no `#[streams]`.
    pub(crate) owns_pool: bool,
    /// How many streams its operator may allocate, and how many of them it names.
    pub(crate) streams: usize,
    pub(crate) named: usize,
    /// The ends of its edges.
    pub(crate) inputs: Vec<EdgeFacts>,
    pub(crate) outputs: Vec<EdgeFacts>,
}

/// One end of an edge.
#[derive(Debug)]
pub(crate) struct EdgeFacts {
    pub(crate) port: &'static PortInfo,
    pub(crate) edge: EdgeStatus,
}
