//! Writes the code that makes the nodes from the operators, counts and conditions that the code of `chunk.rs` has evaluated.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::again::again;
use super::checked::{node_type, value_type};
use super::chunk::{Chunk, restart_names};
use super::functions::{Argument, Function};
use super::idents::{self, hygienic, hygienic_platform};
use super::paths::{operator_call, parenthesized};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{OnFailure, Streams, unraw_name};
use crate::graph::spans::first_and_last;

impl Chunk<'_> {
    /// Writes a function, and its call, that makes the nodes of this chunk and returns them in boxes.
    ///
    /// The nodes are in a struct `Nodes`. Its fields name the operators' types, so rustc reports a mistake in a type there, and
    /// not where the type is inferred.
    ///
    /// While the function makes the nodes, they are `Option`s in a struct `Begun`, and a failed call returns `false`. So wherever
    /// a call fails or panics, only this one value is dropped. With a `?` after each node instead, every `?` would need its own
    /// code to drop all nodes before it. The fields of `Begun` are in reverse order, so that the node that was made last is
    /// dropped first.
    pub(super) fn make_nodes(&self, graph: &Graph, live_pools: &[Ident]) -> TokenStream {
        let holder = hygienic("Nodes", self.index);
        let (begun, made) = (hygienic("Begun", self.index), hygienic("made", self.index));
        let complete = hygienic("complete", self.index);
        let typed =
            |(_, node): &(usize, &Node)| (idents::field(node), node_type(&graph.header, node));
        let types = self.nodes.iter().map(typed).map(|(field, ty)| quote!(#field: #ty));
        let options = self.nodes.iter().rev().map(|node| {
            let ((field, ty), span) = (typed(node), last_span(node.1));
            let option = quote_spanned!(span=> ::core::option::Option);
            quote_spanned!(span=> #field: #option<#ty>)
        });
        let nones = self.nodes.iter().rev().map(|(_, node)| {
            let (field, span) = (idents::field(node), last_span(node));
            quote_spanned!(span=> #field: ::core::option::Option::None)
        });
        let fields: Vec<Ident> = self.fields();
        let somes = self.nodes.iter().map(|(_, node)| {
            let (field, span) = (idents::field(node), last_span(node));
            quote_spanned!(span=> #field: ::core::option::Option::Some(#field))
        });
        let calls =
            self.nodes.iter().map(|&(index, node)| make_node(graph, index, node, live_pools));
        let (making, failed) = (making(), failed());
        let (take_conditions_out, taken) = (self.take_conditions_out(), self.take_values_out());
        let generics = &graph.header.generics;
        let (marker, (_, type_arguments, clauses)) =
            (graph.header.marker(), generics.split_for_impl());
        let function = Function {
            name: hygienic("make_nodes", self.index),
            arguments: self.arguments(graph, live_pools),
            returns: quote!(::core::result::Result<#holder #type_arguments, ::streamflow::__private::Error>),
            body: quote! {
                #take_conditions_out
                #taken
                let mut #failed = ::core::option::Option::None;
                let mut #making = #begun { #(#nones,)* __sized: ::core::marker::PhantomData };
                let _ = true #(&& #calls)*;
                match #complete(#making) {
                    ::core::option::Option::Some(#made) => ::core::result::Result::Ok(#made),
                    ::core::option::Option::None => {
                        ::core::result::Result::Err(::streamflow::__private::not_made(#failed))
                    }
                }
            },
        };
        // The function `complete` calls nothing. So rustc knows at each of its statements which fields are left, and drops them
        // without a check.
        let complete = Function {
            name: complete,
            arguments: vec![Argument::new(
                making.clone(),
                quote!(#begun #type_arguments),
                quote!(),
            )],
            returns: quote!(::core::option::Option<#holder #type_arguments>),
            body: quote! {
                match #making {
                    #begun { #(#somes,)* .. } => {
                        ::core::option::Option::Some(#holder { #(#fields,)* __sized: ::core::marker::PhantomData })
                    }
                    #making => ::core::option::Option::None,
                }
            },
        };
        let (define, call) = (function.define(generics), function.call(generics));
        let define_complete = complete.define(generics);
        let nodes = hygienic("nodes", self.index);
        // The last field of each struct is `__sized`, since the size of a struct is known if that of its last field is. If the
        // last field had a type that is no operator, rustc would also report its size, at each use of the struct.
        quote! {
            #[allow(non_camel_case_types, dead_code)]
            struct #holder #generics #clauses { #(#types,)* __sized: #marker }
            #[allow(non_camel_case_types, dead_code)]
            struct #begun #generics #clauses { #(#options,)* __sized: #marker }
            #define_complete
            #define
            let mut #made = #call?;
            #[allow(unused_variables)]
            let #nodes = &mut #made;
        }
    }

    /// Returns the arguments that the function takes from `new`.
    fn arguments(&self, graph: &Graph, live_pools: &[Ident]) -> Vec<Argument> {
        let same = |name: Ident, ty| Argument::new(name.clone(), ty, name.to_token_stream());
        let borrowed = |name: Ident, ty: TokenStream| {
            Argument::new(name.clone(), quote!(&#ty), quote!(&#name))
        };
        let platform = hygienic_platform();
        let mut arguments = vec![
            same(platform, quote!(&::streamflow::__private::Platform)),
            borrowed(idents::single_stream(), quote!(::streamflow::__private::SingleStream)),
            borrowed(idents::graph_params(), quote!(::streamflow::__private::GraphParams)),
            same(hygienic("values", self.index), self.values_type(graph)),
        ];
        arguments.extend(
            self.conditions_type().map(|ty| same(hygienic("all_conditions", self.index), ty)),
        );
        if graph.has_ports() {
            arguments.push(same(idents::inside(), quote!(::streamflow::__private::Inside<'_>)));
        }
        let has_own_green = |node: &Node| {
            graph.header.green_contexts.is_some()
                && matches!(node.attributes.streams, Streams::OwnPool)
        };
        if self.nodes.iter().any(|(_, node)| has_own_green(node)) {
            let ty = quote!(&::streamflow::__private::CudaStreamPool);
            let green = idents::green();
            arguments.push(Argument::new(own_green(), ty, quote!(&#green)));
        }
        for (pool, live) in graph.pools.iter().zip(live_pools) {
            if self.nodes.iter().any(|(_, node)| node.is_on(pool)) {
                let ty = quote!(::streamflow::__private::StreamPool);
                arguments.push(borrowed(live.clone(), ty));
            }
        }
        for &(index, node) in &self.nodes {
            let ty = value_type(&graph.header, node);
            let again = again(index, node);
            arguments.extend(
                again.map(|again| {
                    same(again, quote!(::streamflow::__private::OperatorFactory<#ty>))
                }),
            );
        }
        arguments
    }
}

/// Returns the span of the last token of a node's type. All generated code that names the type has this span. If the type is no
/// operator, rustc reports it there, in the same words for each use, and prints equal reports once.
fn last_span(node: &Node) -> Span {
    first_and_last(&node.ty).1
}

/// Returns the name of the variable for the nodes that the function has made so far.
fn making() -> Ident {
    hygienic("making", 0)
}

/// Returns the name of the variable for the error of a node that could not be made.
fn failed() -> Ident {
    hygienic("failed", 0)
}

/// Writes a call that makes the node and returns whether it succeeded.
fn make_node(graph: &Graph, index: usize, node: &Node, live_pools: &[Ident]) -> TokenStream {
    let (operator, field) = (hygienic("operator", index), idents::field(node));
    let (ty, text, platform) = (&node.ty, node.unraw_name(), hygienic_platform());
    let options = node_options(graph, index, node, live_pools);
    let (mut making, failed) = (making(), failed());
    let span = last_span(node);
    making.set_span(making.span().located_at(span));
    let lead = quote_spanned!(first_and_last(ty).0=> &mut);
    let made = quote_spanned!(span=> #lead #making.#field);
    let text = match graph.has_ports() {
        true => {
            let inside = idents::inside();
            quote!(&#inside.node(#text))
        }
        false => quote!(#text),
    };
    let args = quote!(#operator, #made, &mut #failed, #text, #platform, #options);
    let call = operator_call(ty, "__streamflow_make_node", args);
    match again(index, node) {
        Some(again) => {
            let args = parenthesized(span, quote!(#made, #again));
            let restarting = quote_spanned!(span=> ::streamflow::__private::restarting #args);
            quote!(#call && #restarting)
        }
        None => call,
    }
}

/// Returns the name of the variable for the pool of nodes without `#[streams]`, in a graph with green contexts.
fn own_green() -> Ident {
    hygienic("own_green", 0)
}

/// Writes the policy of a node for failures: `OnFailure::…`.
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

/// Writes the value `NodeOptions { … }` of a node.
fn node_options(graph: &Graph, index: usize, node: &Node, live_pools: &[Ident]) -> TokenStream {
    let of_kind = |kind: TokenStream| quote!(::streamflow::__private::NodeStreams::#kind);
    let inside = idents::inside();
    let streams = match &node.attributes.streams {
        Streams::OwnPool if graph.header.green_contexts.is_some() => {
            let green = own_green();
            of_kind(quote!(Own(#green)))
        }
        Streams::OwnPool if graph.has_ports() => quote!(#inside.streams()),
        Streams::OwnPool => of_kind(quote!(Default)),
        Streams::Adopt => of_kind(quote!(None)),
        Streams::Pool(name) => {
            let live = graph.pools.iter().zip(live_pools).find(|(pool, _)| pool.name == *name);
            match live {
                Some((_, live)) => of_kind(quote!(Pool(#live))),
                None => of_kind(quote!(Default)),
            }
        }
    };
    let (single_stream, graph_params) = (idents::single_stream(), idents::graph_params());
    let attributes = &node.attributes;
    if node.count().is_none()
        && node.conditions().is_empty()
        && attributes.on_failure.is_none()
        && attributes.worker.is_none()
    {
        if graph.has_ports() {
            return quote!(#inside.plain(#streams, #single_stream, #graph_params));
        }
        return quote! {
            ::streamflow::__private::NodeOptions::plain(#streams, #single_stream, #graph_params)
        };
    }
    let count = match node.count() {
        Some(_) => {
            let count = hygienic("count", index);
            quote!(::core::option::Option::Some(#count))
        }
        None => quote!(::core::option::Option::None),
    };
    let worker = match &attributes.worker {
        Some(name) => {
            let text = unraw_name(name);
            quote!(::core::option::Option::Some(#text))
        }
        None if graph.has_ports() => quote!(#inside.worker()),
        None => quote!(::core::option::Option::None),
    };
    let on_failure = on_failure(index, node);
    let conditions = match node.conditions() {
        [] => quote!(::core::option::Option::None),
        _ => {
            let conditions = hygienic("conditions", index);
            quote!(::core::option::Option::Some(#conditions))
        }
    };
    quote! {
        ::streamflow::__private::NodeOptions {
            streams: #streams,
            worker: #worker,
            count: #count,
            conditions: #conditions,
            on_failure: #on_failure,
            single_stream: #single_stream,
            params: #graph_params,
        }
    }
}
