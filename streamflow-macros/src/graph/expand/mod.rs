//! Writes the items that a graph expands to.

mod assertions;
mod chunk;
mod constructor;
mod definition;
pub(super) mod diagram;
mod graph_impl;
mod idents;
mod implementation;
mod paths;
mod wiring;

use proc_macro2::TokenStream;
use quote::quote;

use super::model::Graph;

/// All items of a graph.
pub(super) fn expand_graph(graph: &Graph) -> TokenStream {
    let mermaid = diagram::mermaid(graph);
    let definition = definition::definition(graph, &mermaid);
    let pools = graph.pools.iter().map(|pool| {
        let (docs, name, ty, description) = (&pool.docs, &pool.name, &pool.ty, &pool.description);
        quote!(#(#docs)* const #name: #ty = #description;)
    });
    let green = graph.header.green_contexts.as_ref().map(|green| {
        quote! {
            /// Of nodes without a pool.
            const __GREEN: ::streamflow::__private::CudaStreamPool =
                ::streamflow::__private::CudaStreamPool::new().on(#green.default_context());
        }
    });
    let implementation = implementation::implementation(graph, &mermaid);
    let graph_impl = graph_impl::graph_impl(graph);
    // A mistake of names would make assertions fail, too. They are left out beside one.
    let has_assertions = graph.is_sound && !graph.has_unknown_nodes;
    let node_assertions = has_assertions.then(|| assertions::assert_nodes(graph));
    let pool_assertions = has_assertions.then(|| assertions::assert_pools(graph));
    let pool_use_assertions = has_assertions.then(|| assertions::assert_pool_uses(graph));
    let edge_assertions = has_assertions.then(|| assertions::assert_edges(graph));
    // An editor finds the cursor by its distance from the beginning, in an expansion with more letters at the
    // cursor. It looks in `new`, which thus comes before all that repeats what the user wrote, as the pictures do.
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            #(#pools)*
            #green
            #implementation
            #graph_impl
            #pool_assertions
            #pool_use_assertions
            #edge_assertions
        };
        #definition
        #node_assertions
    }
}
