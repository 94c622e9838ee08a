//! Checks the names of the nodes.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::Type;
use syn::ext::IdentExt;

use crate::diagnostic::{Errors, similar};
use crate::graph::model::Node;
use crate::graph::parts::Header;
use crate::tokens::spelled;

/// The names of fields and methods that a graph's struct has in any case.
const OF_GRAPH: &[&str] = &[
    "new",
    "run",
    "run_for",
    "tick",
    "end_run",
    "spawn",
    "workers",
    "nodes",
    "platform",
    "params",
    "load_params",
    "load_params_str",
    "handle",
    "diagram",
];

/// Reports nodes whose operator has the name of the graph, and returns whether there are any. The graph's struct would shadow the
/// operator.
pub(super) fn check_graph_name(
    graph: &Ident,
    has_ports: bool,
    nodes: &[Node],
    errors: &mut Errors,
) -> bool {
    let mut shadows_operator = false;
    for node in nodes {
        let ty = node.element().unwrap_or(&node.ty);
        if matches!(ty, Type::Path(path) if path.path.is_ident(graph)) {
            let text = match has_ports {
                true => format!(
                    "graph `{graph}` contains itself, as node `{}`: it would have no end; name another graph or operator",
                    node.unraw_name()
                ),
                false => {
                    format!("`{graph}` is this graph, and not an operator; give one another name")
                }
            };
            errors.at(ty, text);
            shadows_operator = true;
        }
    }
    shadows_operator
}

/// Reports nodes with the name of a constant parameter, and type parameters that are types of nodes and have no interface. Returns
/// whether there are any: the graph can't be expanded then.
pub(super) fn check_parameters(header: &Header, nodes: &[Node], errors: &mut Errors) -> bool {
    let mut is_unknown = false;
    for node in nodes {
        if header.generics.const_params().any(|param| param.ident.unraw() == node.name.unraw()) {
            let text = format!(
                "`{}` is a constant of this graph already; give the node another name",
                node.unraw_name()
            );
            errors.at(&node.name, text);
            is_unknown = true;
        }
        let ty = node.element().unwrap_or(&node.ty);
        if header.is_param(ty) && !header.may_have_interface(ty) {
            let (name, text) = (node.unraw_name(), spelled(ty));
            let text = format!(
                "type parameter `{text}` has no interface, so node `{name}` has no ports; write `{text}: Interface`, and declare that by \
                 `operator_interface!`"
            );
            errors.at(ty, text);
            is_unknown = true;
        }
    }
    is_unknown
}

/// Reports nodes whose accessor methods, `name` and `name_mut`, would collide with other items of the graph. The expansion gives
/// these nodes no accessors.
pub(super) fn check_accessors(nodes: &mut [Node], errors: &mut Errors) {
    let names: HashSet<String> = nodes.iter().map(Node::unraw_name).collect();
    for node in nodes {
        let name = node.unraw_name();
        let text = if OF_GRAPH.contains(&name.as_str()) {
            format!(
                "a node cannot be named `{name}`: the graph has that name for itself; give the node another one"
            )
        } else if let Some(other) = name.strip_suffix("_mut").filter(|name| names.contains(*name)) {
            format!(
                "node `{name}` has the name of the method that lends node `{other}`; give one \
                 another name"
            )
        } else {
            continue;
        };
        errors.at(&node.name, text);
        node.has_accessors = false;
    }
}

/// Reports unknown nodes in a graph that has another mistake. See "An unknown node" in `graph/mod.rs`.
pub(super) fn report_unknown_nodes(unknown: &[Ident], nodes: &[Node], errors: &mut Errors) {
    let nodes: Vec<String> = nodes.iter().map(Node::unraw_name).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    for name in unknown {
        let hint = match similar(&name.to_string(), &nodes) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("declare it: `let {name}: Operator = …;`"),
        };
        errors.at(name, format!("there is no node `{name}` in this graph; {hint}"));
    }
}
