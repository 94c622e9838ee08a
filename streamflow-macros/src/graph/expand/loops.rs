//! Writes the checks of indices, and of loops of edges. Each check is a constant, as those of `assertions.rs`.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::assertion::{Assertions, assertion};
use super::paths::{operator_item, private_call};
use crate::graph::index::{Index, Loop};
use crate::graph::model::{Border, Graph, Node};
use crate::graph::parts::{Port, unraw_name};
use crate::graph::spans::Underline;
use crate::tokens::spelled_tokens;

/// An end of an edge at a port of a node, with the loop around the edge.
pub(super) struct End<'a> {
    pub(super) port: &'a Port,
    pub(super) around: Option<&'a Loop>,
}

impl End<'_> {
    /// Writes the value `Reach { … }`.
    pub(super) fn reach(&self) -> TokenStream {
        reach(self.port.index.as_deref(), self.port.element.as_deref(), self.around)
    }
}

/// Writes the value `Reach { … }` of a port with these indices.
pub(super) fn reach(
    node: Option<&Index>,
    element: Option<&Index>,
    around: Option<&Loop>,
) -> TokenStream {
    let at = |index: &Index| {
        let ((first, _), grows) = (index.reach(around), index.follows_loop());
        quote!((#first, #grows))
    };
    let node = node.map_or_else(|| quote!((0, false)), at);
    let element = match element.map(at) {
        Some(element) => quote!(::core::option::Option::Some(#element)),
        None => quote!(::core::option::Option::None),
    };
    let turns = around.map_or_else(|| quote!(1), Loop::turns);
    quote!(::streamflow::__private::Reach { node: #node, element: #element, turns: #turns })
}

/// Returns all ends of edges at ports of nodes.
pub(super) fn ends(graph: &Graph) -> impl Iterator<Item = End<'_>> {
    let edges = graph.edges.iter().flat_map(|edge| {
        [&edge.output, &edge.input].map(|port| End { port, around: edge.around.as_ref() })
    });
    let discards = graph.discards.iter();
    let discards = discards.map(|it| End { port: &it.output, around: it.around.as_ref() });
    let borders = graph.borders();
    let borders =
        borders.map(|(_, border)| End { port: &border.inner, around: border.around.as_ref() });
    edges.chain(discards).chain(borders)
}

/// Returns the length of an array of nodes.
pub(super) fn length(node: &Node) -> Option<TokenStream> {
    node.array.as_ref().map(|array| array.length.to_token_stream())
}

/// An index of an array, of nodes or of ports.
struct Subscript<'a> {
    index: &'a Index,
    around: Option<&'a Loop>,
    /// The name of the array, and the noun of its elements.
    array: (String, &'static str),
    /// The number of its elements.
    count: TokenStream,
}

impl Subscript<'_> {
    fn array(&self) -> TokenStream {
        let (name, noun) = &self.array;
        quote!((#name, #noun))
    }
}

/// Returns all indices of the graph.
fn subscripts(graph: &Graph) -> impl Iterator<Item = Subscript<'_>> {
    let of_nodes = ends(graph).flat_map(|End { port, around }| {
        let node = graph.nodes.node_of(port);
        let of_node = node.and_then(|node| {
            let (index, array) = (port.index.as_deref()?, (node.unraw_name(), "node"));
            Some(Subscript { index, around, array, count: length(node)? })
        });
        let of_port = node.and_then(|node| {
            let index = port.element.as_deref()?;
            let [inputs, outputs] = ["INPUTS", "OUTPUTS"].map(|name| operator_item(&node.ty, name));
            let name = unraw_name(&port.name);
            let count = quote!(::streamflow::__private::length_of([#inputs, #outputs], #name));
            let array = Port { element: None, ..port.clone() }.to_string();
            Some(Subscript { index, around, array: (array, "element"), count })
        });
        of_node.into_iter().chain(of_port)
    });
    let of_ports = graph.borders().filter_map(|(port, Border { own, around, .. })| {
        let (index, count) = (own.element.as_deref()?, port.declared.length()?.to_token_stream());
        let array = (unraw_name(&port.name), "element");
        Some(Subscript { index, around: around.as_ref(), array, count })
    });
    of_nodes.chain(of_ports)
}

/// Writes the checks of all indices and loops.
pub(super) fn assert_loops(graph: &Graph) -> Assertions {
    let fixed = subscripts(graph).filter(|subscript| !subscript.index.follows_loop());
    let indices = fixed.map(|subscript| assert_index(graph, &subscript));
    let mut loops: BTreeMap<usize, (&Loop, TokenStream)> = BTreeMap::new();
    for around in ends(graph).filter_map(|end| end.around) {
        loops.entry(around.id).or_insert_with(|| (around, TokenStream::new()));
    }
    for subscript in subscripts(graph).filter(|subscript| subscript.index.follows_loop()) {
        let Some((around, turns)) = subscript.around.and_then(|around| loops.get_mut(&around.id))
        else {
            continue;
        };
        let (array, count) = (subscript.array(), &subscript.count);
        let (first, last) = subscript.index.reach(Some(around));
        let written = spelled_tokens(subscript.index.written.to_token_stream());
        turns.extend(quote! {
            ::streamflow::__private::Turns {
                array: #array, count: #count, written: #written, first: #first, last: #last,
            },
        });
    }
    let loops = loops.into_values().map(|(around, turns)| {
        let Loop { start, end, .. } = around;
        let underline = Underline::all(quote!(#start #end));
        let depends = graph.header.depends_in_range(around);
        let check =
            private_call(underline, "check_loop", quote!(#start, #end, #depends, &[#turns]));
        assertion(graph, [("each_turn_is_at_nodes", check)])
    });
    indices.chain(loops).collect()
}

/// Writes the check that an index that is a number is that of an element.
fn assert_index(graph: &Graph, subscript: &Subscript<'_>) -> Assertions {
    let (array, count) = (subscript.array(), &subscript.count);
    let (at, _) = subscript.index.reach(None);
    let args = quote!(#array, #count, #at);
    let check = private_call(Underline::all(&subscript.index.written), "check_index", args);
    let name = match subscript.array.1 {
        "node" => "the_index_is_that_of_a_node",
        _ => "the_index_is_that_of_an_element",
    };
    assertion(graph, [(name, check)])
}
