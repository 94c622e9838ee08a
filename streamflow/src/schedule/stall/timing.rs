//! The rules by which the end of a run does not depend on timing: it is the same with each scheduler and each speed of threads.
//!
//! Timing decides about two things. A message that comes to an optional input after a tick waits for the next tick, and there may
//! be no next tick. And if messages come faster than they are taken, the policies `pop` and `reject` drop some of them. Nothing
//! else depends on timing: a node waits until all its required inputs have messages and all its outputs have room, and no other
//! node takes these away. So two ticks that are both possible give the same state in either order, and a run of such nodes has
//! one final state (Kahn, *The semantics of a simple language for parallel programming*, 1974; with bounded queues, Parks, 1995).
//! Three rules keep the two effects of timing out of the final state:
//!
//! 1. **No run ends at an edge that gives way.** Suppose that a node waits only for room in edges of the list below, and that
//!    no node can run any more, or none of the nodes for which it waits can. Then each of these edges *gives way*: it drops
//!    messages for which it has no room, the report counts them, and the run goes on. The edges are
//!    - an edge to an *optional input* of a node that has a required input, too: the edge's messages decide about no tick;
//!    - an edge to a *thinned* node: each tick of this node needs messages of a lossy edge, perhaps through other nodes, so
//!      timing decides how many messages the node takes;
//!    - an edge to an *attendant*: a node that stops when the other nodes have ended. The node has no end of its own, as a
//!      source without `count`, or such a node feeds it. It sends only to optional inputs, thinned nodes and other
//!      attendants.
//! 2. **No thinned node and no attendant is stuck**, since timing decides how many ticks such a node does.
//! 3. **No attendant keeps a run going.** An edge with `pop` or `reject` lets its producer run without room, so an attendant
//!    that sends only to such edges would run for ever. The run is over when each other node has ended, or waits for a message
//!    or room that no node that can run provides. So a consumer that has ended ends a run as it would without a policy: by its
//!    `count`, by `finish`, by a handle that was closed, or because a node that it needs has ended.
//!
//!    A consumer that still takes messages keeps the run going, even if another consumer of the same output has ended: the
//!    policy promises that no consumer holds up its producer. Timing decides at which tick a thinned node ends, so that tick
//!    must not decide about a tick of other nodes. On an edge without a policy, the producer waits for the consumer that has
//!    ended, as always.
//!
//! By these rules, edges to optional inputs, thinned nodes and attendants neither prevent nor cause a tick of the other nodes.
//! The other nodes have one final state, and how the run ends depends only on that state. The number of messages sent on such
//! an edge does not depend on timing either, unless its producer is a thinned node or an attendant. Timing decides how many of
//! these messages are received, dropped or left.
//!
//! The rules hold for operators that take and send the same messages with and without a message at an optional input. If an
//! operator has only optional inputs, timing decides the order in which it takes its messages, so it must take all of them.

use std::collections::HashSet;

use super::{Blocker, Graph};
use crate::operator::NodeStatus;

/// The nodes and edges of a graph whose counts depend on timing. They are the same in each state of a run.
pub(super) struct Timing {
    /// For each node, whether it is thinned; in `is_attendant`, whether it is an attendant.
    is_thinned: Vec<bool>,
    is_attendant: Vec<bool>,
    /// The edges that may give way.
    edges: HashSet<usize>,
    /// The edges to optional inputs of nodes that have a required input, too.
    optional: HashSet<usize>,
}

/// An edge, with the facts about its ends that decide whether it may give way.
struct Link {
    id: usize,
    from: usize,
    to: usize,
    /// Whether the edge leads to an optional input of a node that has a required input, too.
    is_optional: bool,
    is_lossy: bool,
    is_feedback: bool,
    /// Whether the consumer may run without a message of this edge.
    may_lack: bool,
}

impl Timing {
    pub(super) fn new(graph: &Graph<'_>) -> Self {
        let links = links(graph);
        let mut is_thinned = vec![false; graph.nodes.len()];
        grow(&mut is_thinned, &links, |link, thinned| {
            (!link.is_optional && (link.is_lossy || thinned[link.from])).then_some(link.to)
        });
        // A node is needed if its messages get to a sink on a path without optional inputs and thinned nodes.
        let mut is_needed = vec![true; graph.nodes.len()];
        links.iter().for_each(|link| is_needed[link.from] = false);
        grow(&mut is_needed, &links, |link, needed| {
            let cut = link.is_optional || is_thinned[link.to];
            (!cut && needed[link.to]).then_some(link.from)
        });
        let mut is_attendant: Vec<bool> = (0..graph.nodes.len())
            .map(|node| !is_needed[node] && is_endless(node, &graph.nodes[node], &links))
            .collect();
        grow(&mut is_attendant, &links, |link, attendant| {
            (!link.is_optional && attendant[link.from] && !is_needed[link.to]).then_some(link.to)
        });
        let gives_way = |link: &&Link| {
            let is_up_to_timing = is_thinned[link.to] || is_attendant[link.to];
            let takes_all = is_up_to_timing && !is_thinned[link.from];
            !link.is_feedback && !is_attendant[link.from] && (link.is_optional || takes_all)
        };
        let edges: HashSet<_> = links.iter().filter(gives_way).map(|link| link.id).collect();
        let optional = links.iter().filter(|link| link.is_optional).map(|link| link.id).collect();
        Self { is_thinned, is_attendant, edges, optional }
    }

    /// Whether timing decides how many ticks the node does.
    pub(super) fn decides(&self, node: usize) -> bool {
        self.is_thinned[node] || self.is_attendant[node]
    }

    /// Whether the node is an attendant.
    pub(super) fn attends(&self, node: usize) -> bool {
        self.is_attendant[node]
    }

    /// Whether the edge leads to an optional input of a node that has a required input, too.
    pub(super) fn is_optional(&self, edge: usize) -> bool {
        self.optional.contains(&edge)
    }

    /// Whether the edge may give way.
    pub(super) fn gives_way(&self, edge: usize) -> bool {
        self.edges.contains(&edge)
    }

    /// Returns the edges for whose room this node waits, if all of them may give way. Empty if the node also waits for anything
    /// else.
    pub(super) fn kept_by(&self, node: usize, graph: &Graph<'_>) -> Vec<usize> {
        if graph.nodes[node].is_done() {
            return Vec::new();
        }
        let blockers = graph.blockers(node);
        if !blockers.iter().all(|blocker| self.is_passing(*blocker, graph)) {
            return Vec::new();
        }
        let mut edges = Vec::new();
        for blocker in blockers {
            match blocker {
                Blocker::Room(edge, _) => edges.push(edge.id),
                Blocker::Condition(unmet, _) => edges.extend(&unmet.edges),
                Blocker::Message(..) | Blocker::Taker(..) => {}
            }
        }
        edges
    }

    /// Whether the wait `blocker` is a wait for room in edges that may give way.
    pub(super) fn is_passing(&self, blocker: Blocker<'_>, graph: &Graph<'_>) -> bool {
        match blocker {
            Blocker::Room(edge, consumer) => self.may_give_way(edge.id, consumer, graph),
            Blocker::Condition(unmet, consumer) if unmet.is_room => {
                // A blocker stands for one consumer, so only the condition's edges that lead to this consumer count.
                let leads = |edge: &&usize| graph.consumers.get(edge) == Some(&consumer);
                let mut edges = unmet.edges.iter().filter(leads);
                edges.all(|edge| self.may_give_way(*edge, consumer, graph))
            }
            _ => false,
        }
    }

    /// Whether a full edge may give way. The edge does not give way if its consumer has all messages and room that it needs, and
    /// still leaves the edge's messages in the queue: that is the decision of the consumer's operator.
    fn may_give_way(&self, edge: usize, consumer: usize, graph: &Graph<'_>) -> bool {
        let leaves = || {
            let status = &graph.nodes[consumer];
            !self.decides(consumer) && !status.is_done() && graph.blockers(consumer).is_empty()
        };
        self.edges.contains(&edge) && !leaves()
    }
}

fn links(graph: &Graph<'_>) -> Vec<Link> {
    let mut links = Vec::new();
    for (to, node) in graph.nodes.iter().enumerate() {
        let has_required = graph.has_required(to);
        for input in &node.inputs {
            let is_optional = has_required && !input.is_required();
            let may_lack = !input.is_required() && (has_required || node.runs_without_messages);
            for edge in &input.edges {
                let Some(&from) = graph.producers.get(&edge.id) else { continue };
                links.push(Link {
                    id: edge.id,
                    from,
                    to,
                    is_optional,
                    is_lossy: edge.is_lossy(),
                    is_feedback: edge.feedback,
                    may_lack,
                });
            }
        }
    }
    links
}

/// Whether the node runs without messages of other nodes, and nothing limits the number of its ticks.
fn is_endless(node: usize, status: &NodeStatus, links: &[Link]) -> bool {
    let drives = |link: &Link| link.to == node && !link.is_feedback && !link.may_lack;
    status.has_no_end && !links.iter().any(drives)
}

/// Adds nodes to a set until `rule` adds no other node. For an edge, the rule returns the node to add, if any.
fn grow(set: &mut [bool], links: &[Link], rule: impl Fn(&Link, &[bool]) -> Option<usize>) {
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        for link in links {
            if let Some(node) = rule(link, set).filter(|node| !set[*node]) {
                set[node] = true;
                has_grown = true;
            }
        }
    }
}
