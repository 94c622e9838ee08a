//! Law 17: The plan predicts, the claims decide.
//!
//! The plan of a graph. [`finish`] makes it once, when all edges are connected: which operators share a stream
//! ([`Assign::Planned`](crate::stream::Assign)), which nodes need no record at the end of a tick, and which waits other
//! waits imply. Planning uses the edges and the declarations of the operators' types, and calls no driver.
//!
//! No wait is left out and no record is lost because of the plan alone:
//!
//! - A stream that nodes share is a stream like any other. A launch on it checks its arguments against the waits of the
//!   stream, as always (law 7). Most waits are unnecessary because the producer was on the same stream, and the claims
//!   find that out by themselves.
//! - If the plan expects that no stream needs a record, the record is not made when the hook ends. It is made later if
//!   a stream does need it (law 8): the points of the work are there in any case.
//! - The waits that other waits are expected to imply are only for [pictures](crate::graph::Graph::plan).
//!
//! | file | content |
//! |---|---|
//! | `edges.rs` | the edges that count |
//! | `reach.rs` | the nodes that follow a node |
//! | `chains.rs` | the fewest streams |
//! | `waits.rs` | the waits that others imply, and the nodes that need no record |
//! | `assign.rs` | the places of a graph's nodes in the plan |
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
    /// For each node, whether no other stream is expected to need its records.
    is_quiet: Vec<bool>,
}

/// Nodes that share streams.
pub(super) struct PlannedChain {
    nodes: Vec<usize>,
    /// The number of the chain's group. All chains of a group take their streams from one pool.
    group: usize,
    depth: u32,
}

/// Plans a graph. `default` is the assignment for pools that set none.
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

/// For each node with planned streams, the number of its group and the depth. Nodes of one group may share streams.
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
