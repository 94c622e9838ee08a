//! The body of `new`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::chunk::{self, Chunk};
use super::idents::{
    graph_params, hygienic, hygienic_platform, inside, options, path, single_stream,
};
use super::paths::{operator_item, pool_ref};
use super::wiring;
use super::{again, assertions, handle, pools};
use crate::expression::evaluate_and_drop;
use crate::graph::model::Graph;
use crate::graph::parts::{NodeParts, Streams};

/// Writes the body of `new`, or of the function that makes a graph with ports as a node. First come the pools that `new` makes, and
/// then all other expressions of the user, those of conditions before those of operators. All of these can use the parameters. The
/// nodes follow, and then the edges. For the edges, each node's name is bound to the node's ports, and may shadow a parameter with
/// that name.
pub(super) fn expand_new(graph: &Graph) -> TokenStream {
    let platform = hygienic_platform();
    let checks = (graph.header.is_generic() && !graph.has_ports() && graph.has_checks()).then(
        || quote_spanned!(graph.header.name.span()=> let () = const { <Self as ::streamflow::__private::GraphPorts>::CHECKED };),
    );
    let left_out = graph.left_out.iter().map(|NodeParts { ty, value }| {
        let ty = ty.as_ref().map(|ty| quote!(let _: ::core::option::Option<#ty>;));
        let value = value.as_ref().map(evaluate_and_drop);
        quote!(#ty #value)
    });
    // This code uses every parameter, so that rustc does not report one as unused that only left-out nodes use.
    let params = graph.header.params.iter().map(|param| &param.name);
    let use_params = (!graph.is_sound).then(|| quote!(let _ = (#(&#params,)*);));
    let live_pools: Vec<Ident> =
        (0..graph.pools.len()).map(|index| hygienic("pool", index)).collect();
    // A pool without nodes may be a constant that only another pool uses, so it gets no live pool.
    let pools = graph.pools.iter().zip(&live_pools).filter_map(|(pool, live)| {
        let (pool_ref, text) = (pool_ref(pool), pool.name.to_string());
        let function = Ident::new("stream_pool", pool.name.span());
        let is_used = graph.nodes_on(pool).next().is_some();
        let made = match graph.has_ports() {
            true => {
                let inside = inside();
                quote!(#platform.#function(&#inside.node(#text), &#inside.pool(#text, #pool_ref)?)?)
            }
            false => quote!(#platform.#function(#text, #pool_ref)?),
        };
        is_used.then(|| quote!(let #live = #made;))
    });
    let single_stream = declare_single_stream(graph, &live_pools);
    let (pool_values, device_checks) = (pools::make_values(graph), assertions::verify_edges(graph));
    let graph_params = graph_params();
    let chunks: Vec<Chunk<'_>> = chunk::divide_nodes(graph);
    let again = again::make_closures(graph);
    let conditions = chunks.iter().filter_map(Chunk::make_conditions);
    let values = chunks.iter().map(|chunk| chunk.evaluate_values(graph));
    let (edge_options, wiring) = (wiring::evaluate_options(graph), wiring::connect_edges(graph));
    let nodes = chunks.iter().map(|chunk| chunk.make_nodes(graph, &live_pools));
    let nodes_taken_out = chunks.iter().map(Chunk::take_nodes_out);
    let fields = chunks.iter().flat_map(Chunk::fields);
    let fields: Vec<Ident> = fields.collect();
    let marker = marker(graph);
    let made = match graph.has_ports() {
        true => finish_as_node(graph, &fields),
        false => {
            let made_graph = Ident::new("__graph", Span::mixed_site());
            quote! {
                let mut #made_graph = Self {
                    #(#fields,)*
                    #marker
                    __streamflow: ::streamflow::__private::GraphParts::new(#platform, #graph_params),
                };
                ::streamflow::__private::finish(&mut #made_graph)?;
                ::core::result::Result::Ok(#made_graph)
            }
        }
    };
    quote! {
        #checks
        #use_params
        #pool_values
        #device_checks
        #again
        #(#conditions)*
        #(#values)*
        #edge_options
        #(#pools)*
        #single_stream
        let #graph_params = ::streamflow::__private::GraphParams::default();
        #(#nodes)*
        #wiring
        #(#left_out)*
        #(#nodes_taken_out)*
        #made
    }
}

/// Declares the `SingleStream` that all nodes share, from the number of streams that their operators declare in total. If that is
/// one stream, and the run adds none, no stream ever waits for another. Adopting nodes don't count, since they allocate no
/// streams, nor do nodes on a pool of the default stream. A graph with ports has that of the graph around it.
fn declare_single_stream(graph: &Graph, live_pools: &[Ident]) -> TokenStream {
    let (single_stream, declared) = (single_stream(), Ident::new("__declared", Span::mixed_site()));
    if graph.has_ports() {
        let options = options();
        return quote!(let #single_stream = ::core::clone::Clone::clone(#options.single_stream););
    }
    let inner_streams = graph.nodes.iter().map(|node| operator_item(&node.ty, "OWN_STREAMS"));
    let streams =
        graph.nodes.iter().filter(|node| !matches!(node.attributes.streams, Streams::Adopt)).map(
            |node| {
                let streams = operator_item(&node.ty, "STREAMS");
                match &node.attributes.streams {
                    Streams::Pool(name) => {
                        let mut pools = graph.pools.iter().zip(live_pools);
                        match pools.find(|(pool, _)| pool.name == *name) {
                            Some((_, live)) => quote!(#live.__streamflow_taken(#streams)),
                            None => streams,
                        }
                    }
                    Streams::OwnPool | Streams::Adopt => streams,
                }
            },
        );
    quote! {
        let #declared: ::core::primitive::usize = 0 #(+ #streams)* #(+ #inner_streams)*;
        let #single_stream = ::streamflow::__private::SingleStream::new(#declared);
    }
}

/// Writes the end of the function that makes a graph with ports: the graph in its box, with its parameters in those of the graph
/// around it.
fn finish_as_node(graph: &Graph, fields: &[Ident]) -> TokenStream {
    let (name, handle) = (&graph.header.name, handle::handle_name(graph));
    let (inside, params, path, options) = (inside(), graph_params(), path(), options());
    let (_, arguments, _) = graph.header.generics.split_for_impl();
    let (arguments, marker) = (arguments.as_turbofish(), marker(graph));
    quote! {
        ::streamflow::__private::GraphParams::add_graph(
            #options.params,
            #path,
            ::core::clone::Clone::clone(&#params),
            #handle #arguments (#params, ::core::marker::PhantomData),
        );
        ::core::result::Result::Ok(::std::boxed::Box::new(#name {
            #(#fields,)*
            #marker
            __streamflow: #inside.path(),
        }))
    }
}

/// Writes the field of the graph's struct that mentions the type parameters.
fn marker(graph: &Graph) -> Option<TokenStream> {
    graph.header.is_generic().then(|| quote!(__marker: ::core::marker::PhantomData,))
}
