//! Makes the identifiers that only the expansion uses, and those of the graph's fields.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::ext::IdentExt;

use crate::graph::model::{Graph, Node};
use crate::graph::spans::first_and_last;

/// Returns an identifier of the expansion. Its hygiene makes it differ from every name of the user, even from one that is spelled
/// alike.
pub(super) fn hygienic(name: &str, index: usize) -> Ident {
    format_ident!("__{}_{}", name, index, span = Span::mixed_site())
}

/// Returns a name of the expansion, as `Preprocess_New`.
pub(in crate::graph) fn named(graph: &Graph, end: &str) -> Ident {
    let name = &graph.header.name;
    format_ident!("{}{end}", name.unraw(), span = name.span())
}

/// Returns the name of the variable for the platform. It is not `platform`, since a node may have that name.
pub(super) fn hygienic_platform() -> Ident {
    Ident::new("__streamflow_platform", Span::mixed_site())
}

/// Returns the name of the variable for the `SingleStream` that all nodes share.
pub(super) fn single_stream() -> Ident {
    Ident::new("__single_stream", Span::mixed_site())
}

/// Returns the name of the variable for the parameters of all nodes.
pub(super) fn graph_params() -> Ident {
    Ident::new("__streamflow_params", Span::mixed_site())
}

/// Returns the name of the variable for the inside of a graph with ports: its path, and the options that its nodes take over.
pub(super) fn inside() -> Ident {
    Ident::new("__inside", Span::mixed_site())
}

/// Returns the name of the variable for the options of the node that a graph with ports is.
pub(super) fn options() -> Ident {
    Ident::new("__options", Span::mixed_site())
}

/// Returns the name of the variable for the path of a graph with ports.
pub(super) fn path() -> Ident {
    Ident::new("__path", Span::mixed_site())
}

/// Returns the name of the pool for nodes without `#[streams]` in a graph with green contexts. It names a constant, or a variable
/// in `new`.
pub(super) fn green() -> Ident {
    Ident::new("__GREEN", Span::mixed_site())
}

/// Returns the name of the variable for a feedback edge's first message. It has the span of the user's expression unchanged,
/// since rustc's message else mentions the macro.
pub(super) fn first_message(index: usize, span: Span) -> Ident {
    format_ident!("__initial_{}", index, span = span)
}

/// Returns the node's name as the name of a field. It has the span of the node's type: rustc reports a mistake in that type
/// there, in the same words for each use of the field, and prints equal reports once.
pub(super) fn field(node: &Node) -> Ident {
    let (_, last) = first_and_last(&node.ty);
    let mut name = node.name.clone();
    name.set_span(name.span().located_at(last));
    name
}

/// Returns an identifier of the expansion that the code of one item alone uses.
pub(super) fn mixed(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
