//! Finds out whether any node needs the messages or the room of the nodes that can run.

use super::timing::Timing;
use super::{Blocker, Graph};
use crate::operator::NodeStatus;

/// The nodes for which a node may wait, in any state of a run.
pub(in crate::schedule) struct Waits {
    /// By node, whether it is an attendant.
    pub(in crate::schedule) is_attendant: Box<[bool]>,
    /// Whether `pop` or `reject` may let an attendant run although no node takes its messages: rule 3 of `timing.rs`.
    /// Without such an edge each attendant waits for room.
    pub(in crate::schedule) may_run_for_ever: bool,
    /// By node, the nodes for whose messages or room it may wait.
    on: Box<[On]>,
    /// The edges that may give way, with the nodes at both ends.
    pub(in crate::schedule) passing: Vec<(usize, [usize; 2])>,
}

/// The nodes that a node may wait for.
#[derive(Clone, Default)]
struct On {
    /// The node runs no more if one of these runs no more.
    each: Vec<usize>,
    /// The node runs no more if all of these run no more: a message of one of them is enough.
    any: Vec<usize>,
}

impl Waits {
    /// Adds to `stands` the nodes that run no more because nodes in `stands` run no more. Adds only nodes for which `is_still`
    /// returns `true`.
    pub(in crate::schedule) fn grow(&self, stands: &mut [bool], is_still: impl Fn(usize) -> bool) {
        let mut has_grown = true;
        while std::mem::take(&mut has_grown) {
            for (node, on) in self.on.iter().enumerate() {
                let lacks = |stands: &[bool]| {
                    let lacks_all = !on.any.is_empty() && on.any.iter().all(|it| stands[*it]);
                    lacks_all || on.each.iter().any(|it| stands[*it])
                };
                if !stands[node] && is_still(node) && lacks(stands) {
                    (stands[node], has_grown) = (true, true);
                }
            }
        }
    }
}

/// For each node of a graph, the nodes for which it may wait.
pub(in crate::schedule) fn waits(nodes: &[NodeStatus]) -> Waits {
    let graph = Graph::new(nodes);
    let timing = Timing::new(&graph);
    let (mut on, mut passing, mut may_run_for_ever) =
        (vec![On::default(); nodes.len()], vec![], false);
    let takes_any: Vec<_> = (0..nodes.len()).map(|node| graph.takes_any(node)).collect();
    let edges = |node: &NodeStatus| node.inputs.clone().into_iter().flat_map(|input| input.edges);
    for edge in nodes.iter().flat_map(edges) {
        let ends = [&graph.producers, &graph.consumers].map(|all| all.get(&edge.id).copied());
        let [Some(from), Some(to)] = ends else { continue };
        if !edge.is_lossy() {
            on[from].each.push(to);
        }
        if takes_any[to] && !edge.feedback {
            on[to].any.push(from);
        } else if !timing.is_optional(edge.id) {
            on[to].each.push(from);
        }
        if timing.gives_way(edge.id) && !edge.is_lossy() {
            passing.push((edge.id, [from, to]));
        }
        may_run_for_ever |= edge.is_lossy() && timing.attends(from);
    }
    let is_attendant = (0..nodes.len()).map(|node| timing.attends(node)).collect();
    Waits { is_attendant, may_run_for_ever, on: on.into(), passing }
}

impl Graph<'_> {
    /// Whether a message of any input lets a node run, in any state of a run: all inputs are optional, and no condition may
    /// come to wait for messages of some of them.
    fn takes_any(&self, node: usize) -> bool {
        !self.has_required(node) && !self.nodes[node].may_await
    }
}

/// Grows a set of nodes by the rule, until the rule adds no node.
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

/// Whether a run goes on if the nodes in `some` have work, and all nodes that can run are attendants or wait for
/// something outside of the graph: rule 3 of `timing.rs`. A node may run only if the nodes that it waits for may run.
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
    // An attendant that goes on has work to do for each node that waits for its message.
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
