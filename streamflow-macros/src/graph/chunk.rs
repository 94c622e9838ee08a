//! The nodes, made in parts.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::constants;
use super::expand::{at_type, hidden};
use super::model::{Graph, Node, Streams};

/// How many nodes are made in one function.
const NODES_OF_CHUNK: usize = 16;

/// Some of the nodes. Their ports, and they themselves, are made in a closure and held in one variable: in one
/// function, each of a thousand calls that may panic would be followed by what is to be dropped then, and
/// rustc would need a time that grows with the square of the number of nodes.
pub(super) struct Chunk<'a> {
    index: usize,
    /// With their places in the graph.
    nodes: Vec<(usize, &'a Node)>,
}

pub(super) fn chunks(graph: &Graph) -> Vec<Chunk<'_>> {
    let nodes: Vec<(usize, &Node)> = graph.nodes.iter().enumerate().collect();
    let chunks = nodes.chunks(NODES_OF_CHUNK).enumerate();
    chunks.map(|(index, nodes)| Chunk { index, nodes: nodes.to_vec() }).collect()
}

impl Chunk<'_> {
    /// A struct that holds something of each node: what is wrong with an operator's type is told at the type.
    fn holder(&self, name: &Ident, of_operator: &str) -> TokenStream {
        let fields = self.nodes.iter().map(|(_, node)| {
            let (field, ty) =
                (at_type(&node.name, &node.ty), constants::item(&node.ty, of_operator));
            quote!(#field: #ty)
        });
        // On the last field hangs whether the size is known: with a type that is no operator it is not, and would
        // be told in many places.
        quote!(struct #name { #(#fields,)* __sized: () })
    }

    /// The ports of its nodes, lent under the nodes' names.
    pub(super) fn ports(&self) -> TokenStream {
        let (ports, holder) = (hidden("ports", self.index), hidden("Ports", self.index));
        let definition = self.holder(&holder, "Ports");
        let made = self.nodes.iter().map(|(_, node)| {
            let made = constants::item_call(&node.ty, "__ports", TokenStream::new());
            let field = at_type(&node.name, &node.ty);
            quote!(#field: #made)
        });
        let lent = self.nodes.iter().map(|(_, node)| {
            let (field, name) = (at_type(&node.name, &node.ty), &node.name);
            quote! {
                #[allow(unused_variables)]
                let #name = #field;
            }
        });
        let names = self.names();
        quote! {
            #[allow(non_camel_case_types, dead_code)]
            #definition
            let mut #ports = (|| #holder { #(#made,)* __sized: () })();
            let #holder { #(#names,)* .. } = &mut #ports;
            #(#lent)*
        }
    }

    /// The nodes, made of their operators and ports.
    pub(super) fn nodes(
        &self,
        graph: &Graph,
        platform: &Ident,
        live_pools: &[Ident],
    ) -> TokenStream {
        let (ports, nodes) = (hidden("ports", self.index), hidden("nodes", self.index));
        let (holder, of_ports) = (hidden("Nodes", self.index), hidden("Ports", self.index));
        let names = self.names();
        let definition = self.holder(&holder, "__Node");
        let made = self.nodes.iter().map(|&(index, node)| {
            let (operator, field) = (hidden("operator", index), at_type(&node.name, &node.ty));
            let (ty, text) = (&node.ty, node.text());
            let options = options(graph, index, node, live_pools);
            let args = quote!(#operator, #field, #text, #platform, #options);
            let made = constants::item_call(ty, "__node", args);
            let end = quote_spanned!(constants::ends(ty.to_token_stream()).1=> ?);
            quote!(#field: #made #end)
        });
        quote! {
            #[allow(non_camel_case_types, dead_code)]
            #definition
            let #nodes = (|| -> ::streamflow::__private::Result<#holder> {
                let #of_ports { #(#names,)* .. } = #ports;
                ::core::result::Result::Ok(#holder { #(#made,)* __sized: () })
            })()?;
        }
    }

    /// The nodes out of their holder, under their names.
    pub(super) fn taken_out(&self) -> TokenStream {
        let (holder, nodes) = (hidden("Nodes", self.index), hidden("nodes", self.index));
        let names = self.names();
        quote!(let #holder { #(#names,)* .. } = #nodes;)
    }

    pub(super) fn names(&self) -> Vec<Ident> {
        self.nodes.iter().map(|(_, node)| at_type(&node.name, &node.ty)).collect()
    }
}

fn options(graph: &Graph, index: usize, node: &Node, live_pools: &[Ident]) -> TokenStream {
    let streams = match &node.streams {
        Streams::Default if graph.header.green.is_some() => quote!(Own(&__GREEN)),
        Streams::Default => quote!(Default),
        Streams::None => quote!(None),
        Streams::Pool(name) => {
            let live = graph.pools.iter().zip(live_pools).find(|(pool, _)| pool.name == *name);
            match live {
                Some((_, live)) => quote!(Pool(&#live)),
                None => quote!(Default),
            }
        }
    };
    let count = match &node.count {
        Some(_) => {
            let count = hidden("count", index);
            quote!(::core::option::Option::Some(#count))
        }
        None => quote!(::core::option::Option::None),
    };
    let stream_done = node.stream_done.iter().map(constants::text);
    let alone = constants::alone_name();
    quote! {
        ::streamflow::__private::NodeOptions {
            streams: ::streamflow::__private::NodeStreams::#streams,
            count: #count,
            stream_done: &[#(#stream_done,)*],
            alone: &#alone,
        }
    }
}
