//! Identifiers of the expansion.

use proc_macro2::{Ident, Span};
use quote::format_ident;

use crate::graph::model::Node;
use crate::graph::spans::first_and_last;

/// An identifier of the expansion. It differs from every name of the user, even if both are spelled alike.
pub(super) fn hygienic(name: &str, index: usize) -> Ident {
    format_ident!("__{}_{}", name, index, span = Span::mixed_site())
}

/// The variable for the platform. It is not named `platform`, because a node may have that name.
pub(super) fn hygienic_platform() -> Ident {
    Ident::new("__streamflow_platform", Span::mixed_site())
}

/// The variable for the `SingleStream` that all nodes share.
pub(super) fn single_stream() -> Ident {
    Ident::new("__single_stream", Span::mixed_site())
}

/// The variable for the parameters of all nodes.
pub(super) fn graph_params() -> Ident {
    Ident::new("__streamflow_params", Span::mixed_site())
}

/// The name of the pool that each node without `#[streams]` has in a graph with green contexts: a constant, or a variable.
pub(super) fn green() -> Ident {
    Ident::new("__GREEN", Span::mixed_site())
}

/// Returns the name of a feedback edge's first message. The name has the span of the user's expression, unchanged:
/// rustc then does not mention the macro.
pub(super) fn first_message(index: usize, span: Span) -> Ident {
    format_ident!("__initial_{}", index, span = span)
}

/// Returns the node's name as a field. The name has the span of the type: rustc reports a mistake of the type there,
/// in the same words for each use of the field, and prints equal reports once.
pub(super) fn field(node: &Node) -> Ident {
    let (_, last) = first_and_last(&node.ty);
    let mut name = node.name.clone();
    name.set_span(name.span().located_at(last));
    name
}
