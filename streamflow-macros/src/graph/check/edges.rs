//! Makes edges from the edge statements, and checks these edges. The type of an input decides how many edges may lead to it, so
//! that number is checked by a constant, which `expand/assertions.rs` writes.

use std::collections::{HashMap, HashSet};

use proc_macro2::Ident;

use super::borders::{self, Borders};
use super::declarations::{NodeNames, PortNode};
use crate::diagnostic::Errors;
use crate::graph::index::Loop;
use crate::graph::model::{Border, Discard, Edge, Node, Nodes, OwnPort};
use crate::graph::parts::{Carries, End, Param, Pool, Port, Side, Streams, unraw_name};
use crate::graph::places::Places;
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
    let mut own = Borders::new(ports);
    let mut may_connect = |end: &End, errors: &mut Errors| {
        let End::Node(port) = end else { return true };
        match names.find(port, params) {
            PortNode::Declared => fits_array(port, nodes, errors),
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
        let EdgeStatement { mut attributes, around, output, arrow, target } = statement;
        let around = around.as_ref();
        if around.is_some()
            && let Some(initial) = attributes.initial.take()
        {
            errors.at(
                initial,
                "a first message is for one edge; write this edge outside of the loop, with a number as index",
            );
        }
        let has_output = may_connect(&output, errors);
        let (inputs, in_group) = match target {
            Target::Input(input) => (vec![input], false),
            Target::Group(inputs) => (inputs, true),
            Target::Discard(underscore) => {
                match output {
                    End::Node(output) if has_output => {
                        let around = around.cloned();
                        discards.push(Discard { around, output, arrow, underscore });
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
                    if own.lead_to(&input, around) {
                        let text = format!(
                            "the edges from outside are the last of `{input}`; write this one above that from the port of the graph"
                        );
                        errors.at(&input, text);
                    }
                    let around = around.cloned();
                    edges.push(Edge {
                        output,
                        arrow,
                        input,
                        attributes,
                        around,
                        in_group,
                        is_shared: false,
                    });
                }
                (from, to) => {
                    own.add((from, arrow, &to), &attributes, (around, in_group), errors);
                }
            }
        }
    }
    borders::check_repeated(ports, errors);
    mark_shared(&mut edges, ports);
    Connections { edges, discards, unknown_nodes }
}

/// Whether a port has an index if its node is an array, and none if it is a single node. Reports a port that does not.
fn fits_array(port: &Port, nodes: &Nodes, errors: &mut Errors) -> bool {
    let Some(node) = nodes.node_of(port) else { return true };
    let (name, input) = (node.unraw_name(), &port.name);
    match (&port.index, node.element()) {
        (None, Some(_)) => {
            let text = format!(
                "`{name}` is an array of nodes; write `{name}[0].{input}`, or `{name}[i].{input}` in `for i in 0..n {{ … }}`"
            );
            errors.at(&port.node, text);
            false
        }
        (Some(index), None) => {
            errors.at(index, format!("`{name}` is a single node, and has no index; remove it"));
            false
        }
        (None, None) | (Some(_), Some(_)) => true,
    }
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
    // The readers of each output, by the name of its node and its own; of a graph's output, without a loop.
    let mut readers: HashMap<(String, String), Vec<Reader>> = HashMap::new();
    let mut exports: HashMap<(String, String), Vec<Reader>> = HashMap::new();
    let key = |output: &Port| (unraw_name(&output.node), unraw_name(&output.name));
    for edge in edges.iter().filter(|edge| !edge.attributes.has_copy()) {
        let is_repeated = edge.around.is_some() && !edge.output.follows_loop();
        let reader = Reader { places: edge.output.places(edge.around.as_ref()), is_repeated };
        readers.entry(key(&edge.output)).or_default().push(reader);
    }
    for border in borders::borders(ports, Side::Output) {
        let reader = Reader { places: border.inner_places(), is_repeated: false };
        exports.entry(key(&border.inner)).or_default().push(reader);
    }
    let met = |all: &HashMap<_, Vec<Reader>>, output: &Port, places: &Places| {
        let readers = all.get(&key(output)).into_iter().flatten();
        let readers = readers.filter(|reader| reader.places.may_meet(places));
        readers.map(|reader| if reader.is_repeated { 2 } else { 1 }).sum::<usize>()
    };
    for edge in edges {
        let (output, places) = (&edge.output, edge.output.places(edge.around.as_ref()));
        edge.is_shared = met(&readers, output, &places) + met(&exports, output, &places) > 1;
    }
    for port in ports {
        let own: Vec<Places> = port.borders.iter().map(Border::own_places).collect();
        for (border, here) in port.borders.iter_mut().zip(&own) {
            border.is_shared = match port.side {
                // Of two outputs of the graph that are one output of a node, the second is a mistake.
                Side::Output => met(&readers, &border.inner, &border.inner_places()) > 0,
                Side::Input => own.iter().filter(|other| other.may_meet(here)).nth(1).is_some(),
            };
        }
    }
}

/// A reader of an output, or of several outputs of one name.
struct Reader {
    places: Places,
    /// Whether the edge is in a loop, and begins at one and the same output in each turn.
    is_repeated: bool,
}

/// Reports a `#[transfer]` on an edge where it would copy nothing: to an adopting node, which has no device of its own, or
/// between nodes on one pool.
pub(super) fn check_transfers(
    edges: &[Edge],
    nodes: &Nodes,
    (pools, has_ports): (&[Pool], bool),
    errors: &mut Errors,
) {
    for edge in edges.iter().filter(|edge| edge.attributes.carries == Carries::Transfer) {
        if has_ports {
            let text = "the nodes inside of a graph with ports are on one device, that of the node which the graph is: there is \
                        nothing to transfer; write `#[transfer]` at an edge outside, or `#[copy]` here";
            errors.at(edge.underlined_tokens(), text);
            continue;
        }
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
        let Edge { output, input, around, .. } = edge;
        let range = around.as_ref().map(Loop::text);
        if !seen.insert((output.to_string(), input.to_string(), range)) {
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
    let key = |output: &Port| (unraw_name(&output.node), unraw_name(&output.name));
    let mut known: HashMap<(String, String), Vec<(Places, bool)>> = HashMap::new();
    let of_edges = edges.iter().map(|edge| (&edge.output, edge.around.as_ref()));
    let of_ports = borders::borders(ports, Side::Output);
    let of_ports = of_ports.map(|border| (&border.inner, border.around.as_ref()));
    for (output, around) in of_edges.chain(of_ports) {
        known.entry(key(output)).or_default().push((output.places(around), true));
    }
    for discard in discards {
        let output = &discard.output;
        let here = output.places(discard.around.as_ref());
        let before = known.entry(key(output)).or_default();
        // Constants of different names may be those of other nodes.
        let mut met = before.iter().filter(|(places, _)| places.surely_meet(&here));
        match met.next() {
            Some((_, true)) => {
                let text =
                    format!("`{output}` has a consumer, so it is not discarded; remove this line");
                errors.at(discard.underlined_tokens(), text);
            }
            Some((_, false)) => {
                errors.at(discard.underlined_tokens(), format!("`{output}` is discarded already"));
            }
            None => before.push((here, false)),
        }
    }
}
