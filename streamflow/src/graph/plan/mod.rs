//! Law 17: The plan predicts, the claims decide.
//!
//! A plan of a graph, which [`finish`] makes once, when all edges are connected: which operators share a stream
//! ([`Assign::Planned`](crate::stream::Assign)), which nodes need no record at the end of a tick, and which waits other
//! waits imply. It uses the edges and what the operators' types declare, and calls no driver.
//!
//! Nothing is skipped on the plan's word alone:
//!
//! - A stream that nodes share is a stream like any other. A launch on it compares its arguments with what the stream has
//!   waited for, as always (law 7). That the producer was on the same stream makes most waits unnecessary, and the claims
//!   find that out by themselves.
//! - A record that the plan expects nobody to need is not made when the hook ends, and is made when one is needed (law 8):
//!   the points of the work are there in any case.
//! - The waits that the plan expects others to imply are for [pictures](crate::graph::Graph::plan) alone.
//!
//! | file | what it has |
//! |---|---|
//! | `edges.rs` | which edges count |
//! | `reach.rs` | which nodes follow which |
//! | `chains.rs` | the fewest streams |
//! | `waits.rs` | which waits others imply, and which nodes need no record |
//! | `assign.rs` | gives the nodes of a graph their places in the plan |
//! | `draw.rs` | the plan as a picture |

pub(crate) mod assign;
mod chains;
mod draw;
mod edges;
mod reach;
#[cfg(all(test, not(loom)))]
mod tests;
mod waits;

use self::edges::Edge;
use self::reach::Reach;
pub use draw::Plan;
pub(super) use draw::of_graph;
pub(super) use waits::Wait;

use crate::operator::NodeFacts;
use crate::stream::Assign;

/// The contents of a plan.
pub(super) struct Planning {
    edges: Vec<Edge>,
    /// For each edge, the wait of its consumer.
    waits: Vec<Wait>,
    /// The nodes that share streams, in the order of the nodes.
    chains: Vec<PlannedChain>,
    /// For each node, whether nobody needs its records.
    is_quiet: Vec<bool>,
}

/// Nodes that share streams.
pub(super) struct PlannedChain {
    nodes: Vec<usize>,
    /// The number of its group. All chains of a group take their streams from one pool.
    group: usize,
    depth: u32,
}

/// Plans a graph. `default` is for pools whose description says nothing.
fn plan(nodes: &[NodeFacts], default: Assign) -> Planning {
    let edges = edges::edges(nodes);
    let follows = || edges.iter().filter(|edge| edge.follows).map(|edge| (edge.from, edge.to));
    let groups = groups(nodes, default);
    let numbers: Vec<_> = groups.iter().map(|group| group.map(|(group, _)| group)).collect();
    let reach = Reach::new(nodes.len(), follows());
    let chains = chains::cover(&numbers, &reach, follows());
    let chains: Vec<PlannedChain> = chains
        .into_iter()
        .filter_map(|nodes| {
            let (group, depth) = groups[nodes[0]]?;
            Some(PlannedChain { nodes, group, depth })
        })
        .collect();
    let waits = waits::waits(nodes.len(), &edges, &chains);
    let is_quiet = waits::quiet_nodes(nodes, &edges, &chains);
    Planning { edges, waits, chains, is_quiet }
}

/// For each node whose stream is planned, the number of its group and the depth. Nodes of one group may share streams.
fn groups(nodes: &[NodeFacts], default: Assign) -> Vec<Option<(usize, u32)>> {
    let mut first_of_group: Vec<usize> = Vec::new();
    let group_of = |(index, node): (usize, &NodeFacts)| {
        let pool = node.pool.as_ref()?;
        let Assign::Planned { depth } = pool.assign().unwrap_or(default) else { return None };
        if node.streams == 0 || node.named > 0 {
            return None;
        }
        let is_same = |first: &usize| {
            let first = &nodes[*first];
            let shares_pool = first.pool.as_ref().is_some_and(|other| {
                let both_own = node.owns_pool && first.owns_pool;
                pool.is(other) || both_own && pool.has_streams_like(other)
            });
            shares_pool && first.worker == node.worker
        };
        let group = first_of_group.iter().position(is_same).unwrap_or_else(|| {
            first_of_group.push(index);
            first_of_group.len() - 1
        });
        Some((group, depth))
    };
    nodes.iter().enumerate().map(group_of).collect()
}
