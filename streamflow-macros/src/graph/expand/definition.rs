//! Writes the graph's struct.

use proc_macro2::TokenStream;
use quote::quote;

use super::checked::node_type;
use super::diagram::Diagram;
use crate::graph::model::Graph;
use crate::tokens::braced;

/// Writes `pub struct Name { … }`, with a field for each node.
///
/// The last field has a type without parameters: with the type of a node there, rustc would need to know while it decides whether
/// that type is an operator whether this graph has a size, and so whether the type is an operator (E0391).
pub(super) fn expand_struct(
    graph: &Graph,
    diagram: &Diagram,
    port_table: &TokenStream,
) -> TokenStream {
    let header = &graph.header;
    let (attributes, visibility, name) = (&header.attributes, &header.visibility, &header.name);
    let (keyword, generics) = (&header.keyword, &header.generics);
    let clauses = &generics.where_clause;
    let nodes = graph.nodes.iter().map(|node| {
        let (name, node) = (&node.name, node_type(header, node));
        quote!(#name: #node)
    });
    let picture = format!("\n```mermaid\n{}```", diagram.mermaid());
    // A graph with ports has no run of its own, and keeps its path in the graph around it.
    let own = match graph.has_ports() {
        true => quote!(::std::string::String),
        false => quote!(::streamflow::__private::GraphParts),
    };
    // Without this field, a type parameter that only expressions name would be unused.
    let marker = header.is_generic().then(|| {
        let marker = header.marker();
        quote!(__marker: #marker,)
    });
    let fields = quote!(#(#nodes,)* #marker __streamflow: #own,);
    // The braces have the span of the struct's name: rustc shows it if another item has the same name.
    let fields = braced(name.span(), fields);
    quote! {
        #(#attributes)*
        #port_table
        #[doc = #picture]
        #visibility #keyword #name #generics #clauses #fields
    }
}
