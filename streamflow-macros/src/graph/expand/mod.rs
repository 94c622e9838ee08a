//! The struct, and what it can do.

mod assertions;
mod chunk;
pub(super) mod diagram;
mod wiring;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use syn::Type;

use self::chunk::Chunk;
use crate::graph::model::{Graph, Leftover, Node, Streams};
use crate::tokens::braced;

/// All that is made from a graph. `sound` says whether no mistake was found.
pub(super) fn graph(graph: &Graph, sound: bool) -> TokenStream {
    let mermaid = diagram::mermaid(graph);
    let definition = definition(graph, &mermaid);
    let pools = graph.pools.iter().map(|pool| {
        let (docs, name, ty, description) = (&pool.docs, &pool.name, &pool.ty, &pool.description);
        quote!(#(#docs)* const #name: #ty = #description;)
    });
    let green = graph.header.green.as_ref().map(|green| {
        quote! {
            /// Of nodes without a pool.
            const __GREEN: ::streamflow::__private::CudaStreamPool =
                ::streamflow::__private::CudaStreamPool::new().on(#green.default_context());
        }
    });
    let implementation = implementation(graph, &mermaid, sound);
    let any_graph = any_graph(graph);
    // What a mistake of names would make fail as well is not checked beside it.
    let checked = sound && graph.unknown_nodes.is_empty();
    let checks_of_nodes = checked.then(|| assertions::of_nodes(graph));
    let checks_of_pools = checked.then(|| assertions::of_pools(graph));
    let checks_of_pool_uses = checked.then(|| assertions::of_pool_uses(graph));
    let checks_of_edges = checked.then(|| assertions::of_edges(graph));
    // An editor finds the cursor by its distance from the beginning, in an expansion with more letters at the
    // cursor. So `new`, where it looks, comes before all that repeats what the user wrote, as the pictures.
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            #(#pools)*
            #green
            #implementation
            #any_graph
            #checks_of_pools
            #checks_of_pool_uses
            #checks_of_edges
        };
        #definition
        #checks_of_nodes
    }
}

fn definition(graph: &Graph, mermaid: &str) -> TokenStream {
    let header = &graph.header;
    let (attributes, visibility, name) = (&header.attributes, &header.visibility, &header.name);
    let keyword = &header.keyword;
    let nodes = graph.nodes.iter().map(|node| {
        let (name, ty) = (&node.name, &node.ty);
        let node = assertions::item(ty, "__Node");
        quote!(#name: #node)
    });
    let picture = format!("\n```mermaid\n{mermaid}```");
    // With the graph's place, which rustc shows where another item has its name.
    let fields = quote!(#(#nodes,)* __platform: ::streamflow::__private::Platform,);
    let fields = braced(name.span(), fields);
    quote! {
        #(#attributes)*
        #[doc = #picture]
        #visibility #keyword #name #fields
    }
}

/// The constants, `new`, `run`, and the operators.
fn implementation(graph: &Graph, mermaid: &str, sound: bool) -> TokenStream {
    let header = &graph.header;
    let (visibility, name) = (&header.visibility, &header.name);
    let dot = diagram::dot(graph);
    let params = header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    // With the graph's place, which rustc shows where the arguments are wrong. What the user's expressions see
    // keeps its own.
    let place = header.keyword.span;
    let new = quote_spanned!(place=> fn new);
    let arguments = quote!(platform: &::streamflow::__private::Platform, #(#params,)*);
    let body = body(graph, sound);
    let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
    arguments.set_span(place);
    let run = quote_spanned! {place=>
        fn run(&mut self) -> ::streamflow::__private::Result<()> {
            ::streamflow::__private::run(self)
        }
    };
    let nodes = graph.nodes.iter().filter(|node| node.has_methods);
    let operators = nodes.map(|node| operator(graph, node));
    quote! {
        #[allow(dead_code)]
        impl #name {
            /// Makes the operators, the stream pools and the edges between them. Nothing runs yet.
            ///
            /// # Errors
            /// Those of the operators' constructors; a `count` of 0; the platform's, when it has no
            /// such device or can't make a reserved stream.
            #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
            #visibility #new #arguments -> ::streamflow::__private::Result<Self> {
                #body
            }

            /// The graph as a flow chart of Mermaid, left to right.
            #visibility const MERMAID: &'static str = #mermaid;
            /// The graph in the language of Graphviz, left to right.
            #visibility const DOT: &'static str = #dot;

            /// Runs the graph on this thread, until all its sources are done and all their messages
            /// consumed, or an operator asks for the end. In another run the operators keep their state, but
            /// their ticks and counts begin at 0 again.
            ///
            /// # Errors
            /// The first error, or panic, of an operator or of the device, with node and tick, and
            /// what followed from it. Everything is released.
            #visibility #run

            #(#operators)*
        }
    }
}

/// A node's name where it stands for the field: what is wrong with its type is told at the type, in the
/// same words each time, which rustc then prints once.
pub(super) fn at_type(name: &Ident, ty: &Type) -> Ident {
    let mut name = name.clone();
    name.set_span(name.span().located_at(assertions::ends(ty.to_token_stream()).1));
    name
}

/// `self`, and `self.source1`, underlined where the type stands. Both are the user's tokens for rustc,
/// which then does not mention the macro.
fn field(name: &Ident, ty: &Type) -> (Ident, TokenStream) {
    let (first, last) = assertions::ends(ty.to_token_stream());
    let this = Ident::new("self", first);
    let name = at_type(name, ty);
    let field = quote_spanned!(last=> #this.#name);
    (this, field)
}

/// `source1()` and `source1_mut()`.
fn operator(graph: &Graph, node: &Node) -> TokenStream {
    let visibility = &graph.header.visibility;
    let (docs, name, ty) = (&node.docs, &node.name, &node.ty);
    let text = format!("The operator `{}`.", node.text());
    let text_mut = format!("The operator `{}`, to change it between runs.", node.text());
    let name_mut = format_ident!("{}_mut", name);
    let (this, field) = field(name, ty);
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    quote! {
        #[doc = #text]
        #blank
        #(#docs)*
        #visibility fn #name(&#this) -> &#ty {
            &#field.operator
        }

        #[doc = #text_mut]
        #visibility fn #name_mut(&mut #this) -> &mut #ty {
            &mut #field.operator
        }
    }
}

/// An identifier that no name of the user can be mistaken for.
pub(super) fn hidden(name: &str, index: usize) -> Ident {
    format_ident!("__{}_{}", name, index, span = Span::mixed_site())
}

/// The body of `new`. First all that the user wrote, where parameters are not yet hidden by nodes of
/// the same name; then the nodes; then each node's ports, under the node's name, and the edges.
fn body(graph: &Graph, sound: bool) -> TokenStream {
    let platform = Ident::new("__platform", Span::mixed_site());
    let leftovers = graph.leftovers.iter().map(|Leftover { ty, value }| {
        let ty = ty.as_ref().map(|ty| quote!(let _: ::core::option::Option<#ty>;));
        let value = value.as_ref().map(|value| quote!(let _ = #value;));
        quote!(#ty #value)
    });
    // Where nodes are missing, it is not the user who left a parameter unused. In as many letters otherwise: see
    // `graph` above.
    let names = graph.header.params.iter().map(|param| &param.name);
    let here = if sound { quote!(any()) } else { quote!(all()) };
    let used = quote!(#[cfg(#here)] let _ = (#(&#names,)*););
    let live_pools: Vec<Ident> =
        (0..graph.pools.len()).map(|index| hidden("pool", index)).collect();
    // A pool without nodes is a constant that another one is made from.
    let pools = graph.pools.iter().zip(&live_pools).filter_map(|(pool, live)| {
        let used = graph
            .nodes
            .iter()
            .any(|node| matches!(&node.streams, Streams::Pool(name) if *name == pool.name));
        let (lent, text) = (assertions::lent(pool), pool.name.to_string());
        let function = Ident::new("stream_pool", pool.name.span());
        used.then(|| quote!(let #live = #platform.#function(#text, #lent)?;))
    });
    let alone = assertions::alone(graph);
    let chunks: Vec<Chunk<'_>> = chunk::chunks(graph);
    let values = chunks.iter().map(Chunk::values);
    let (edge_values, wiring) = (wiring::values(graph), wiring::wiring(graph));
    let nodes = chunks.iter().map(|chunk| chunk.nodes(graph, &platform, &live_pools));
    let ports = chunks.iter().map(Chunk::ports);
    let taken_out = chunks.iter().map(Chunk::taken_out);
    let names = chunks.iter().flat_map(Chunk::names);
    quote! {
        #used
        let #platform = platform;
        #(#values)*
        #edge_values
        #(#pools)*
        #single_stream
        #(#nodes)*
        #(#ports)*
        #wiring
        #(#leftovers)*
        let #platform = ::core::clone::Clone::clone(#platform);
        #(#taken_out)*
        ::core::result::Result::Ok(Self { #(#names,)* __platform: #platform })
    }
}

/// What schedulers see.
fn any_graph(graph: &Graph) -> TokenStream {
    let name = &graph.header.name;
    let nodes = chunk::any_nodes(graph);
    let fields = graph.nodes.iter().map(|node| at_type(&node.name, &node.ty));
    quote! {
        impl ::streamflow::__private::Graph for #name {
            fn nodes(&mut self) -> ::std::vec::Vec<&mut dyn ::streamflow::__private::AnyNode> {
                let Self { #(#fields,)* .. } = self;
                #nodes
            }

            fn platform(&self) -> &::streamflow::__private::Platform {
                &self.__platform
            }
        }
    }
}
