//! Reports conditions that wait for more messages than the queues hold, where all these numbers are literals.

use proc_macro2::Ident;
use syn::Expr;

use super::borders::borders;
use crate::diagnostic::Errors;
use crate::expression::whole_number;
use crate::graph::conditions::{Condition, ConditionKind};
use crate::graph::index::Loop;
use crate::graph::model::{Border, Edge, Node, OwnPort};
use crate::graph::parts::{Side, unraw_name};

/// Reports each condition of these nodes that waits for more messages than the edges to its inputs hold.
pub(super) fn check_numbers(
    nodes: &[Node],
    edges: &[Edge],
    ports: &[OwnPort],
    errors: &mut Errors,
) {
    for node in nodes {
        for condition in node.attributes.conditions.iter().flat_map(Condition::each) {
            let needs = match &condition.kind {
                ConditionKind::MessageAvailable { input, messages } => {
                    vec![(std::slice::from_ref(input), messages)]
                }
                ConditionKind::Sum { inputs, sum } => vec![(&inputs[..], sum)],
                ConditionKind::Each { inputs, each } => {
                    inputs.iter().map(std::slice::from_ref).zip(each).collect()
                }
                _ => Vec::new(),
            };
            for (inputs, messages) in needs {
                // The edge of the graph around this one is not known here.
                let is_own = |Border { inner, .. }: &Border| {
                    unraw_name(&inner.node) == node.unraw_name()
                        && inputs.iter().any(|input| unraw_name(input) == unraw_name(&inner.name))
                };
                // The nodes of an array share no edges.
                let is_array = node.element().is_some();
                if !is_array && !borders(ports, Side::Input).any(is_own) {
                    check_number(node, inputs, messages, edges, errors);
                }
            }
        }
    }
}

fn check_number(
    node: &Node,
    inputs: &[Ident],
    messages: &Expr,
    edges: &[Edge],
    errors: &mut Errors,
) {
    let is_input = |edge: &&Edge| {
        let is_here = unraw_name(&edge.input.node) == node.unraw_name();
        is_here && inputs.iter().any(|input| unraw_name(input) == unraw_name(&edge.input.name))
    };
    let mut to_inputs = edges.iter().filter(is_input).peekable();
    // No edge leads to these inputs, and another check finds that: rustc if the operator has no such port, and else a constant of
    // `expand/assertions.rs`.
    if to_inputs.peek().is_none() {
        return;
    }
    let Some(needed) = whole_number(messages) else { return };
    let capacity = to_inputs.map(|edge| {
        let own = match &edge.attributes.capacity {
            None => 1,
            Some(capacity) => whole_number(capacity)?,
        };
        let one = own.checked_add(u64::from(edge.attributes.is_feedback))?;
        // A loop of a range that the macro doesn't know makes an unknown number of edges.
        one.checked_mul(edge.around.as_ref().map_or(Some(1), Loop::known_turns)?)
    });
    let Some(capacity) = capacity.sum::<Option<u64>>() else { return };
    if needed > capacity {
        let names: Vec<_> = inputs.iter().map(|input| format!("`{}`", unraw_name(input))).collect();
        let names = names.join(" and ");
        errors.at(
            messages,
            format!(
                "this waits for {needed} messages, but the edges to {names} hold {capacity}; give them \
                 `#[capacity(n)]`, {needed} together, or wait for fewer"
            ),
        );
    }
}
