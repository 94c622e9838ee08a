//! Law 17: The plan predicts, the claims decide.
//!
//! The plan of a graph. [`finish`] makes it once, after all edges are connected. A plan tells which operators share a stream
//! ([`Assign::Planned`](crate::stream::Assign)), which nodes need no record at the end of a tick, and which waits are implied by
//! other waits. Planning uses the edges and the declarations of operators, and calls no driver.
//!
//! A wrong prediction makes nothing wrong: the plan alone leaves out no wait and no record.
//!
//! - A stream that nodes share is a stream like any other. A launch on it compares the uses of its arguments with the waits of
//!   the stream, as always (law 7). Most waits are unnecessary because the producer is on the same stream, and this comparison
//!   finds that out without the plan.
//! - If the plan expects that no other stream needs a record, the record is not made when the hook ends. If a stream does need
//!   it, it is made then (law 8), since the points of the work exist in any case.
//! - The predicted waits, and which of them others imply, are used only for [pictures](crate::graph::Graph::plan).
//!
//! | file | content |
//! |---|---|
//! | `edges.rs` | the edges, and which of them order ticks |
//! | `reach.rs` | the nodes that follow a node, over any number of edges |
//! | `chains.rs` | the fewest streams for the nodes |
//! | `waits.rs` | the waits that other waits imply, and the nodes that need no record |
//! | `assign.rs` | giving each node its part of the plan |
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

/// The result of planning a graph.
pub(super) struct Planning {
    edges: Vec<Edge>,
    /// For each edge, the expected wait of its consumer's stream.
    waits: Vec<Wait>,
    /// The nodes that share streams. The chains are in the order of their first nodes.
    chains: Vec<PlannedChain>,
    /// For each node, whether the plan expects that no other stream needs the records of the node's stream.
    is_quiet: Vec<bool>,
}

/// Nodes that share a stream, or as many streams as `depth`.
pub(super) struct PlannedChain {
    nodes: Vec<usize>,
    /// The number of the chain's group. All chains of a group allocate their streams from one pool.
    group: usize,
    depth: u32,
}

/// Plans a graph. `default` is the assignment for pools that do not set it.
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

/// Returns for each node with planned streams the number of its group, and the depth. Only nodes of the same group may share
/// streams.
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
