//! Whether nodes that can run do so for somebody.

use super::timing::Timing;
use super::{Blocker, Graph};
use crate::operator::NodeStatus;

/// Which nodes may wait for which, in any state of a run.
pub(in crate::schedule) struct Waits {
    /// By node, whether it is an attendant.
    pub(in crate::schedule) is_attendant: Box<[bool]>,
    /// Whether `pop` or `reject` may let an attendant run although nobody takes what it sends: rule 3 of `timing.rs`. Without such
    /// an edge each attendant waits for room.
    pub(in crate::schedule) may_run_for_ever: bool,
    /// By node, those whose messages, or room, it may wait for.
    pub(in crate::schedule) on: Box<[Box<[usize]>]>,
    /// The edges that may give way, with the nodes at both ends.
    pub(in crate::schedule) passing: Vec<(usize, [usize; 2])>,
}

/// Which nodes of a graph may wait for which.
pub(in crate::schedule) fn waits(nodes: &[NodeStatus]) -> Waits {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let (mut on, mut passing, mut may_run_for_ever) =
        (vec![Vec::new(); nodes.len()], vec![], false);
    let edges = |node: &NodeStatus| node.inputs.clone().into_iter().flat_map(|input| input.edges);
    for edge in nodes.iter().flat_map(edges) {
        let ends = [&graph.producers, &graph.consumers].map(|all| all.get(&edge.id).copied());
        let [Some(from), Some(to)] = ends else { continue };
        if !edge.is_lossy() {
            on[from].push(to);
        }
        if !timing.is_optional(edge.id) {
            on[to].push(from);
        }
        if timing.gives_way(edge.id) && !edge.is_lossy() {
            passing.push((edge.id, [from, to]));
        }
        may_run_for_ever |= edge.is_lossy() && timing.attends(from);
    }
    let is_attendant = (0..nodes.len()).map(|node| timing.attends(node)).collect();
    Waits { is_attendant, may_run_for_ever, on: on.into_iter().map(Into::into).collect(), passing }
}

/// A set of nodes with those that the rule adds, until it adds none.
pub(super) fn grown(mut set: Vec<bool>, rule: &dyn Fn(usize, &[bool]) -> bool) -> Vec<bool> {
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        for node in 0..set.len() {
            if !set[node] && rule(node, &set) {
                (set[node], has_grown) = (true, true);
            }
        }
    }
    set
}

/// Whether a run goes on in which these nodes have work, and no node can run but attendants and those that wait for something
/// outside of the graph: rule 3 of `timing.rs`. A node may run only if others do that it waits for.
pub(in crate::schedule) fn may_go_on(nodes: &[NodeStatus], some: &[usize]) -> bool {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let none = vec![false; nodes.len()];
    let served = |node: usize, by: &[bool]| {
        !nodes[node].is_done() && graph.is_served(node, &|blocker| by[blocker.node()])
    };
    let may_run = grown(none.clone(), &served);
    let mut has_work = none;
    some.iter().for_each(|node| has_work[*node] = may_run[*node]);
    // A node that waits for a message of an attendant that goes on is one for which the attendant runs.
    let gets_work = |node: usize, has_work: &[bool]| {
        let gets = |blocker: &Blocker<'_>| {
            let from = blocker.node();
            blocker.is_message() && timing.attends(from) && has_work[from]
        };
        !nodes[node].is_done() && may_run[node] && graph.blockers(node).iter().any(gets)
    };
    let has_work = grown(has_work, &gets_work);
    let keeps = |node: usize| !timing.attends(node) || nodes[node].is_flushed_now();
    (0..nodes.len()).any(|node| has_work[node] && keeps(node))
}
