//! Writes the ports of a graph with ports: each is the port of a node inside, to which an edge in the graph leads.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::idents;
use super::paths::private_call;
use super::wiring::{bind_node, borrow_port};
use crate::graph::index::{Index, Nodes};
use crate::graph::model::{Border, Graph, Node, OwnPort};
use crate::graph::parts::{Port, Side, unraw_name};

/// Writes the body of `ports`: the ports of the nodes, each as the port of the graph that it is.
pub(super) fn expand_borders(graph: &Graph) -> TokenStream {
    let (name, ports) = (&graph.header.name, idents::named(graph, "_Ports"));
    let path = idents::path();
    let is_named = |node: &Ident| {
        graph.borders().any(|(_, border)| unraw_name(&border.inner.node) == unraw_name(node))
    };
    // All nodes are bound if one is unknown, so that rustc can propose a similar name for the unknown one.
    let nodes = graph.nodes.iter().filter(|node| graph.has_unknown_nodes || is_named(&node.name));
    let nodes: Vec<_> = nodes.collect();
    let fields = nodes.iter().map(|node| idents::field(node));
    let bound = nodes.iter().map(|node| match node.element() {
        Some(_) => bind_elements(graph, node),
        None => bind_node(graph, node),
    });
    let values = graph.ports.iter().filter(|port| !port.borders.is_empty()).map(|port| {
        let (name, mut borders) = (&port.name, port.borders.iter());
        let first = borders.next().map(|border| expand_border(graph, port, border));
        // An output has one border.
        let all = borders.fold(quote!(#first), |all, border| {
            let other = expand_border(graph, port, border);
            quote!(::streamflow::__private::both(#all, #other))
        });
        quote!(#name: #all)
    });
    let is_whole = graph.ports.iter().all(|port| !port.borders.is_empty());
    let value = match is_whole {
        true => quote!(#ports { #(#values,)* __streamflow: ::core::marker::PhantomData }),
        false => quote!(loop {}),
    };
    quote! {
        let #name { #(#fields,)* __streamflow: #path, .. } = &mut **self;
        let #path: &::core::primitive::str = #path;
        #(#bound)*
        #value
    }
}

/// Writes `import(&mut node.input, …)` or `export(&mut node.output, …)`. rustc underlines a mistake at the edge.
fn expand_border(graph: &Graph, port: &OwnPort, border: &Border) -> TokenStream {
    let function = match (port.side, border.is_shared) {
        (Side::Input, false) => "import",
        (Side::Input, true) => "import_shared",
        (Side::Output, false) => "export",
        (Side::Output, true) => "export_shared",
    };
    let Port { node, dot, name, index } = &border.inner;
    let inner = match index {
        Some(_) => {
            let (lead, element) =
                (quote_spanned!(node.span()=> &mut), element(graph, &border.inner));
            quote!(#lead #element #dot #name)
        }
        None => borrow_port(&border.inner),
    };
    let at = match index.as_ref().map(|index| &index.written) {
        Some(at) => quote!(::core::option::Option::Some(#at)),
        None => quote!(::core::option::Option::None),
    };
    let (path, node, name) = (idents::path(), unraw_name(node), unraw_name(name));
    let end = quote!(::streamflow::__private::InnerEnd::new(#path, #node, #at, #name));
    private_call(border.underline(port.side), function, quote!(#inner, #end))
}

/// A node of an array, with a port that is a port of the graph.
pub(super) struct Element<'a> {
    pub(super) node: Nodes,
    pub(super) index: &'a Index,
}

/// Returns the nodes of an array that have ports of the graph. A constant of `arrays.rs` checks that indices in which the macro sees
/// different nodes are those of different nodes.
pub(super) fn elements<'a>(graph: &'a Graph, array: &Ident) -> Vec<Element<'a>> {
    let mut elements: Vec<Element<'a>> = Vec::new();
    for (_, Border { inner, .. }) in graph.borders() {
        let node = inner.nodes(None);
        if unraw_name(&inner.node) == unraw_name(array)
            && let Some(index) = &inner.index
            && elements.iter().all(|known| known.node != node)
        {
            elements.push(Element { node, index });
        }
    }
    elements
}

/// Returns the name of the variable for the ports of one node of an array.
fn element_name(array: &Ident, number: usize) -> Ident {
    format_ident!("__{}_{}", array.unraw(), number, span = Span::mixed_site())
}

/// Returns the name of the variable for the ports of the node of an array at which a port is.
fn element(graph: &Graph, port: &Port) -> Option<Ident> {
    let node = port.nodes(None);
    let elements = elements(graph, &port.node);
    let number = elements.iter().position(|known| known.node == node)?;
    let mut name = element_name(&port.node, number);
    name.set_span(name.span().located_at(port.node.span()));
    Some(name)
}

/// Writes a variable for the ports of each node of an array that a port of the graph is a port of. A port of the graph borrows for
/// longer than an element of a slice can be borrowed.
fn bind_elements(graph: &Graph, node: &Node) -> TokenStream {
    let (field, all) = (idents::field(node), Ident::new("__all", Span::mixed_site()));
    let elements = elements(graph, &node.name);
    let elements = elements.iter().enumerate().map(|(number, Element { index, .. })| {
        let (name, at) = (element_name(&node.name, number), &index.written);
        quote!(let mut #name = ::streamflow::__private::take_ports(&mut #all, #at);)
    });
    let ports = match node.element().filter(|element| graph.header.is_param(element)) {
        Some(element) => {
            quote!(|__node| <#element>::interface(__node, ::streamflow::__private::Wiring))
        }
        None => quote!(::streamflow::__private::ports),
    };
    quote! {
        let mut #all = ::streamflow::__private::each_ports(#field, #ports);
        #(#elements)*
    }
}
