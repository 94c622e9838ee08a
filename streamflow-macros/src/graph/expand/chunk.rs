//! Chunks of a few nodes: the code of each runs in a closure, in a stack frame of its own.
//!
//! In a single function, each of a thousand values would have its own bytes on the stack. And each of a thousand calls
//! that may panic would need code that drops all values before it: rustc's time would grow with the square of the
//! number of nodes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::again::again;
use super::conditions::{self, make_conditions};
use super::idents::{self, hygienic};
use super::paths::{operator_call, operator_item};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{OnFailure, Streams};
use crate::graph::spans::first_and_last;

/// How many nodes, or edges, are made in one closure.
pub(super) const SIZE: usize = 16;

/// A closure, and its call. It runs the statements, which may use `?` on any error, and returns the value.
fn run_apart(ty: &TokenStream, statements: &TokenStream, value: &TokenStream) -> TokenStream {
    quote! {
        ::streamflow::__private::apart(|| -> ::core::result::Result<#ty, ::streamflow::__private::Failure> {
            #statements
            ::core::result::Result::Ok(#value)
        })?
    }
}

/// Runs statements that return no value, in chunks.
pub(super) fn run_in_chunks(statements: &[TokenStream]) -> TokenStream {
    let chunks = statements.chunks(SIZE);
    chunks
        .map(|statements| {
            let apart = run_apart(&quote!(()), &statements.iter().cloned().collect(), &quote!(()));
            quote!(#apart;)
        })
        .collect()
}

/// Some of the nodes.
pub(super) struct Chunk<'a> {
    /// The index of this chunk.
    index: usize,
    /// The nodes, each with its index in the graph.
    nodes: Vec<(usize, &'a Node)>,
}

/// Divides the nodes into chunks.
pub(super) fn divide_nodes(graph: &Graph) -> Vec<Chunk<'_>> {
    let nodes: Vec<(usize, &Node)> = graph.nodes.iter().enumerate().collect();
    let chunks = nodes.chunks(SIZE).enumerate();
    chunks.map(|(index, nodes)| Chunk { index, nodes: nodes.to_vec() }).collect()
}

impl Chunk<'_> {
    /// Evaluates the values of its nodes' conditions, in a box as well. Nothing without conditions.
    pub(super) fn make_conditions(&self) -> Option<TokenStream> {
        let mut made = Vec::new();
        for (_, node) in &self.nodes {
            made.extend(make_conditions(node));
        }
        let value = quote!(::std::boxed::Box::new((#(#made,)*)));
        let apart = run_apart(&quote!(_), &TokenStream::new(), &value);
        let conditions = hygienic("all_conditions", self.index);
        (!made.is_empty()).then(|| quote!(let #conditions = #apart;))
    }

    /// Takes the conditions out of their box.
    fn take_conditions_out(&self) -> Option<TokenStream> {
        let has_conditions = |node: &Node| !node.attributes.conditions.is_empty();
        let nodes = self.nodes.iter().filter(|(_, node)| has_conditions(node));
        let names: Vec<Ident> = nodes.map(|&(index, _)| hygienic("conditions", index)).collect();
        let conditions = hygienic("all_conditions", self.index);
        (!names.is_empty()).then(|| quote!(let (#(#names,)*) = *#conditions;))
    }

    /// Evaluates the user's expressions for its nodes: the operators and the counts. They are in a box, so that the
    /// stack frame of `new` holds only its address.
    pub(super) fn evaluate_values(&self) -> TokenStream {
        let values = self.nodes.iter().map(|&(index, node)| {
            let (operator, ty, value) = (hygienic("operator", index), &node.ty, &node.value);
            let count = node.attributes.count.as_ref().map(|number| {
                let count = hygienic("count", index);
                let (first, _) = first_and_last(number);
                let ty = quote_spanned!(first=> ::core::primitive::u64);
                quote!(let #count: #ty = #number;)
            });
            let value = match again(index, node) {
                Some(again) => quote!(#again()?),
                None => value.to_token_stream(),
            };
            let restart = evaluate_restart(index, node);
            quote! {
                let #operator: #ty = #value;
                #count
                #restart
            }
        });
        let (made, names) = (hygienic("values", self.index), self.value_names());
        let apart =
            run_apart(&quote!(_), &values.collect(), &quote!(::std::boxed::Box::new(#names)));
        quote!(let #made = #apart;)
    }

    /// The operators and counts, as a tuple.
    fn value_names(&self) -> TokenStream {
        let names = self.nodes.iter().map(|&(index, node)| {
            let (operator, count) = (hygienic("operator", index), hygienic("count", index));
            let count = node.attributes.count.is_some().then(|| quote!(#count,));
            let restart = again(index, node).map(|_| {
                let (most, back_off) = restart_names(index);
                quote!(#most, #back_off,)
            });
            quote!(#operator, #count #restart)
        });
        quote!((#(#names)*))
    }

    /// Makes the nodes from their operators, each in a box.
    ///
    /// The closure returns them in a struct: rustc then reports a mistake of an operator's type where a field names
    /// the type, and not where the type is inferred.
    pub(super) fn make_nodes(
        &self,
        graph: &Graph,
        platform: &Ident,
        live_pools: &[Ident],
    ) -> TokenStream {
        let (values, names) = (hygienic("values", self.index), self.value_names());
        let holder = hygienic("Nodes", self.index);
        let types = self.nodes.iter().map(|(_, node)| {
            let (field, ty) = (idents::field(node), operator_item(&node.ty, "__Node"));
            quote!(#field: #ty)
        });
        let made = self.nodes.iter().map(|&(index, node)| {
            let (operator, field) = (hygienic("operator", index), idents::field(node));
            let (ty, text) = (&node.ty, node.unraw_name());
            let ports = operator_call(ty, "__ports", TokenStream::new());
            let options = node_options(graph, index, node, live_pools);
            let args = quote!(#operator, #ports, #text, #platform, #options);
            let made = operator_call(ty, "__node", args);
            let end = quote_spanned!(first_and_last(ty).1=> ?);
            match again(index, node) {
                Some(again) => {
                    quote!(#field: ::streamflow::__private::restarting(#made #end, #again))
                }
                None => quote!(#field: #made #end),
            }
        });
        let made = quote!(#holder { #(#made,)* __sized: () });
        let conditions = self.take_conditions_out();
        let taken = quote!(#conditions let #names = *#values;);
        let apart = run_apart(&holder.to_token_stream(), &taken, &made);
        let nodes = hygienic("nodes", self.index);
        // The last field of a struct decides whether its size is known. A field whose type is no operator would make
        // rustc report the size, too, at each use of the struct.
        quote! {
            #[allow(non_camel_case_types, dead_code)]
            struct #holder { #(#types,)* __sized: () }
            let mut #nodes = #apart;
        }
    }

    /// Binds each node's name to its ports, `let a = &mut a.ports;`. With this binding, the `a.out` of an edge is the
    /// field `out` of these ports.
    pub(super) fn borrow_ports(&self) -> TokenStream {
        let (holder, nodes) = (hygienic("Nodes", self.index), hygienic("nodes", self.index));
        let ports = self.nodes.iter().map(|(_, node)| {
            let (name, field) = (&node.name, idents::field(node));
            let ports = quote_spanned!(field.span()=> &mut #field.ports);
            quote! {
                #[allow(unused_variables)]
                let #name = #ports;
            }
        });
        let fields = self.fields();
        quote! {
            let #holder { #(#fields,)* .. } = &mut #nodes;
            #(#ports)*
        }
    }

    /// Takes the nodes out of the struct, under the names of its fields.
    pub(super) fn take_nodes_out(&self) -> TokenStream {
        let (holder, nodes) = (hygienic("Nodes", self.index), hygienic("nodes", self.index));
        let fields = self.fields();
        quote!(let #holder { #(#fields,)* .. } = #nodes;)
    }

    /// The fields of its nodes.
    pub(super) fn fields(&self) -> Vec<Ident> {
        self.nodes.iter().map(|(_, node)| idents::field(node)).collect()
    }
}

/// The names of the values of `#[on_failure(restart(most, back_off))]`.
fn restart_names(index: usize) -> (Ident, Ident) {
    (hygienic("most", index), hygienic("back_off", index))
}

/// Evaluates the values of `#[on_failure(restart(most, back_off))]`.
fn evaluate_restart(index: usize, node: &Node) -> Option<TokenStream> {
    let Some(OnFailure::Restart { most, back_off }) = &node.attributes.on_failure else {
        return None;
    };
    let (most_name, back_off_name) = restart_names(index);
    let most_type = quote_spanned!(first_and_last(most).0=> ::core::primitive::u32);
    let back_off = conditions::duration(back_off);
    Some(quote! {
        let #most_name: #most_type = #most;
        let #back_off_name = #back_off;
    })
}

/// `OnFailure::…`
fn on_failure(index: usize, node: &Node) -> TokenStream {
    let policy = match &node.attributes.on_failure {
        None | Some(OnFailure::Stop) => quote!(Stop),
        Some(OnFailure::Skip) => quote!(Skip),
        Some(OnFailure::Restart { .. }) => {
            let (most, back_off) = restart_names(index);
            quote!(Restart { most: #most, back_off: #back_off })
        }
    };
    quote!(::streamflow::__private::OnFailure::#policy)
}

/// `NodeOptions { … }`
fn node_options(graph: &Graph, index: usize, node: &Node, live_pools: &[Ident]) -> TokenStream {
    let streams = match &node.attributes.streams {
        Streams::OwnPool if graph.header.green_contexts.is_some() => quote!(Own(&__GREEN)),
        Streams::OwnPool => quote!(Default),
        Streams::Adopt => quote!(None),
        Streams::Pool(name) => {
            let live = graph.pools.iter().zip(live_pools).find(|(pool, _)| pool.name == *name);
            match live {
                Some((_, live)) => quote!(Pool(&#live)),
                None => quote!(Default),
            }
        }
    };
    let count = match &node.attributes.count {
        Some(_) => {
            let count = hygienic("count", index);
            quote!(::core::option::Option::Some(#count))
        }
        None => quote!(::core::option::Option::None),
    };
    let on_failure = on_failure(index, node);
    let (single_stream, graph_params) = (idents::single_stream(), idents::graph_params());
    let conditions = match node.attributes.conditions[..] {
        [] => quote!(::core::option::Option::None),
        _ => {
            let conditions = hygienic("conditions", index);
            quote!(::core::option::Option::Some(#conditions))
        }
    };
    quote! {
        ::streamflow::__private::NodeOptions {
            streams: ::streamflow::__private::NodeStreams::#streams,
            count: #count,
            conditions: #conditions,
            on_failure: #on_failure,
            single_stream: &#single_stream,
            params: &#graph_params,
        }
    }
}
