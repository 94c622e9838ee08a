//! Writes the checks of arrays of nodes, and of loops of edges. Each check is a constant, as those of `assertions.rs`.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::assertion::{Assertions, assertion};
use super::assertions::{connected_ports, node_ports};
use super::borders::{Element, elements};
use super::paths::{operator_item, private_call};
use crate::graph::index::{Index, Loop, Nodes, Place};
use crate::graph::model::{Edge, Graph, Node};
use crate::graph::parts::{Port, Side, unraw_name};
use crate::graph::spans::Underline;
use crate::tokens::spelled_tokens;

/// An end of an edge at a port of a node, with the loop around the edge.
struct End<'a> {
    port: &'a Port,
    around: Option<&'a Loop>,
}

impl End<'_> {
    /// Writes the value `Reach { … }`.
    fn reach(&self) -> Option<TokenStream> {
        let (first, last) = self.port.index.as_ref()?.reach(self.around);
        let times = match self.around {
            Some(around) if !self.port.follows_loop() => around.turns(),
            _ => quote!(1),
        };
        Some(quote!(::streamflow::__private::Reach { first: #first, last: #last, times: #times }))
    }
}

/// Returns all ends of edges at ports of nodes.
fn ends(graph: &Graph) -> impl Iterator<Item = End<'_>> {
    let edges = graph.edges.iter().flat_map(|edge| {
        [&edge.output, &edge.input].map(|port| End { port, around: edge.around.as_ref() })
    });
    let discards = graph.discards.iter();
    let discards = discards.map(|it| End { port: &it.output, around: it.around.as_ref() });
    let borders = graph.borders().map(|(_, border)| End { port: &border.inner, around: None });
    edges.chain(discards).chain(borders)
}

/// Returns the length of an array of nodes.
fn length(node: &Node) -> Option<TokenStream> {
    node.array.as_ref().map(|array| array.length.to_token_stream())
}

/// Writes the checks of all arrays and loops.
pub(super) fn assert_arrays(graph: &Graph) -> Assertions {
    let (header, connected) = (&graph.header, connected_ports(graph));
    let arrays = graph.nodes.iter().enumerate().filter_map(|(index, node)| {
        let length = length(node)?;
        let at_node = |end: &End<'_>| graph.nodes.index_of(end.port) == Some(index);
        let mut ports: BTreeMap<String, TokenStream> = BTreeMap::new();
        let mut depends = header.depends(&length);
        for end in ends(graph).filter(at_node) {
            depends |= end.around.is_some_and(|around| header.depends_in_range(around));
            let reach = end.reach();
            ports.entry(unraw_name(&end.port.name)).or_default().extend(quote!(#reach,));
        }
        let ports = ports.into_iter().map(|(port, reached)| {
            quote!(::streamflow::__private::ReachedPort { port: #port, reached: &[#reached] })
        });
        let this = node_ports(node, connected.get(index)?);
        let args = quote!(&#this, #length, #depends, &[#(#ports,)*]);
        let check = private_call(Underline::one(node.name.span()), "check_array", args);
        Some(assertion(graph, [("each_node_has_its_edges", check)]))
    });
    let indices = ends(graph).filter_map(|end| assert_index(graph, &end));
    let others = [assert_loops(graph), assert_producers(graph), assert_spellings(graph)];
    arrays.chain(indices).chain(others).collect()
}

/// Writes the checks that the indices of an array at the ports of the graph are those of different nodes, or are spelled alike: the
/// code of `borders.rs` takes the ports of each node once.
fn assert_spellings(graph: &Graph) -> Assertions {
    let mut checks = Assertions::default();
    for node in graph.nodes.iter() {
        let (Some(length), array) = (length(node), node.unraw_name()) else { continue };
        let elements = elements(graph, &node.name);
        for (number, this) in elements.iter().enumerate() {
            for before in elements[..number].iter().filter(|it| it.node.may_meet(&this.node)) {
                let value = |Element { index, .. }: &Element<'_>| {
                    let (text, (at, _)) = (index.to_string(), index.reach(None));
                    quote!((#text, #at))
                };
                let (this_value, before) = (value(this), value(before));
                let args = quote!(#array, #length, #this_value, #before);
                let check =
                    private_call(Underline::all(&this.index.written), "check_spelling", args);
                checks.extend([assertion(graph, [("a_node_has_one_spelling", check)])]);
            }
        }
    }
    checks
}

/// Writes the check that an index that is a number is that of a node.
fn assert_index(graph: &Graph, end: &End<'_>) -> Option<Assertions> {
    let Index { written, place, .. } = end.port.index.as_deref()?;
    if matches!(place, Place::FromVariable(_)) {
        return None;
    }
    let node = graph.nodes.node_of(end.port)?;
    let (array, length) = (node.unraw_name(), length(node)?);
    let (at, _) = end.port.index.as_ref()?.reach(None);
    let args = quote!(#array, #length, #at);
    let check = private_call(Underline::all(written), "check_index", args);
    Some(assertion(graph, [("the_index_is_that_of_a_node", check)]))
}

/// Writes a check for each loop: that it has a turn, and that its indices are those of nodes. rustc underlines the range.
fn assert_loops(graph: &Graph) -> Assertions {
    let mut loops: BTreeMap<usize, (&Loop, TokenStream)> = BTreeMap::new();
    for end in ends(graph) {
        let Some(around) = end.around else { continue };
        let (_, turns) = loops.entry(around.id).or_insert_with(|| (around, TokenStream::new()));
        let Some(index) = end.port.index.as_ref().filter(|_| end.port.follows_loop()) else {
            continue;
        };
        let node = graph.nodes.node_of(end.port);
        let Some((node, length)) = node.and_then(|node| Some((node, length(node)?))) else {
            continue;
        };
        let (array, (first, last)) = (node.unraw_name(), index.reach(Some(around)));
        let written = spelled_tokens(index.written.to_token_stream());
        turns.extend(quote! {
            ::streamflow::__private::Turns {
                array: #array, count: #length, written: #written, first: #first, last: #last,
            },
        });
    }
    let assertions = loops.into_values().map(|(around, turns)| {
        let Loop { start, end, .. } = around;
        let underline = Underline::all(quote!(#start #end));
        let depends = graph.header.depends_in_range(around);
        let check =
            private_call(underline, "check_loop", quote!(#start, #end, #depends, &[#turns]));
        assertion(graph, [("each_turn_is_at_nodes", check)])
    });
    assertions.collect()
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
    nodes: Nodes,
    /// The value `Reach { … }` of the edge.
    reach: TokenStream,
    output: String,
    is_border: bool,
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
    let borders = borders.map(|(port, border)| Arrival {
        end: End { port: &border.inner, around: None },
        output: unraw_name(&port.name),
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
        let Some(reach) = end.reach() else { continue };
        let nodes = end.port.nodes(end.around);
        let known = before.entry((name.clone(), port.clone())).or_default();
        // `assert_spellings` compares the edges from ports of the graph.
        let may_meet = |earlier: &&Earlier| {
            earlier.nodes.may_meet(&nodes) && !(is_border && earlier.is_border)
        };
        for Earlier { reach: earlier, output: producer, .. } in known.iter().filter(may_meet) {
            let args = quote!(#name, (#inputs, #port), #reach, #earlier, #producer);
            let check = private_call(underline, "check_second_of_array", args);
            checks.extend([assertion(graph, [("an_input_has_one_producer", check)])]);
        }
        known.push(Earlier { nodes, reach, output, is_border });
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
                edge.around.is_none() && edge.output.index.is_none() && edge.input.index.is_none()
            };
            let meets = |one: &Port, other: &Port| {
                one.nodes(edge.around.as_ref()).may_meet(&other.nodes(earlier.around.as_ref()))
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
    let end = |port: &Port| {
        let grows = port.follows_loop();
        let first = match &port.index {
            Some(index) => index.reach(edge.around.as_ref()).0,
            None => quote!(0),
        };
        quote!((#first, #grows))
    };
    let (output, input) = (end(&edge.output), end(&edge.input));
    let turns = edge.around.as_ref().map_or_else(|| quote!(1), Loop::turns);
    quote!(::streamflow::__private::Turning { output: #output, input: #input, turns: #turns })
}
