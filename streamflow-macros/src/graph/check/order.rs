//! Finds the order in which the nodes of a graph run, and reports cycles.

use super::toposort::{self, Cycle};
use crate::diagnostic::Errors;
use crate::graph::model::{Edge, Node, Nodes};
use crate::graph::parts::OnFailure;

/// Returns the indices of the nodes so that each node comes after all its producers. Two kinds of edges don't count: edges of
/// unknown nodes, and feedback edges, since their messages are for the next tick.
pub(super) fn order_nodes(nodes: &Nodes, edges: &[Edge], errors: &mut Errors) -> Vec<usize> {
    let (ordering, ends): (Vec<&Edge>, Vec<(usize, usize)>) = edges
        .iter()
        .filter(|edge| !edge.attributes.is_feedback)
        .filter_map(|edge| {
            Some((edge, (nodes.index_of(&edge.output)?, nodes.index_of(&edge.input)?)))
        })
        .unzip();
    let (order, cycles) = toposort::order(nodes.len(), &ends);
    for Cycle { edge, path } in cycles {
        let path: Vec<String> =
            path.into_iter().map(|index| Node::unraw_name(&nodes[index])).collect();
        let path = path.join(" -> ");
        errors.at(
            ordering[edge].underlined_tokens(),
            format!(
                "this edge closes a cycle: {path}\neach of these operators would wait for the \
                 others; mark the edge whose message is for the next tick: \
                 `#[feedback(initial = …)]`"
            ),
        );
    }
    order
}

/// Reports nodes in a cycle with `#[on_failure(skip)]` or `restart`. A failed tick would lose the message of the feedback edge,
/// and so no further tick of the cycle could run.
pub(super) fn check_policies(nodes: &Nodes, edges: &[Edge], errors: &mut Errors) {
    let goes_on = |node: &Node| {
        matches!(node.attributes.on_failure, Some(OnFailure::Skip | OnFailure::Restart { .. }))
    };
    if !nodes.iter().any(goes_on) || !edges.iter().any(|edge| edge.attributes.is_feedback) {
        return;
    }
    let ends = edges
        .iter()
        .filter_map(|edge| Some((nodes.index_of(&edge.output)?, nodes.index_of(&edge.input)?)));
    let ends: Vec<(usize, usize)> = ends.collect();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| goes_on(node)) {
        if toposort::is_in_cycle(nodes.len(), &ends, index) {
            let name = node.unraw_name();
            errors.at(
                &node.name,
                format!(
                    "node `{name}` is in a cycle, which would stand still after a failure: the message of \
                     the `#[feedback]` edge is lost with the failed tick; handle the failure in \
                     `compute`, or remove `#[on_failure(…)]`"
                ),
            );
        }
    }
}
