//! Finds the nodes whose `flush` is due.
//!
//! The `flush` of a node is due if the node's inputs have ended: the node itself and the nodes before it, along edges without
//! `#[feedback]`, can't run any more, and no node before it is stuck or must be flushed first. Each node before it is then done,
//! or waits for messages of such nodes. Other parts of the graph may go on meanwhile. A producer behind `pop` or `reject` may go
//! on, too: it never waits for the node, and the edge keeps its messages. A node behind a stall is not flushed, since its `flush`
//! would send an incomplete result, which a run without the stall would complete. Edges to optional inputs count in the same way,
//! except when no node can run any more and no `flush` could begin otherwise: their messages decide about no tick.
//!
//! No node before a flushed node runs during the `flush`, so the messages that `flush` gets do not depend on timing. A producer
//! may wait for room at the node, when the node has ended itself or waits for a node that has ended itself. If `flush` made room,
//! that producer would go on, so the producer's edge keeps its messages. The edge of an attendant (rule 3 of `timing.rs`) keeps
//! its messages, too, since the attendant goes on while the node is flushed.

use std::collections::HashSet;

use super::serving::grown;
use super::{Blocker, Graph, Timing};
use crate::message::EdgeStatus;
use crate::operator::{Flushing, NodeStatus};

/// A node whose `flush` is due.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::schedule) struct Due {
    pub(in crate::schedule) node: usize,
    /// The edges that keep their messages during the `flush`. If they had more room, their producers would go on.
    pub(in crate::schedule) keep: Vec<usize>,
}

/// Returns the nodes whose `flush` is due when no node can run any more. Empty if the run is over.
pub(in crate::schedule) fn due(nodes: &[NodeStatus]) -> Vec<Due> {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let stand = vec![true; nodes.len()];
    let all = graph.due(&timing, &stand, &|_, _| true);
    if !all.is_empty() {
        return all;
    }
    graph.due(&timing, &stand, &|edge, _| !timing.is_optional(edge.id))
}

/// Does the same as [`giving_way`](super::giving_way) and [`due`] while other nodes run. Returns only edges and nodes that do not
/// depend on the running nodes. Of a node for which `is_unknown` is `true`, only this is known: it may run.
pub(in crate::schedule) fn meanwhile(
    nodes: &[NodeStatus],
    is_unknown: &[bool],
) -> (Vec<usize>, Vec<Due>) {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let runs = |node: usize, found: &[bool]| {
        // A `flush` sends messages. It makes no room for a node that waits only for room.
        let sends = |blocker: Blocker<'_>| {
            blocker.is_message() && is_to_be_flushed(&nodes[blocker.node()])
                || timing.is_passing(blocker, &graph)
        };
        let ends = |blocker: Blocker<'_>| found[blocker.node()] || sends(blocker);
        !nodes[node].is_done() && graph.is_served(node, &ends)
    };
    let may_run = grown(is_unknown.to_vec(), &runs);
    let stand: Vec<bool> = may_run.into_iter().map(|may_run| !may_run).collect();
    let waits = |node: &usize| !is_unknown[*node] && !nodes[*node].is_done();
    let gives_way = |node: usize| {
        let mut blockers = graph.blockers(node).into_iter();
        blockers.all(|blocker| stand[blocker.node()])
    };
    let waiting = (0..nodes.len()).filter(waits).filter(|node| gives_way(*node));
    let edges = waiting.flat_map(|node| timing.kept_by(node, &graph)).collect();
    (edges, graph.due(&timing, &stand, &|edge, is_own| !is_own || !edge.is_lossy()))
}

/// Returns the nodes whose `flush` is still to be called, each with the nodes that must have ended before.
pub(in crate::schedule) fn flushed(nodes: &[NodeStatus]) -> Vec<(usize, Box<[usize]>)> {
    let graph = Graph::new(nodes);
    let pending = (0..nodes.len()).filter(|node| nodes[*node].flush == Flushing::Pending);
    let counts = |edge: &EdgeStatus, is_own: bool| !is_own || !edge.is_lossy();
    pending.map(|node| (node, graph.before(node, &counts).into_iter().collect())).collect()
}

fn is_to_be_flushed(node: &NodeStatus) -> bool {
    matches!(node.flush, Flushing::Pending | Flushing::GoesOn)
}

impl Graph<'_> {
    /// Returns the nodes whose `flush` is due if the nodes in `stand` can't run any more. `counts` returns whether an edge
    /// counts; its second argument says whether the edge leads to the flushed node itself.
    fn due(
        &self,
        timing: &Timing,
        stand: &[bool],
        counts: &dyn Fn(&EdgeStatus, bool) -> bool,
    ) -> Vec<Due> {
        let nodes = self.nodes;
        let mut excused = vec![None; nodes.len()];
        let mut holds_up = |node: usize| {
            is_to_be_flushed(&nodes[node])
                || match stand[node] {
                    true => {
                        !timing.decides(node)
                            && self.is_stuck(node, timing)
                            && !self.is_by_finish(node, timing, &mut excused)
                    }
                    false => !timing.attends(node),
                }
        };
        let holds_up: Vec<bool> = (0..nodes.len()).map(&mut holds_up).collect();
        let is_due = |node: &usize| {
            nodes[*node].flush == Flushing::Pending
                && stand[*node]
                && self.before(*node, counts).into_iter().all(|other| !holds_up[other])
        };
        let due = (0..nodes.len()).filter(is_due);
        due.map(|node| Due { node, keep: self.kept_for(node, timing, stand) }).collect()
    }

    /// Returns the edges to a node whose producers go on, or wait for room at the node and for no message.
    fn kept_for(&self, node: usize, timing: &Timing, stand: &[bool]) -> Vec<usize> {
        let edges = self.nodes[node].inputs.iter().flat_map(|input| &input.edges);
        let goes_on = |edge: &&EdgeStatus| {
            let producer = self.producers.get(&edge.id).filter(|it| !self.nodes[**it].is_done());
            producer.is_some_and(|producer| {
                if timing.attends(*producer) || !stand[*producer] {
                    return true;
                }
                let blockers = self.blockers(*producer);
                let waits = blockers.iter().any(|blocker| blocker.node() == node);
                waits && !blockers.iter().any(|blocker| blocker.is_message())
            })
        };
        edges.filter(goes_on).map(|edge| edge.id).collect()
    }

    /// Returns the nodes from which edges lead to a node, directly or through other nodes. An edge counts if `counts` returns
    /// `true` and it is not a feedback edge.
    fn before(&self, node: usize, counts: &dyn Fn(&EdgeStatus, bool) -> bool) -> HashSet<usize> {
        let (mut before, mut left) = (HashSet::new(), vec![node]);
        while let Some(next) = left.pop() {
            let edges = self.nodes[next].inputs.iter().flat_map(|input| &input.edges);
            let edges = edges.filter(|edge| !edge.feedback && counts(edge, next == node));
            let producers = edges.filter_map(|edge| self.producers.get(&edge.id));
            left.extend(producers.filter(|producer| before.insert(**producer)));
        }
        before
    }
}
