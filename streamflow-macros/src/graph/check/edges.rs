//! Makes edges from the edge statements, and checks these edges. The type of an input decides how many edges may lead to it, so
//! that number is checked by a constant, which `expand/assertions.rs` writes.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;

use super::declarations::{NodeNames, PortNode};
use super::ports::{self, Borders, inner_ports};
use crate::diagnostic::Errors;
use crate::graph::model::{Discard, Edge, Node, Nodes, OwnPort};
use crate::graph::parts::{Carries, End, Param, Pool, Port, Side, Streams, unraw_name};
use crate::graph::syntax::{EdgeStatement, Target};

/// The edges and discards that the edge statements declare. Each edge leads to one input.
pub(super) struct Connections {
    pub(super) edges: Vec<Edge>,
    pub(super) discards: Vec<Discard>,
    /// The names of unknown nodes in edge statements. See "An unknown node" in `graph/mod.rs`.
    pub(super) unknown_nodes: Vec<Ident>,
}

/// Divides the edge statements into edges with one input each. An edge is left out if one of its nodes is left out, or if a
/// parameter of the graph stands in place of a node.
pub(super) fn connect(
    statements: Vec<EdgeStatement>,
    nodes: &Nodes,
    names: &NodeNames,
    params: &[Param],
    ports: &mut [OwnPort],
    errors: &mut Errors,
) -> Connections {
    let (mut edges, mut discards, mut unknown_nodes) = (Vec::new(), Vec::new(), Vec::new());
    let mut borders = Borders::new(ports);
    let mut may_connect = |end: &End, errors: &mut Errors| {
        let End::Node(port) = end else { return true };
        match names.find(port, params) {
            PortNode::Declared => true,
            PortNode::Unknown => {
                unknown_nodes.push(port.node.clone());
                true
            }
            PortNode::LeftOut => false,
            PortNode::Param => {
                let name = unraw_name(&port.node);
                errors.at(&port.node, format!("`{name}` is a parameter of this graph, not a node"));
                false
            }
        }
    };
    for mut statement in statements {
        statement.ports_mut().for_each(|port| spell_as_declared(port, nodes));
        let EdgeStatement { attributes, output, arrow, target } = statement;
        let has_output = may_connect(&output, errors);
        let (inputs, in_group) = match target {
            Target::Input(input) => (vec![input], false),
            Target::Group(inputs) => (inputs, true),
            Target::Discard(underscore) => {
                match output {
                    End::Node(output) if has_output => {
                        discards.push(Discard { output, arrow, underscore });
                    }
                    End::Node(_) => {}
                    End::Own(own) => errors.at(
                        &own,
                        format!(
                            "`{own}` is a port of this graph; an output of a node is discarded"
                        ),
                    ),
                }
                continue;
            }
        };
        for input in inputs {
            if !may_connect(&input, errors) || !has_output {
                continue;
            }
            match (&output, input) {
                (End::Node(output), End::Node(input)) => {
                    let (output, attributes) = (output.clone(), attributes.clone());
                    let is_shared = false;
                    edges.push(Edge { output, arrow, input, attributes, in_group, is_shared });
                }
                (from, to) => borders.add((from, arrow, &to), &attributes, in_group, errors),
            }
        }
    }
    ports::check(ports, errors);
    mark_shared(&mut edges, ports);
    Connections { edges, discards, unknown_nodes }
}

/// Spells the node of a port as its declaration does, with or without `r#`.
fn spell_as_declared(port: &mut Port, nodes: &Nodes) {
    if let Some(node) = nodes.node_of(port) {
        let span = port.node.span();
        port.node = node.name.clone();
        port.node.set_span(span);
    }
}

/// Sets `is_shared` in each edge whose output sends the same message, without a copy, to several inputs. An output of the graph is a
/// reader of the output inside, and the inputs inside share the message of an input of the graph.
fn mark_shared(edges: &mut [Edge], ports: &mut [OwnPort]) {
    let mut consumers: HashMap<String, usize> = HashMap::new();
    let of_edges = edges.iter().filter(|edge| !edge.attributes.has_copy());
    let of_edges = of_edges.map(|edge| edge.output.to_string());
    let of_ports = inner_ports(ports, Side::Output).map(|(inner, _)| inner.to_string());
    for output in of_edges.chain(of_ports) {
        *consumers.entry(output).or_default() += 1;
    }
    let is_shared =
        |output: &Port| consumers.get(&output.to_string()).is_some_and(|&count| count > 1);
    for edge in edges {
        edge.is_shared = is_shared(&edge.output);
    }
    for port in ports {
        let several = port.borders.len() > 1;
        for border in &mut port.borders {
            border.is_shared = match port.side {
                Side::Output => is_shared(&border.inner),
                Side::Input => several,
            };
        }
    }
}

/// Reports a `#[transfer]` on an edge where it would copy nothing: to an adopting node, which has no device of its own, or
/// between nodes on one pool.
pub(super) fn check_transfers(edges: &[Edge], nodes: &Nodes, pools: &[Pool], errors: &mut Errors) {
    for edge in edges.iter().filter(|edge| edge.attributes.carries == Carries::Transfer) {
        let Some(Node { name, attributes, .. }) = nodes.node_of(&edge.input) else { continue };
        // For pools that are constants, `check_transfer` of the library reports such an edge, since it also knows their devices.
        let of_run = pools.iter().filter(|pool| pool.is_made_by_run);
        let producer = nodes.node_of(&edge.output);
        let shared = of_run.filter(|pool| producer.is_some_and(|node| node.is_on(pool)));
        if let Some(Pool { name: pool, .. }) = shared
            .into_iter()
            .find(|pool| matches!(&attributes.streams, Streams::Pool(of) if *of == pool.name))
        {
            let text = format!(
                "both ends of this edge are on pool `{pool}`, so on one device: there is nothing to \
                 transfer; remove `#[transfer]`"
            );
            errors.at(edge.underlined_tokens(), text);
        }
        if matches!(attributes.streams, Streams::Adopt) {
            let text = format!(
                "`#[transfer]` copies to the device of `{name}`, but `{name}` is marked \
                 `#[streams(none)]`: it works where its message is; name a pool there"
            );
            errors.at(edge.underlined_tokens(), text);
        }
    }
}

/// Reports each edge that is in the graph a second time.
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

/// Reports outputs that are discarded twice, and outputs that are discarded although an edge leads from them.
pub(super) fn check_discards(
    discards: &[Discard],
    edges: &[Edge],
    ports: &[OwnPort],
    errors: &mut Errors,
) {
    let exported = inner_ports(ports, Side::Output).map(|(inner, _)| inner);
    let consumed = edges.iter().map(|edge| &edge.output).chain(exported);
    let consumed: HashSet<String> = consumed.map(ToString::to_string).collect();
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
