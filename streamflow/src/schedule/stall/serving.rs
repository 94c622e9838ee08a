//! Finds out whether any node still needs the messages, or the room, that the nodes which can run would provide.

use super::timing::Timing;
use super::{Blocker, Graph};
use crate::operator::NodeStatus;

/// For each node of a graph, the nodes for which it may wait in any state of a run.
pub(in crate::schedule) struct Waits {
    /// For each node, whether it is an attendant.
    pub(in crate::schedule) is_attendant: Box<[bool]>,
    /// Whether `pop` or `reject` may let an attendant run although no node takes its messages (rule 3 of `timing.rs`). Without
    /// such an edge, each attendant at last waits for room.
    pub(in crate::schedule) may_run_for_ever: bool,
    /// For each node, the nodes for whose messages or room it may wait.
    on: Box<[On]>,
    /// The edges that may give way, each with the nodes where it begins and ends.
    pub(in crate::schedule) passing: Vec<(usize, [usize; 2])>,
}

/// The nodes for which one node may wait.
#[derive(Clone, Default)]
struct On {
    /// If one of these nodes can't run any more, neither can the node that waits.
    each: Vec<usize>,
    /// If all of these nodes can't run any more, neither can the node that waits: a message of one of them would be enough.
    any: Vec<usize>,
}

impl Waits {
    /// Adds to `stands` the nodes that can't run any more because nodes in `stands` can't. Adds only nodes for which `is_still`
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

/// Finds, for each node of a graph, the nodes for which it may wait.
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
    /// Whether in every state of a run, a message at any one input is enough for the node to run: all its inputs are optional,
    /// and no condition of it may later wait for messages at some of them.
    fn takes_any(&self, node: usize) -> bool {
        !self.has_required(node) && !self.nodes[node].may_await
    }
}

/// Adds to a set each node for which `rule` returns `true`, until it returns `true` for no other node.
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

/// Whether a run goes on if the nodes in `some` have work, and all nodes that can run are attendants or wait for something
/// outside of the graph (rule 3 of `timing.rs`). A node may run only if the nodes for which it waits may run.
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
    // An attendant that goes on also has work to do for each node that waits for its message.
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
