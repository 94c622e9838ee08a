//! The nodes of a graph, for a scheduler.

use crate::graph::{AnyNode, NodeStatus};

/// The nodes of a graph, in their static order.
pub(super) type Nodes<'a, 'g> = &'a mut [&'g mut dyn AnyNode];

/// What each node is doing.
pub(super) fn statuses(nodes: Nodes<'_, '_>) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}
