//! Draws the graph as a diagram, in the languages of Mermaid and of Graphviz (DOT).

use std::fmt::Write;

use proc_macro2::Ident;
use syn::ext::IdentExt;

use crate::graph::model::{Discard, Edge, Graph, Node};
use crate::graph::parts::{Carries, Port, Streams};
use crate::tokens::spelled;

/// Words that Mermaid does not accept as the name of a node.
const RESERVED_BY_MERMAID: &[&str] = &[
    "call",
    "class",
    "classdef",
    "click",
    "default",
    "direction",
    "end",
    "flowchart",
    "graph",
    "href",
    "interpolate",
    "linkstyle",
    "style",
    "subgraph",
];

/// Draws a Mermaid flow chart from left to right. The nodes are in a box for each pool, and each edge has the names of its ports.
pub(in crate::graph) fn draw_mermaid(graph: &Graph) -> String {
    let mut text = String::from("flowchart LR\n");
    // Writing to a `String` does not fail.
    let write_node = |text: &mut String, indent: &str, node: &Node| {
        let label = escape_label(&label(node));
        let _ = writeln!(text, "{indent}{}[\"{label}\"]", mermaid_id(node));
    };
    for (pool, nodes) in nodes_by_pool(graph) {
        match pool {
            Some(pool) => {
                let _ = writeln!(text, "    subgraph pool_{pool}[\"{pool}\"]");
                nodes.iter().for_each(|node| write_node(&mut text, "        ", node));
                text.push_str("    end\n");
            }
            None => nodes.iter().for_each(|node| write_node(&mut text, "    ", node)),
        }
    }
    for (edge, producer, consumer) in edges(graph) {
        let (from, to) = (mermaid_id(producer), mermaid_id(consumer));
        let _ = writeln!(text, "    {from} -- \"{}\" --> {to}", edge_label(edge));
    }
    for (index, (discard, producer)) in discards(graph).enumerate() {
        let (from, port) = (mermaid_id(producer), port_label(&discard.output));
        let _ = writeln!(text, "    {from} -- \"{port}\" --> {index}_((\" \"))");
    }
    text
}

/// Draws the diagram for Graphviz, with the same boxes, nodes and edges as for Mermaid.
pub(in crate::graph) fn draw_dot(graph: &Graph) -> String {
    let name = &graph.header.name;
    let mut text = format!("digraph \"{name}\" {{\n    rankdir=LR;\n    node [shape=box];\n");
    let write_node = |text: &mut String, indent: &str, node: &Node| {
        let label = label(node).replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "{indent}\"{}\" [label=\"{label}\"];", node.unraw_name());
    };
    for (pool, nodes) in nodes_by_pool(graph) {
        match pool {
            Some(pool) => {
                let _ = writeln!(text, "    subgraph \"cluster_{pool}\" {{");
                let _ = writeln!(text, "        label=\"{pool}\";");
                nodes.iter().for_each(|node| write_node(&mut text, "        ", node));
                text.push_str("    }\n");
            }
            None => nodes.iter().for_each(|node| write_node(&mut text, "    ", node)),
        }
    }
    for (edge, producer, consumer) in edges(graph) {
        let (from, to) = (producer.unraw_name(), consumer.unraw_name());
        let _ = writeln!(text, "    \"{from}\" -> \"{to}\" [label=\"{}\"];", edge_label(edge));
    }
    for (index, (discard, producer)) in discards(graph).enumerate() {
        let (from, port) = (producer.unraw_name(), port_label(&discard.output));
        let _ = writeln!(text, "    \"{index}_\" [shape=point, label=\"\"];");
        let _ = writeln!(text, "    \"{from}\" -> \"{index}_\" [label=\"{port}\"];");
    }
    text.push_str("}\n");
    text
}

/// Returns the nodes of each pool in running order. The last group has the nodes without `#[streams]` and the adopting nodes.
/// Pools without nodes are left out.
fn nodes_by_pool(graph: &Graph) -> Vec<(Option<&Ident>, Vec<&Node>)> {
    let pools = graph.pools.iter().map(Some).chain([None]);
    pools
        .map(|pool| {
            let is_member = |node: &&Node| match pool {
                Some(pool) => node.is_on(pool),
                None => !matches!(node.attributes.streams, Streams::Pool(_)),
            };
            let nodes = graph.order.iter().map(|&index| &graph.nodes[index]);
            (pool.map(|pool| &pool.name), nodes.filter(is_member).collect())
        })
        .filter(|(_, nodes): &(_, Vec<&Node>)| !nodes.is_empty())
        .collect()
}

/// Returns the edges, each with its two nodes. Edges of unknown nodes are left out.
fn edges(graph: &Graph) -> impl Iterator<Item = (&Edge, &Node, &Node)> {
    graph.edges.iter().filter_map(|edge| {
        Some((edge, graph.nodes.node_of(&edge.output)?, graph.nodes.node_of(&edge.input)?))
    })
}

fn discards(graph: &Graph) -> impl Iterator<Item = (&Discard, &Node)> {
    graph
        .discards
        .iter()
        .filter_map(|discard| Some((discard, graph.nodes.node_of(&discard.output)?)))
}

/// Returns the label of a node: `source1: Source`, or `writer: Writer (worker disk)`.
fn label(node: &Node) -> String {
    let worker = node.attributes.worker.as_ref();
    let worker = worker.map(|name| format!(" (worker {})", name.unraw())).unwrap_or_default();
    format!("{}: {}{worker}", node.unraw_name(), spelled(&node.ty))
}

/// Returns the label of an edge: `image → in1`.
fn edge_label(edge: &Edge) -> String {
    let copy = match edge.attributes.carries {
        Carries::Message => "",
        Carries::Copy => " (copy)",
        Carries::Transfer => " (transfer)",
    };
    let feedback = if edge.attributes.initial.is_some() { " (next tick)" } else { "" };
    format!("{} → {}{copy}{feedback}", port_label(&edge.output), port_label(&edge.input))
}

/// Returns the name of a port, with its index in an array of ports.
fn port_label(port: &Port) -> String {
    let index = port.element.as_ref().map(|index| index.to_string()).unwrap_or_default();
    format!("{}{index}", port.name.unraw())
}

fn mermaid_id(node: &Node) -> String {
    let name = node.unraw_name();
    if RESERVED_BY_MERMAID.contains(&name.to_lowercase().as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

/// Replaces the characters that have a meaning in a Mermaid label by their codes.
fn escape_label(text: &str) -> String {
    text.replace('#', "#35;").replace('<', "#lt;").replace('>', "#gt;").replace('"', "#quot;")
}
