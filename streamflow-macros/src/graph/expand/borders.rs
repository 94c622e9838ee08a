//! Writes the ports of a graph with ports: each is the port of a node inside, by an edge in the graph.
//!
//! The port of a graph borrows for as long as the nodes inside are borrowed, and a port of a node can be borrowed for that long only
//! once. So the code first lends each port that an edge names to a variable. The variable for an array of nodes is a list. The edges
//! then take the ports from these variables, in any order, also in loops.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::idents::{self, mixed};
use super::paths::private_call;
use super::wiring::{at_element, borrow_port, in_loop, ports_of};
use crate::graph::model::{Border, Graph, OwnPort};
use crate::graph::parts::{OwnEnd, Port, Side, unraw_name};
use crate::graph::spans::Underline;

/// Writes the body of `ports`: the ports of the nodes, each as the port of the graph that it is.
pub(super) fn expand_borders(graph: &Graph) -> TokenStream {
    let (name, ports, own) = (&graph.header.name, idents::named(graph, "_Ports"), own());
    let path = idents::path();
    let is_named = |node: &Ident| {
        graph.borders().any(|(_, border)| unraw_name(&border.inner.node) == unraw_name(node))
    };
    // All nodes are bound if one is unknown, so that rustc can propose a similar name for the unknown one.
    let nodes = graph.nodes.iter().filter(|node| graph.has_unknown_nodes || is_named(&node.name));
    let nodes: Vec<_> = nodes.collect();
    let fields = nodes.iter().map(|node| idents::field(node));
    let bound = nodes.iter().map(|node| {
        let (name, ports) = (&node.name, ports_of(graph, node));
        quote!(let mut #name = #ports;)
    });
    let lent = lend_ports(graph);
    let values = graph.ports.iter().map(|port| {
        let (name, open) = (&port.name, quote!(::streamflow::__private::Exported::open));
        match port.declared.length() {
            Some(_) => quote!(#name: ::core::array::from_fn(#open),),
            None => quote!(#name: #open(0),),
        }
    });
    let borders = graph
        .borders()
        .map(|(port, border)| in_loop(border.around.as_ref(), expand_border(port, border)));
    quote! {
        let #name { #(#fields,)* __streamflow: #path, .. } = &mut **self;
        let #path: &::core::primitive::str = #path;
        #(#bound)*
        #(#lent)*
        let mut #own: <Self as ::streamflow::__private::MadeNode>::Ports<'_> = #ports { #(#values)* __streamflow: ::core::marker::PhantomData };
        #(#borders)*
        #own
    }
}

/// Returns the name of the variable for the ports of the graph.
fn own() -> Ident {
    mixed("__own")
}

/// Returns the name of the variable for a port of a node, or for a list of these. The length of the node's name makes the names of all
/// ports different ones. Its span is that of the user's token, so that rustc underlines the port.
fn lent_name(port: &Port) -> Ident {
    let (node, name) = (port.node.unraw(), port.name.unraw());
    let (length, span) = (node.to_string().len(), port.name.span().resolved_at(port.node.span()));
    format_ident!("__{length}_{node}_{name}", span = span)
}

/// Writes the variables for the ports of nodes at the edges. rustc reports a port that a node does not have.
fn lend_ports(graph: &Graph) -> impl Iterator<Item = TokenStream> {
    let mut nodes: BTreeMap<String, BTreeMap<String, &Port>> = BTreeMap::new();
    for (_, Border { inner, .. }) in graph.borders() {
        let ports = nodes.entry(unraw_name(&inner.node)).or_default();
        ports.entry(unraw_name(&inner.name)).or_insert(inner);
    }
    nodes.into_values().map(|ports| {
        let names = ports.values().map(|port| lent_name(port));
        let names: Vec<Ident> = names.collect();
        let ports: Vec<&Port> = ports.into_values().collect();
        match ports.first() {
            Some(Port { node, index: Some(_), .. }) => {
                let (each, at) = (mixed("__each"), mixed("__at"));
                let lent = ports.iter().map(|port| {
                    let Port { dot, name, .. } = port;
                    let lead = quote_spanned!(name.span()=> &mut);
                    lend(port, quote!(#lead #each #dot #name), Some(&at))
                });
                quote! {
                    #(let mut #names = ::std::vec::Vec::new();)*
                    for (#at, mut #each) in ::core::iter::Iterator::enumerate(#node.into_iter()) {
                        #(#names.push(#lent);)*
                    }
                }
            }
            _ => {
                let lent = ports.iter().map(|port| {
                    let single = Port { element: None, ..(*port).clone() };
                    lend(port, borrow_port(&single), None)
                });
                quote!(#(let mut #names = #lent;)*)
            }
        }
    })
}

/// Writes `lend(port, Some(end))`, where `at` is the index of the node in an array.
fn lend(port: &Port, borrowed: TokenStream, at: Option<&Ident>) -> TokenStream {
    let (path, node, name) = (idents::path(), unraw_name(&port.node), unraw_name(&port.name));
    let at = match at {
        Some(at) => quote!(::core::option::Option::Some(#at)),
        None => quote!(::core::option::Option::None),
    };
    let end = quote!(::streamflow::__private::InnerEnd::new(#path, #node, #at, #name));
    let args = quote!(#borrowed, ::core::option::Option::Some(#end));
    private_call(Underline::one(port.name.span()), "lend", args)
}

/// Writes `add(&mut own.input, import(&mut node_input))` or `add(&mut own.output, export(&mut node_output))`. rustc underlines a mistake at
/// the edge.
fn expand_border(port: &OwnPort, border: &Border) -> TokenStream {
    let function = match (port.side, border.is_shared) {
        (Side::Input, false) => "import",
        (Side::Input, true) => "import_shared",
        (Side::Output, false) => "export",
        (Side::Output, true) => "export_shared",
    };
    let Port { node, index, element, .. } = &border.inner;
    let variable = lent_name(&border.inner);
    let lead = quote_spanned!(node.span()=> &mut);
    let inner = at_element(quote!(#lead #variable #index), element.as_deref());
    let inner = private_call(border.underline(port.side), function, inner);
    let (own, OwnEnd { element, .. }, name) = (own(), &border.own, &port.name);
    let port = at_element(quote!(&mut #own.#name), element.as_deref());
    quote!(::streamflow::__private::Exported::add(#port, #inner);)
}
