//! The nodes of a graph, for a scheduler.

use crate::graph::{AnyNode, NodeStatus};

/// The nodes of a graph, in their static order.
pub(super) type Nodes<'a, 'g> = &'a mut [&'g mut dyn AnyNode];

/// Whether a node has something to do, now or later.
pub(super) fn has_work(nodes: Nodes<'_, '_>) -> bool {
    nodes.iter_mut().any(|node| node.has_work())
}

/// What each node is doing.
pub(super) fn statuses(nodes: Nodes<'_, '_>) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}
