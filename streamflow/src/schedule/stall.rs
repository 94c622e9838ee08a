//! Law 15: A run says why it ended.
//!
//! When no node can run and none waits for a stream, a run is over. It has *ended* if every source is done and no
//! message waits that a node should have taken. Else it has *stalled*: some node is stuck, and this file says which,
//! and what it waits for.
//!
//! A node that is not done is stuck if
//! - it is a source, and an edge that it sends to is full; or
//! - a message waits for it, and either another one is missing, or an edge that it sends to is full, or it ran and left
//!   the message in its queue. A message of a lossy edge (`pop`, `reject`) may be lost, and the one of a feedback edge
//!   is state: neither makes its consumer stuck.
//!
//! What waits for a node that ended itself by `finish` is dropped, and nothing that comes of it is a stall.

use std::collections::{HashMap, HashSet};

use crate::message::EdgeStatus;
use crate::operator::NodeStatus;

/// The chains of the nodes that are stuck, as text: from each of them along what it waits for. Empty if the run has
/// ended.
pub(super) fn find(nodes: &[NodeStatus]) -> Vec<String> {
    let graph = Graph::new(nodes);
    let (mut chains, mut told) = (Vec::new(), HashSet::new());
    // Sources first: where they wait for others that are stuck, one chain tells of all.
    let (sources, others): (Vec<usize>, Vec<usize>) =
        (0..nodes.len()).partition(|node| nodes[*node].inputs.is_empty());
    for node in sources.into_iter().chain(others) {
        if graph.is_stuck(node) && !told.contains(&node) && !graph.is_by_finish(node) {
            chains.push(graph.chain(node, &mut told));
        }
    }
    chains
}

/// What a node waits for.
#[derive(Clone, Copy)]
enum Blocker<'a> {
    /// A message that the node at the beginning of this edge would send.
    Message(&'a EdgeStatus, usize),
    /// Room in this edge, which the node at its end would make.
    Room(&'a EdgeStatus, usize),
}

impl Blocker<'_> {
    /// The node that would end the wait.
    fn node(self) -> usize {
        match self {
            Self::Message(_, node) | Self::Room(_, node) => node,
        }
    }
}

struct Graph<'a> {
    nodes: &'a [NodeStatus],
    /// By edge.
    producers: HashMap<usize, usize>,
    consumers: HashMap<usize, usize>,
}

impl<'a> Graph<'a> {
    fn new(nodes: &'a [NodeStatus]) -> Self {
        let (mut producers, mut consumers) = (HashMap::new(), HashMap::new());
        for (index, node) in nodes.iter().enumerate() {
            let ends = |ports: &'a [crate::operator::PortStatus]| {
                ports.iter().flat_map(|port| &port.edges).map(move |edge| (edge.id, index))
            };
            consumers.extend(ends(&node.inputs));
            producers.extend(ends(&node.outputs));
        }
        Self { nodes, producers, consumers }
    }

    fn is_stuck(&self, node: usize) -> bool {
        let status = &self.nodes[node];
        if status.is_done() {
            return false;
        }
        if status.inputs.is_empty() {
            return !self.blockers(node).is_empty();
        }
        self.waiting(node).any(|edge| !edge.is_lossy() && !edge.feedback)
    }

    /// The edges at which messages wait for a node.
    fn waiting(&self, node: usize) -> impl Iterator<Item = &'a EdgeStatus> {
        let edges = self.nodes[node].inputs.iter().flat_map(|input| &input.edges);
        edges.filter(|edge| edge.waiting > 0)
    }

    /// What a node that is not done waits for. Nothing for one that could run.
    fn blockers(&self, node: usize) -> Vec<Blocker<'a>> {
        let NodeStatus { inputs, outputs, .. } = &self.nodes[node];
        let has_message = self.waiting(node).next().is_some();
        let required = inputs.iter().filter(|input| !input.optional || !has_message);
        let empty = required.flat_map(|input| &input.edges).filter(|edge| edge.waiting == 0);
        let full = outputs.iter().flat_map(|output| &output.edges).filter(|edge| edge.blocks());
        let message = |edge: &'a EdgeStatus| {
            self.producers.get(&edge.id).map(|node| Blocker::Message(edge, *node))
        };
        let room = |edge: &'a EdgeStatus| {
            self.consumers.get(&edge.id).map(|node| Blocker::Room(edge, *node))
        };
        empty.filter_map(message).chain(full.filter_map(room)).collect()
    }

    /// Whether a node waits, perhaps through others, for one that ended itself.
    fn is_by_finish(&self, node: usize) -> bool {
        let (mut seen, mut next) = (HashSet::new(), vec![node]);
        while let Some(node) = next.pop() {
            let status = &self.nodes[node];
            if status.is_finished {
                return true;
            }
            if seen.insert(node) && !status.is_done() {
                next.extend(self.blockers(node).into_iter().map(Blocker::node));
            }
        }
        false
    }

    /// From a node along the first thing that each one waits for, to the cause or back to a node of the chain.
    fn chain(&self, first: usize, told: &mut HashSet<usize>) -> String {
        let (mut links, mut chain, mut node) = (Vec::new(), HashSet::new(), first);
        loop {
            let name = &self.nodes[node].name;
            if !chain.insert(node) {
                links.push(format!("`{name}`, as above"));
                break;
            }
            told.insert(node);
            let (link, next) = self.link(node);
            links.push(link);
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        links.join(" → ")
    }

    /// What a node has and lacks, and the node that it waits for.
    fn link(&self, node: usize) -> (String, Option<usize>) {
        let status = &self.nodes[node];
        let name = &status.name;
        if status.is_finished {
            return (format!("`{name}` has finished"), None);
        }
        if let Some(count) = status.count.filter(|_| status.has_reached_count()) {
            return (format!("`{name}` is done: its `count` of {count} is reached"), None);
        }
        let ticks = match status.count {
            Some(count) => format!("`{name}`, after {} of {count} ticks,", status.ticks),
            None => format!("`{name}`, after {} ticks,", status.ticks),
        };
        let has: Vec<String> = self.waiting(node).map(|edge| format!("`{}`", edge.name)).collect();
        let blockers = self.blockers(node);
        let Some(first) = blockers.first() else {
            return (format!("{ticks} runs, but leaves the message of {}", has.join(", ")), None);
        };
        let has = match has.len() {
            0 => String::new(),
            _ => format!(" has a message of {}, but", has.join(", ")),
        };
        let lacks: Vec<String> = blockers.iter().map(|blocker| lack(*blocker)).collect();
        (format!("{ticks}{has} waits for {}", lacks.join(" and ")), Some(first.node()))
    }
}

fn lack(blocker: Blocker<'_>) -> String {
    match blocker {
        Blocker::Message(edge, _) => format!("a message of `{}`, which is empty", edge.name),
        Blocker::Room(edge, _) => {
            format!(
                "room in `{}`, which is full ({} of {})",
                edge.name, edge.waiting, edge.capacity
            )
        }
    }
}
