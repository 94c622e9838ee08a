//! What nodes may be named, and which of them are meant.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;
use syn::Type;
use syn::ext::IdentExt;

use crate::diagnostic::{Errors, similar};
use crate::graph::model::{Graph, Node, Port};

/// Names that the struct has beside those of its nodes.
const OF_GRAPH: &[&str] = &["new", "run", "nodes", "platform", "MERMAID", "DOT"];

/// Names of fields and constants that the expansion has. Such a node is left out.
const HIDDEN: &[&str] = &["__platform", "__sized", "__GREEN", "__ALONE"];

/// What nodes there are.
#[derive(Default)]
pub(super) struct Names {
    pub(super) all: HashSet<String>,
    /// Declared, but wrongly: edges to them can't be checked, and are no further mistake.
    pub(super) without_type: HashSet<String>,
}

impl Names {
    /// Whether the name is new.
    pub(super) fn declare(&mut self, name: &Ident, errors: &mut Errors) -> bool {
        let text = name.unraw().to_string();
        if HIDDEN.contains(&text.as_str()) {
            errors.at(
                name,
                format!("a node cannot be named `{text}`: the graph has that name for itself"),
            );
            self.all.insert(text.clone());
            self.without_type.insert(text);
            return false;
        }
        let new = self.all.insert(text.clone());
        if !new {
            errors.at(name, format!("node `{text}` is declared twice; give one another name"));
        }
        new
    }
}

/// The graph's struct stands beside its operators.
pub(super) fn hides_operator(graph: &mut Graph, errors: &mut Errors) {
    let name = &graph.header.name;
    for node in &graph.nodes {
        if matches!(&node.ty, Type::Path(path) if path.path.is_ident(name)) {
            let text =
                format!("`{name}` is this graph, and not an operator; give one another name");
            errors.at(&node.ty, text);
            graph.hides_operator = true;
        }
    }
}

/// The struct's methods are named after its nodes.
pub(super) fn accessors(graph: &mut Graph, errors: &mut Errors) {
    let names: HashSet<String> = graph.nodes.iter().map(Node::text).collect();
    for node in &mut graph.nodes {
        let name = node.text();
        let text = if OF_GRAPH.contains(&name.as_str()) {
            format!("a node cannot be named `{name}`: the graph has that name for itself")
        } else if let Some(other) = name.strip_suffix("_mut").filter(|name| names.contains(*name)) {
            format!(
                "node `{name}` has the name of the method that lends node `{other}`; give one \
                 another name"
            )
        } else {
            continue;
        };
        errors.at(&node.name, text);
        node.has_methods = false;
    }
}

/// Beside a `compile_error!`, rustc does not tell which names it can't find.
pub(super) fn unknown_nodes(graph: &Graph, errors: &mut Errors) {
    let nodes: Vec<String> = graph.nodes.iter().map(Node::text).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    for name in &graph.unknown_nodes {
        let hint = match similar(&name.to_string(), &nodes) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("declare it: `let {name}: Operator = …;`"),
        };
        errors.at(name, format!("there is no node `{name}` in this graph; {hint}"));
    }
}

/// The nodes by their names, where `r#camera` is `camera`.
pub(super) fn declared(graph: &Graph) -> HashMap<String, Ident> {
    graph.nodes.iter().map(|node| (node.text(), node.name.clone())).collect()
}

/// Spells the node of a port as its declaration does.
pub(super) fn as_declared(port: &mut Port, declared: &HashMap<String, Ident>) {
    if let Some(name) = declared.get(&port.node.unraw().to_string()) {
        let place = port.node.span();
        port.node = name.clone();
        port.node.set_span(place);
    }
}
