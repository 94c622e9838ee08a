//! How a scheduler accesses the nodes of a graph.

use crate::graph::{AnyNode, NodeStatus};

/// The nodes of a graph, in their static order.
pub(super) type Nodes<'a, 'g> = &'a mut [&'g mut dyn AnyNode];

/// Returns the status of each node.
pub(super) fn statuses(nodes: Nodes<'_, '_>) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}

/// Gives a scheduler access to the nodes of a run that it may read.
pub(super) trait Look {
    /// Calls `call` with a node, and returns its result. Returns `None` if another worker holds the node.
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R>;
}

impl Look for Nodes<'_, '_> {
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R> {
        self.get_mut(node).map(|node| call(&mut **node))
    }
}
