//! Writes the stream pools and green context pools of a graph: constants, and values that `new` makes from the graph's
//! parameters.
//!
//! The functions in `streamflow/src/graph/check.rs` find the mistakes of constants and of values, in the same words: the
//! functions `check_…` find those of a constant while the program is compiled, and `verify_…` find those of a value in `new`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::idents::{green, inside};
use super::paths::{operator_item, pool_ref, private_call, typed_pool};
use crate::expression::{evaluate, written};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{Pool, PoolKind, Streams};
use crate::graph::spans::Underline;

/// Writes the constants of the pools. rustc reports a mistake in the pool's own constant, and reports none in constants that use
/// the pool.
pub(super) fn expand_constants(graph: &Graph) -> TokenStream {
    let constants = graph.pools.iter().filter(|pool| !pool.is_made_by_run).map(|pool| {
        let Pool { docs, name, ty, .. } = pool;
        let description = written(&pool.description);
        let Some(kind) = pool.kind() else {
            let is_used = graph.nodes_on(pool).next().is_some();
            let typed = is_used.then(|| {
                let typed = typed_pool(pool);
                let reference = quote_spanned!(name.span()=> &#name);
                quote!(const #typed: &::streamflow::__private::CudaStreamPool = #reference;)
            });
            return quote!(#(#docs)* const #name: #ty = #description; #typed);
        };
        let function = match kind {
            PoolKind::Streams if graph.has_ports() => "check_streams_inside",
            PoolKind::Streams => "check_streams",
            PoolKind::GreenContexts => "check_green",
        };
        let (text, value) = (name.to_string(), Ident::new("__VALUE", Span::mixed_site()));
        let check =
            private_call(Underline::all(&pool.description), function, quote!(#text, &#value));
        quote! {
            #(#docs)* const #name: #ty = {
                const #value: #ty = #description;
                #check;
                #value
            };
        }
    });
    let green = match default_green(graph) {
        Some(pool) if !pool.is_made_by_run => {
            let (green, value) = (green(), green_value(pool));
            quote! {
                /// The pool of each node without `#[streams]`.
                const #green: ::streamflow::__private::CudaStreamPool = #value;
            }
        }
        _ => TokenStream::new(),
    };
    quote!(#(#constants)* #green)
}

/// Returns the pool that `#[green_contexts(POOL)]` names.
fn default_green(graph: &Graph) -> Option<&Pool> {
    let name = graph.header.green_contexts.as_ref()?;
    graph.pools.iter().find(|pool| pool.name == *name)
}

fn green_value(pool: &Pool) -> TokenStream {
    let name = &pool.name;
    quote!(::streamflow::__private::CudaStreamPool::new().on(#name.default_context()))
}

/// Writes code that makes and checks the pools declared by `let`, in a closure in which `?` takes any error. All expressions
/// after it can name these pools.
pub(super) fn make_values(graph: &Graph) -> TokenStream {
    let pools: Vec<&Pool> = graph.pools.iter().filter(|pool| pool.is_made_by_run).collect();
    if pools.is_empty() {
        return TokenStream::new();
    }
    let made = pools.iter().map(|pool| {
        let (name, description) = (&pool.name, evaluate(&pool.description, &pool.ty));
        let verify = verify(graph, pool);
        quote!(let #name = #description; #verify)
    });
    let names: Vec<&Ident> = pools.iter().map(|pool| &pool.name).collect();
    let green = default_green(graph).filter(|pool| pool.is_made_by_run).map(|pool| {
        let (green, value, text) = (green(), green_value(pool), pool.name.to_string());
        quote! {
            #[allow(non_snake_case)]
            let #green = #value;
            ::streamflow::__private::verify_streams(#text, &#green)?;
        }
    });
    quote! {
        #[allow(non_snake_case, unused_variables)]
        let (#(#names,)*) = ::streamflow::__private::in_own_frame(
            || -> ::core::result::Result<_, ::streamflow::__private::Failure> {
                #(#made)*
                ::core::result::Result::Ok((#(#names,)*))
            },
        )?;
        #green
    }
}

fn verify(graph: &Graph, pool: &Pool) -> TokenStream {
    let (text, pool_ref) = (pool.name.to_string(), pool_ref(pool));
    let text = match graph.has_ports() {
        true => {
            let inside = inside();
            quote!(&#inside.node(#text))
        }
        false => quote!(#text),
    };
    if graph.nodes_on(pool).next().is_some() {
        let needs = needs(graph, pool);
        return quote!(::streamflow::__private::verify_pool(#text, #pool_ref, &[#needs])?;);
    }
    match pool.kind() {
        Some(PoolKind::GreenContexts) => {
            quote!(::streamflow::__private::verify_green(#text, #pool_ref)?;)
        }
        Some(PoolKind::Streams) => {
            quote!(::streamflow::__private::verify_streams(#text, #pool_ref)?;)
        }
        None => TokenStream::new(),
    }
}

/// Writes the list of the nodes on a pool, each with the number of its declared streams.
pub(super) fn needs(graph: &Graph, pool: &Pool) -> TokenStream {
    let needs = graph.nodes_on(pool).map(|node| {
        let (name, streams) = (node.unraw_name(), operator_item(&node.ty, "STREAMS"));
        quote!((#name, #streams),)
    });
    needs.collect()
}

/// Whether the device of a node is known only when `new` runs.
pub(super) fn has_device_of_run(graph: &Graph, node: &Node) -> bool {
    match &node.attributes.streams {
        Streams::Pool(name) => {
            graph.pools.iter().any(|pool| pool.name == *name && pool.is_made_by_run)
        }
        Streams::OwnPool => default_green(graph).is_some_and(|pool| pool.is_made_by_run),
        Streams::Adopt => false,
    }
}
