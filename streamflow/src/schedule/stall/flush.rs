//! Which nodes are flushed next, when no node can run any more.
//!
//! The `flush` of a node is due if its inputs have ended: no node before it, along edges that are no feedback, is to be flushed
//! first, and none is stuck. Then each of them is done, or waits for messages of such nodes. A run that has stalled before a node
//! does not flush it: it would send what a run that goes on completes. Edges to optional inputs count as well, unless no `flush`
//! could begin then: their messages decide about no tick.
//!
//! All nodes before one that is flushed stand still, so that what `flush` gets does not depend on timing. A producer that waits for
//! room at the node, since the node has ended itself or waits for one that has, would go on with the room that `flush` makes. Its
//! edge keeps its messages, and so does that of an attendant (rule 3 of `timing.rs`), which goes on while the node is flushed.

use std::collections::HashSet;

use super::{Graph, Timing};
use crate::message::EdgeStatus;
use crate::operator::{Flushing, NodeStatus};

/// A node that is flushed next.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::schedule) struct Due {
    pub(in crate::schedule) node: usize,
    /// The edges to it whose producers would go on with more room.
    pub(in crate::schedule) keep: Vec<usize>,
}

/// Finds the nodes that are flushed next. None, if the run is over.
pub(in crate::schedule) fn due(nodes: &[NodeStatus]) -> Vec<Due> {
    let waits = |node: &NodeStatus| matches!(node.flush, Flushing::Pending | Flushing::GoesOn);
    if !nodes.iter().any(|node| node.flush == Flushing::Pending) {
        return Vec::new();
    }
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let mut excused = vec![None; nodes.len()];
    let mut is_stuck = |node: usize| {
        !timing.decides(node)
            && graph.is_stuck(node, &timing)
            && !graph.is_by_finish(node, &timing, &mut excused)
    };
    let holds_up: Vec<bool> =
        nodes.iter().enumerate().map(|(node, of)| waits(of) || is_stuck(node)).collect();
    let due = |counts: &dyn Fn(&EdgeStatus) -> bool| -> Vec<usize> {
        let is_due = |node: &usize| {
            nodes[*node].flush == Flushing::Pending
                && graph.before(*node, counts).into_iter().all(|other| !holds_up[other])
        };
        (0..nodes.len()).filter(is_due).collect()
    };
    let all = due(&|_| true);
    let due = if all.is_empty() { due(&|edge| !timing.is_optional(edge.id)) } else { all };
    due.into_iter().map(|node| Due { node, keep: graph.kept_for(node, &timing) }).collect()
}

impl Graph<'_> {
    /// The edges to a node whose producers go on, or wait for room there, and for no message.
    fn kept_for(&self, node: usize, timing: &Timing) -> Vec<usize> {
        let edges = self.nodes[node].inputs.iter().flat_map(|input| &input.edges);
        let goes_on = |edge: &&EdgeStatus| {
            let producer = self.producers.get(&edge.id).filter(|it| !self.nodes[**it].is_done());
            producer.is_some_and(|producer| {
                if timing.attends(*producer) {
                    return true;
                }
                let blockers = self.blockers(*producer);
                let waits = blockers.iter().any(|blocker| blocker.node() == node);
                waits && !blockers.iter().any(|blocker| blocker.is_message())
            })
        };
        edges.filter(goes_on).map(|edge| edge.id).collect()
    }

    /// The nodes from which edges that count lead to this one, through others too, without feedback.
    fn before(&self, node: usize, counts: &dyn Fn(&EdgeStatus) -> bool) -> HashSet<usize> {
        let (mut before, mut left) = (HashSet::new(), vec![node]);
        while let Some(next) = left.pop() {
            let edges = self.nodes[next].inputs.iter().flat_map(|input| &input.edges);
            let edges = edges.filter(|edge| !edge.feedback && counts(edge));
            let producers = edges.filter_map(|edge| self.producers.get(&edge.id));
            left.extend(producers.filter(|producer| before.insert(**producer)));
        }
        before
    }
}
