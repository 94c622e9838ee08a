//! Predicts which waits of a tick are implied by other waits, and which nodes have records that no other stream needs.

use super::PlannedChain;
use super::edges::Edge;
use super::reach::Reach;
use crate::operator::NodeFacts;

/// The wait of a consumer's stream for the messages of an edge, as the plan predicts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// There is no wait, since the edge carries host data.
    None,
    /// The stream waits for the event that the producer records.
    Made,
    /// There is no wait, since the producer's work is on the same stream.
    SameStream,
    /// There is no wait: the consumer's wait for the edge with this number already orders its stream after this edge's producer.
    ImpliedBy(usize),
}

/// Returns, for each edge, the expected wait of its consumer's stream.
pub(super) fn waits(nodes: usize, edges: &[Edge], chains: &[PlannedChain]) -> Vec<Wait> {
    let chain_of = chain_of(nodes, chains);
    // A wait implies earlier waits only if each producer on the path has waited on the stream on which it sends.
    let ordering = || edges.iter().filter(|edge| edge.orders).map(|edge| (edge.from, edge.to));
    let reach = Reach::new(nodes, ordering());
    let mut inputs: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.orders) {
        inputs[edge.to].push(index);
    }
    let wait_of = |edge: &Edge| {
        if !edge.is_device {
            return Wait::None;
        }
        if edge.follows && chain_of[edge.from].is_some() && chain_of[edge.from] == chain_of[edge.to]
        {
            return Wait::SameStream;
        }
        let covers = |other: &&usize| reach.reaches(edge.from, edges[**other].from);
        match inputs[edge.to].iter().find(covers).filter(|_| edge.orders) {
            Some(&other) => Wait::ImpliedBy(other),
            None => Wait::Made,
        }
    };
    edges.iter().map(wait_of).collect()
}

/// Returns for each node whether the plan expects that no other stream and no host thread needs the records of its hooks, because
/// all its device data goes to nodes of its own chain.
pub(super) fn quiet_nodes(
    nodes: &[NodeFacts],
    edges: &[Edge],
    chains: &[PlannedChain],
) -> Vec<bool> {
    let chain_of = chain_of(nodes.len(), chains);
    let mut sends = vec![false; nodes.len()];
    let mut is_quiet: Vec<bool> = chain_of.iter().map(Option::is_some).collect();
    for edge in edges.iter().filter(|edge| edge.is_device) {
        sends[edge.from] = true;
        is_quiet[edge.from] &= edge.follows && chain_of[edge.from] == chain_of[edge.to];
    }
    for (index, node) in nodes.iter().enumerate() {
        // A host thread waits for a download, so a node that sends downloads needs its record. The last node of a chain needs its
        // record too: no later node of the chain records the stream.
        is_quiet[index] &= sends[index] && node.outputs.iter().all(|end| !end.port.downloads);
    }
    is_quiet
}

/// Returns, for each node, the number of its chain.
fn chain_of(nodes: usize, chains: &[PlannedChain]) -> Vec<Option<usize>> {
    let mut chain_of = vec![None; nodes];
    for (number, chain) in chains.iter().enumerate() {
        chain.nodes.iter().for_each(|&node| chain_of[node] = Some(number));
    }
    chain_of
}
