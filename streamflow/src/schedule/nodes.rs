//! The nodes of a graph, for a scheduler.

use crate::graph::{AnyNode, NodeStatus};

/// The nodes of a graph, in their static order.
pub(super) type Nodes<'a, 'g> = &'a mut [&'g mut dyn AnyNode];

/// The state of each node.
pub(super) fn statuses(nodes: Nodes<'_, '_>) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}

/// Access of a scheduler to the nodes of a run.
pub(super) trait Look {
    /// Calls a function with a node. Returns `None` if another worker has the node.
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R>;
}

impl Look for Nodes<'_, '_> {
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R> {
        self.get_mut(node).map(|node| call(&mut **node))
    }
}
