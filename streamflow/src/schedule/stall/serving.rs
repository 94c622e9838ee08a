//! Whether nodes that can run do so for somebody.

use super::timing::Timing;
use super::{Blocker, Graph};
use crate::message::EdgeStatus;
use crate::operator::NodeStatus;

/// The attendants that `pop` and `reject` let run although nobody takes what they send: rule 3 of `timing.rs`.
pub(in crate::schedule) struct Attending {
    /// By node, whether it is an attendant.
    pub(in crate::schedule) is_attendant: Box<[bool]>,
    /// The other nodes that attendants send to, with the numbers of the edges whose messages let them run.
    pub(in crate::schedule) served: Box<[(usize, Box<[usize]>)]>,
}

/// The attendants of a graph. `None` if no edge from one of them may drop messages: then each of them waits for room.
pub(in crate::schedule) fn attending(nodes: &[NodeStatus]) -> Option<Attending> {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let is_attendant: Box<[bool]> = (0..nodes.len()).map(|node| timing.attends(node)).collect();
    let of_attendant = |edge: &&EdgeStatus| {
        graph.producers.get(&edge.id).is_some_and(|producer| is_attendant[*producer])
    };
    let edges = |node: usize| {
        let edges = nodes[node].inputs.iter().flat_map(|input| &input.edges);
        edges.filter(of_attendant)
    };
    if !(0..nodes.len()).flat_map(edges).any(EdgeStatus::is_lossy) {
        return None;
    }
    let others = (0..nodes.len()).filter(|node| !is_attendant[*node]);
    // No message at an optional input lets a node run.
    let decides = |edge: &&EdgeStatus| !timing.is_optional(edge.id);
    let ids = |node| edges(node).filter(decides).map(|edge| edge.id).collect::<Box<[_]>>();
    let served = others.map(|node| (node, ids(node)));
    let served = served.filter(|(_, edges)| !edges.is_empty()).collect();
    Some(Attending { served, is_attendant })
}

/// Whether a run goes on in which these nodes have work, and no node can run but attendants and those that wait for something
/// outside of the graph: rule 3 of `timing.rs`. A node may run only if others do that it waits for.
pub(in crate::schedule) fn may_go_on(nodes: &[NodeStatus], some: &[usize]) -> bool {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let all = |rule: &dyn Fn(usize, &[bool]) -> bool, mut found: Vec<bool>| {
        let mut has_grown = true;
        while std::mem::take(&mut has_grown) {
            for node in 0..nodes.len() {
                if !found[node] && !nodes[node].is_done() && rule(node, &found) {
                    (found[node], has_grown) = (true, true);
                }
            }
        }
        found
    };
    let none = vec![false; nodes.len()];
    let may_run = all(&|node, may_run| graph.is_served(node, may_run), none.clone());
    let mut has_work = none;
    some.iter().for_each(|node| has_work[*node] = may_run[*node]);
    // A node that waits for a message of an attendant that goes on is one for which the attendant runs.
    let gets_work = |node: usize, has_work: &[bool]| {
        let gets = |blocker: &Blocker<'_>| {
            let from = blocker.node();
            blocker.is_message() && timing.attends(from) && has_work[from]
        };
        may_run[node] && graph.blockers(node).iter().any(gets)
    };
    let has_work = all(&gets_work, has_work);
    let keeps = |node: usize| !timing.attends(node) || nodes[node].is_flushed_now();
    (0..nodes.len()).any(|node| has_work[node] && keeps(node))
}
