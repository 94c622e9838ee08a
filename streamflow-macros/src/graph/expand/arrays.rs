//! Writes the checks that each element of an array, of nodes or of ports, has its edges. Each check is a constant, as those of
//! `assertions.rs`.

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::assertion::{Assertions, assertion};
use super::assertions::{connected_ports, node_ports};
use super::loops::{End, ends, length};
use super::paths::{operator_item, private_call};
use crate::graph::index::Loop;
use crate::graph::model::{Edge, Graph};
use crate::graph::parts::{Port, Side, unraw_name};
use crate::graph::places::Places;
use crate::graph::spans::Underline;

/// Writes the checks of all arrays.
pub(super) fn assert_arrays(graph: &Graph) -> Assertions {
    let (header, connected) = (&graph.header, connected_ports(graph));
    let with_elements = ends(graph).filter(|end| end.port.element.is_some());
    let with_elements: HashSet<usize> =
        with_elements.filter_map(|end| graph.nodes.index_of(end.port)).collect();
    let arrays = graph.nodes.iter().enumerate().filter_map(|(index, node)| {
        let at_node = |end: &End<'_>| graph.nodes.index_of(end.port) == Some(index);
        let count = match length(node) {
            Some(length) => quote!(::core::option::Option::Some(#length)),
            None => quote!(::core::option::Option::None),
        };
        if node.array.is_none() && !with_elements.contains(&index) {
            return None;
        }
        let mut ports: BTreeMap<String, TokenStream> = BTreeMap::new();
        let mut depends = header.depends(&count);
        for end in ends(graph).filter(at_node) {
            depends |= end.around.is_some_and(|around| header.depends_in_range(around));
            let reach = end.reach();
            ports.entry(unraw_name(&end.port.name)).or_default().extend(quote!(#reach,));
        }
        let ports = ports.into_iter().map(|(port, reached)| {
            quote!(::streamflow::__private::ReachedPort { port: #port, reached: &[#reached] })
        });
        let this = node_ports(node, connected.get(index)?);
        let args = quote!(&#this, #count, #depends, &[#(#ports,)*]);
        let check = private_call(Underline::one(node.name.span()), "check_array", args);
        Some(assertion(graph, [("each_node_has_its_edges", check)]))
    });
    arrays.chain([assert_producers(graph)]).collect()
}

/// An edge to a port of a node, with what its check needs.
struct Arrival<'a> {
    end: End<'a>,
    output: String,
    underline: Underline,
    is_border: bool,
}

/// An edge to a port of an array that comes before another one.
struct Earlier {
    places: Places,
    /// The value `Reach { … }` of the edge.
    reach: TokenStream,
    output: String,
    is_border: bool,
}

fn is_single(port: &Port) -> bool {
    port.indices().next().is_none()
}

/// Writes the checks that no input has several edges, for edges to arrays and in loops, and that no edge is there twice.
fn assert_producers(graph: &Graph) -> Assertions {
    let mut before: HashMap<(String, String), Vec<Earlier>> = HashMap::new();
    let mut checks = Assertions::default();
    let edges = graph.edges.iter().map(|edge| Arrival {
        end: End { port: &edge.input, around: edge.around.as_ref() },
        output: edge.output.to_string(),
        underline: edge.underline(),
        is_border: false,
    });
    let borders = graph.borders().filter(|(port, _)| port.side == Side::Input);
    let borders = borders.map(|(_, border)| Arrival {
        end: End { port: &border.inner, around: border.around.as_ref() },
        output: border.own.to_string(),
        underline: border.underline(Side::Input),
        is_border: true,
    });
    for Arrival { end, output, underline, is_border } in edges.chain(borders) {
        let Some(node) = graph.nodes.node_of(end.port) else { continue };
        let inputs = operator_item(&node.ty, "INPUTS");
        let (name, port) = (node.unraw_name(), unraw_name(&end.port.name));
        if let Some(Loop { start, end: last, .. }) = end.around
            && !end.port.follows_loop()
        {
            let text = end.port.to_string();
            let args = quote!(#text, #inputs, #port, #start, #last);
            let check = private_call(underline, "check_edges_of_loop", args);
            checks.extend([assertion(graph, [("each_turn_has_an_input", check)])]);
        }
        if is_single(end.port) {
            continue;
        }
        let (reach, places) = (end.reach(), end.port.places(end.around));
        let (is_array, known) =
            (node.array.is_some(), before.entry((name.clone(), port.clone())).or_default());
        // `assert_borders` of `own_ports.rs` compares the edges from ports of the graph.
        let may_meet = |earlier: &&Earlier| {
            earlier.places.may_meet(&places) && !(is_border && earlier.is_border)
        };
        for Earlier { reach: earlier, output: producer, .. } in known.iter().filter(may_meet) {
            let args = quote!((#name, #is_array), (#inputs, #port), #reach, #earlier, #producer);
            let check = private_call(underline, "check_second_of_array", args);
            checks.extend([assertion(graph, [("an_input_has_one_producer", check)])]);
        }
        known.push(Earlier { places, reach, output, is_border });
    }
    checks.extend([assert_different_edges(graph)]);
    checks
}

/// Writes the checks that no edge is there twice, for edges of arrays and in loops. The macro compares the others.
fn assert_different_edges(graph: &Graph) -> Assertions {
    let name = |port: &Port| (unraw_name(&port.node), unraw_name(&port.name));
    let mut before: HashMap<_, Vec<&Edge>> = HashMap::new();
    let mut checks = Assertions::default();
    for edge in &graph.edges {
        let known = before.entry((name(&edge.output), name(&edge.input))).or_default();
        let text = edge.to_string();
        if let Some(Loop { start, end, .. }) = &edge.around
            && !edge.output.follows_loop()
            && !edge.input.follows_loop()
        {
            let check =
                private_call(edge.underline(), "check_one_turn", quote!(#text, #start, #end));
            checks.extend([assertion(graph, [("the_edge_is_there_once", check)])]);
        }
        for earlier in &*known {
            let is_single = |edge: &Edge| {
                let ends = [&edge.output, &edge.input];
                edge.around.is_none() && ends.iter().all(|port| is_single(port))
            };
            let meets = |one: &Port, other: &Port| {
                one.places(edge.around.as_ref()).may_meet(&other.places(earlier.around.as_ref()))
            };
            let may_be_same =
                meets(&edge.output, &earlier.output) && meets(&edge.input, &earlier.input);
            if may_be_same && !(is_single(edge) && is_single(earlier)) {
                let (this, that) = (turning(edge), turning(earlier));
                let args = quote!(#text, #this, #that);
                let check = private_call(edge.underline(), "check_same_edge", args);
                checks.extend([assertion(graph, [("the_edge_is_there_once", check)])]);
            }
        }
        known.push(edge);
    }
    checks
}

/// Writes the value `Turning { … }` of an edge.
fn turning(edge: &Edge) -> TokenStream {
    let around = edge.around.as_ref();
    let [output, input] = [&edge.output, &edge.input].map(|port| End { port, around }.reach());
    quote!(::streamflow::__private::Turning { output: #output, input: #input })
}
