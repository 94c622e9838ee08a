//! The nodes of a graph, for a scheduler.

use super::stall;
use crate::context::Activity;
use crate::graph::{AnyNode, NodeStatus};

/// The nodes of a graph, in their static order.
pub(super) type Nodes<'a, 'g> = &'a mut [&'g mut dyn AnyNode];

/// Whether a node has something to do, now or later, so that the run goes on while all wait. Each has been looked at since
/// another one has run.
pub(super) fn has_work(nodes: Nodes<'_, '_>) -> bool {
    if nodes.iter_mut().any(|node| can_work(&mut **node)) {
        return true;
    }
    // Neither answer that most runs get takes memory.
    let some: Vec<_> = (0..nodes.len()).filter(|&node| nodes[node].has_work()).collect();
    !some.is_empty() && stall::may_go_on(&statuses(nodes), &some)
}

/// Whether a node has something to do, and waits for no other node of the graph.
pub(super) fn can_work(node: &mut dyn AnyNode) -> bool {
    node.has_work() && node.cell().word().activity() != Activity::Blocked
}

/// What each node is doing.
pub(super) fn statuses(nodes: Nodes<'_, '_>) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}
