//! Checks the edges: their nodes, that none is there twice, and what is discarded. How many producers an input may
//! have, its type decides: see `expand::assertions`.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;

use super::declarations::NodeNames;
use crate::diagnostic::Errors;
use crate::graph::model::{Carries, Discard, Edge, Node, Nodes, Param, Port, Streams, unraw_name};
use crate::graph::syntax::{EdgeStatement, Target};

/// The edge statements, one edge for each input.
#[derive(Default)]
pub(super) struct Connections {
    pub(super) edges: Vec<Edge>,
    pub(super) discards: Vec<Discard>,
    /// Nodes that are named, but not declared.
    pub(super) unknown_nodes: Vec<Ident>,
}

/// Divides the statements into edges, without those whose nodes are left out.
pub(super) fn connect(
    statements: Vec<EdgeStatement>,
    nodes: &Nodes,
    names: &NodeNames,
    params: &[Param],
    errors: &mut Errors,
) -> Connections {
    let mut connections = Connections::default();
    for mut statement in statements {
        statement.ports_mut().for_each(|port| spell_as_declared(port, nodes));
        let EdgeStatement { attributes, output, arrow, target } = statement;
        let Connections { edges, discards, unknown_nodes } = &mut connections;
        let mut has_node = |port: &Port| {
            let node = unraw_name(&port.node);
            if names.left_out.contains(&node) {
                return false;
            }
            if !names.declared.contains(&node) {
                if params.iter().any(|param| param.name == port.node) || port.node == "platform" {
                    let text = format!("`{node}` is a parameter of this graph, not a node");
                    errors.at(&port.node, text);
                    return false;
                }
                unknown_nodes.push(port.node.clone());
            }
            true
        };
        let output_has_node = has_node(&output);
        let (inputs, in_group) = match target {
            Target::Discard(underscore) => {
                if output_has_node {
                    discards.push(Discard { output, arrow, underscore });
                }
                continue;
            }
            Target::Input(input) => (vec![input], false),
            Target::Group(inputs) => (inputs, true),
        };
        for input in inputs {
            if has_node(&input) && output_has_node {
                let (output, attributes) = (output.clone(), attributes.clone());
                edges.push(Edge { output, arrow, input, attributes, in_group, is_shared: false });
            }
        }
    }
    mark_shared(&mut connections.edges);
    connections
}

/// Spells the node of a port as in its declaration, with or without `r#`.
fn spell_as_declared(port: &mut Port, nodes: &Nodes) {
    if let Some(node) = nodes.node_of(port) {
        let span = port.node.span();
        port.node = node.name.clone();
        port.node.set_span(span);
    }
}

fn mark_shared(edges: &mut [Edge]) {
    let mut consumers: HashMap<String, usize> = HashMap::new();
    for edge in &*edges {
        if edge.attributes.carries == Carries::Message {
            *consumers.entry(edge.output.to_string()).or_default() += 1;
        }
    }
    for edge in edges {
        edge.is_shared = consumers.get(&edge.output.to_string()).is_some_and(|&count| count > 1);
    }
}

/// A transfer copies to the device of the consumer, which must have one of its own.
pub(super) fn check_transfers(edges: &[Edge], nodes: &Nodes, errors: &mut Errors) {
    for edge in edges.iter().filter(|edge| edge.attributes.carries == Carries::Transfer) {
        let Some(Node { name, attributes, .. }) = nodes.node_of(&edge.input) else { continue };
        if matches!(attributes.streams, Streams::None) {
            let text = format!(
                "`#[transfer]` copies to the device of `{name}`, but `{name}` is marked \
                 `#[streams(none)]`: it works where its message is; name a pool there"
            );
            errors.at(edge.underlined_tokens(), text);
        }
    }
}

/// No edge is there twice.
pub(super) fn check_duplicates(edges: &[Edge], errors: &mut Errors) {
    let mut seen = HashSet::new();
    for edge in edges {
        let Edge { output, input, .. } = edge;
        if !seen.insert((output.to_string(), input.to_string())) {
            let text = format!("this edge is there already; `{output}` feeds `{input}` once");
            errors.at(edge.underlined_tokens(), text);
        }
    }
}

/// An output is discarded once, and only if it has no consumers.
pub(super) fn check_discards(discards: &[Discard], edges: &[Edge], errors: &mut Errors) {
    let consumed: HashSet<String> = edges.iter().map(|edge| edge.output.to_string()).collect();
    let mut discarded = HashSet::new();
    for discard in discards {
        let output = discard.output.to_string();
        let text = if consumed.contains(&output) {
            format!("`{output}` has a consumer, so it is not discarded; remove this line")
        } else if !discarded.insert(output.clone()) {
            format!("`{output}` is discarded already")
        } else {
            continue;
        };
        errors.at(discard.underlined_tokens(), text);
    }
}
