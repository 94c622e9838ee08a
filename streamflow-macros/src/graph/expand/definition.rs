//! Writes the graph's struct.

use proc_macro2::TokenStream;
use quote::quote;

use super::checked::node_type;
use crate::graph::model::Graph;
use crate::tokens::braced;

/// Writes `pub struct Name { … }`, with a field for each node.
pub(super) fn expand_struct(graph: &Graph, mermaid: &str) -> TokenStream {
    let header = &graph.header;
    let (attributes, visibility, name) = (&header.attributes, &header.visibility, &header.name);
    let keyword = &header.keyword;
    let nodes = graph.nodes.iter().map(|node| {
        let (name, node) = (&node.name, node_type(header, node));
        quote!(#name: #node)
    });
    let picture = format!("\n```mermaid\n{mermaid}```");
    let fields = quote! {
        #(#nodes,)*
        __streamflow: ::streamflow::__private::GraphParts,
    };
    // The braces have the span of the struct's name: rustc shows it if another item has the same name.
    let fields = braced(name.span(), fields);
    quote! {
        #(#attributes)*
        #[doc = #picture]
        #visibility #keyword #name #fields
    }
}
