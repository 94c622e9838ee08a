//! Finds the order in which the nodes of a graph run, and reports cycles.

use super::toposort::{self, Cycle};
use crate::diagnostic::Errors;
use crate::graph::model::{Edge, Node, Nodes};
use crate::graph::parts::{OnFailure, unraw_name};

/// Returns the indices of the nodes so that each node comes after all its producers. Two kinds of edges don't count: edges of
/// unknown nodes, and feedback edges, since their messages are for the next tick.
pub(super) fn order_nodes(nodes: &Nodes, edges: &[Edge], errors: &mut Errors) -> Vec<usize> {
    let (ordering, ends): (Vec<&Edge>, Vec<(usize, usize)>) = edges
        .iter()
        .filter(|edge| !edge.attributes.is_feedback && !leads_on(edge))
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

/// Whether an edge leads from a node of an array to a later node of the same array. The nodes of an array run in their order.
fn leads_on(edge: &Edge) -> bool {
    let is_inside = unraw_name(&edge.output.node) == unraw_name(&edge.input.node);
    let indices = edge.output.index.as_ref().zip(edge.input.index.as_ref());
    is_inside && indices.is_some_and(|(output, input)| input.is_after(output))
}

/// Reports nodes in a cycle with `#[on_failure(skip)]` or `restart`. A failed tick would lose the message of the feedback edge,
/// and so no further tick of the cycle could run. Returns the indices of all nodes in cycles: some may be graphs with such nodes.
pub(super) fn check_policies(nodes: &Nodes, edges: &[Edge], errors: &mut Errors) -> Vec<usize> {
    let goes_on = |node: &Node| {
        matches!(node.attributes.on_failure, Some(OnFailure::Skip | OnFailure::Restart { .. }))
    };
    if !edges.iter().any(|edge| edge.attributes.is_feedback) {
        return Vec::new();
    }
    let ends = |is_wanted: fn(&&Edge) -> bool| -> Vec<(usize, usize)> {
        let wanted = edges.iter().filter(is_wanted);
        let ends =
            |edge: &Edge| Some((nodes.index_of(&edge.output)?, nodes.index_of(&edge.input)?));
        wanted.filter_map(ends).collect()
    };
    let (all, back) = (ends(|_| true), ends(|edge| edge.attributes.is_feedback));
    let in_cycles = toposort::in_cycles(nodes.len(), &all, &back);
    for &index in &in_cycles {
        let node = &nodes[index];
        if goes_on(node) {
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
    in_cycles
}
