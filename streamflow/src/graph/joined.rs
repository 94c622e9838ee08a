//! Finds the possible origins of the messages at a node's inputs, after all edges were connected.
//!
//! In a run, messages of two edges are compared only if they may have the same origin: messages of different origins can't make a
//! tick mixed. A node with `#[when(same_sequence)]` must get messages that all have one origin, the same one in each tick.

use std::collections::HashMap;

use super::AnyNode;
use crate::error::{Error, Result};
use crate::message::EdgeStatus;
use crate::operator::{NodeStatus, PortStatus};

/// Tells each node the messages of which inputs to compare, and checks the nodes with `#[when(same_sequence)]`.
///
/// # Errors
/// [`Error::ImpossibleCondition`] for the first node with `same_sequence` whose compared inputs have no source in common, or have
/// several.
pub(super) fn finish(nodes: &mut [&mut dyn AnyNode]) -> Result<()> {
    let statuses: Vec<NodeStatus> = nodes.iter_mut().map(|node| node.status()).collect();
    if !statuses.iter().any(|node| compared(node).nth(1).is_some()) {
        return Ok(());
    }
    let ways = Ways::new(&statuses);
    // A node that is not a source may also be an origin, by discarding its messages and sending others. Following only the
    // sources is enough: if messages of such an origin reach two edges, so do messages of a source before it.
    let sources = ways.sources();
    for (index, node) in nodes.iter_mut().enumerate() {
        let of_edge = |edge| ways.of_edge(&sources, edge);
        let edges: Vec<_> =
            compared(&statuses[index]).map(|(at, edge)| (at, of_edge(edge))).collect();
        let mut compares = vec![false; statuses[index].inputs.len()];
        for (place, (at, one)) in edges.iter().enumerate() {
            for (other_at, other) in &edges[place + 1..] {
                if one.meets(other) {
                    (compares[*at], compares[*other_at]) = (true, true);
                }
            }
        }
        node.compare(&compares);
        if let Some(condition) = node.pairs() {
            let problem = ways.problem(index, &sources);
            let node = statuses[index].name.clone();
            problem.map_or(Ok(()), |problem| {
                Err(Error::ImpossibleCondition { node, condition, problem })
            })?;
        }
    }
    Ok(())
}

/// Returns the edges that lead to the required inputs of a node, each with the number of its input. Feedback edges are left out:
/// their message is from an earlier tick, so no other message belongs to it.
fn compared(node: &NodeStatus) -> impl Iterator<Item = (usize, &EdgeStatus)> {
    let inputs = node.inputs.iter().enumerate().filter(|(_, input)| !input.optional);
    let edges = inputs.flat_map(|(at, input)| input.edges.iter().map(move |edge| (at, edge)));
    edges.filter(|(_, edge)| !edge.feedback)
}

/// Returns whether the node may run without a message that has an acquisition time, so that it sets that time.
fn is_source(node: &NodeStatus) -> bool {
    compared(node).next().is_none()
}

/// The graph's edges from consumers to producers, for the search of origins.
struct Ways<'a> {
    nodes: &'a [NodeStatus],
    /// The index of each edge's producer, by the number of the edge.
    producers: HashMap<usize, usize>,
}

impl<'a> Ways<'a> {
    fn new(nodes: &'a [NodeStatus]) -> Self {
        let mut producers = HashMap::new();
        for (index, status) in nodes.iter().enumerate() {
            let edges = status.outputs.iter().flat_map(|output| &output.edges);
            producers.extend(edges.map(|edge| (edge.id, index)));
        }
        Self { nodes, producers }
    }

    /// Returns, for each node, the set of sources whose messages can reach the node.
    fn sources(&self) -> Vec<Nodes> {
        let count = self.nodes.len();
        let mut reached = vec![Nodes::none(count); count];
        // In the order of `nodes`, producers come before consumers, so one pass is enough. Feedback edges, which lead back, are
        // left out.
        for (index, node) in self.nodes.iter().enumerate() {
            if is_source(node) {
                reached[index].add(index);
            }
            for edge in node.inputs.iter().flat_map(|input| &input.edges) {
                if let Some(&from) = self.producers.get(&edge.id)
                    && !edge.feedback
                {
                    let before = reached[from].clone();
                    reached[index].unite(&before);
                }
            }
        }
        reached
    }

    fn of_edge<'r>(&self, reached: &'r [Nodes], edge: &EdgeStatus) -> &'r Nodes {
        const NOWHERE: &Nodes = &Nodes(Vec::new());
        self.producers.get(&edge.id).map_or(NOWHERE, |&from| &reached[from])
    }

    /// Returns why a node with `same_sequence` never receives messages that belong together, or only by chance; `None` if all is
    /// well.
    fn problem(&self, node: usize, sources: &[Nodes]) -> Option<String> {
        let inputs = || self.nodes[node].inputs.iter().filter(|input| input.is_paired);
        let edges = |input: &'a PortStatus| input.edges.iter().filter(|edge| !edge.feedback);
        let mut first: Option<(&str, Nodes)> = None;
        for input in inputs() {
            for edge in edges(input) {
                let of_edge = self.of_edge(sources, edge);
                let (first, common) = first.get_or_insert_with(|| (input.name, of_edge.clone()));
                common.keep(of_edge);
                if common.list().next().is_none() {
                    let second = input.name;
                    return Some(format!(
                        "no node sends to both `{first}` and `{second}`, directly or through others, so their numbers say \
                         nothing about each other; name the inputs whose messages come from one source, \
                         `same_sequence([a, b])`, or remove the condition"
                    ));
                }
            }
        }
        for input in inputs() {
            for edge in edges(input) {
                let mut of_edge = self.of_edge(sources, edge).list();
                let (Some(one), Some(other)) = (of_edge.next(), of_edge.next()) else { continue };
                let joint = self.joint(sources, edge);
                let name = |node: usize| &self.nodes[node].name;
                let (port, one, other, joint) = (input.name, name(one), name(other), name(joint));
                return Some(format!(
                    "messages of `{port}` have numbers of `{one}` or of `{other}`, of whichever `{joint}` has the older data, so \
                     which numbers are compared depends on timing; write the condition at a node before `{joint}`, whose \
                     messages come from one source, or send a number of your own in the message and compare that: \
                     streamflow::guide::failures"
                ));
            }
        }
        None
    }

    /// Returns the node before this edge at which messages of several sources first come together.
    fn joint(&self, sources: &[Nodes], edge: &EdgeStatus) -> usize {
        let mut joint = self.producers.get(&edge.id).copied().unwrap_or_default();
        let several = |node: &usize| sources[*node].list().nth(1).is_some();
        loop {
            let edges = self.nodes[joint].inputs.iter().flat_map(|input| &input.edges);
            let edges = edges.filter(|edge| !edge.feedback);
            let mut before = edges.filter_map(|edge| self.producers.get(&edge.id)).copied();
            let Some(earlier) = before.find(several) else { return joint };
            joint = earlier;
        }
    }
}

/// A set of nodes, as a vector of bits with one bit for each node.
#[derive(Clone)]
struct Nodes(Vec<u64>);

impl Nodes {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn add(&mut self, node: usize) {
        self.0[node / 64] |= 1 << (node % 64);
    }

    fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(word, other)| word & other != 0)
    }

    /// Returns the indices of the nodes in the set, in ascending order.
    fn list(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len() * 64).filter(|node| self.0[node / 64] >> (node % 64) & 1 == 1)
    }
}
