//! Writes the items that a graph expands to.

mod again;
mod arrays;
mod assertions;
mod borders;
mod checked;
mod chunk;
mod conditions;
mod constructor;
mod definition;
pub(super) mod diagram;
mod functions;
mod graph_impl;
mod handle;
mod idents;
mod implementation;
mod nodes;
mod part;
mod paths;
mod pools;
mod wiring;

pub(super) use idents::named;
pub(super) use part::port_items;
pub(super) use paths::operator_item;

use proc_macro2::TokenStream;
use quote::quote;

use super::model::Graph;

/// Writes all items of a graph.
pub(super) fn expand_graph(mut graph: Graph) -> TokenStream {
    // The diagrams are drawn first, since they show the types as the user wrote them: `name_checked_types` replaces some by
    // aliases.
    let (mermaid, dot) = (diagram::draw_mermaid(&graph), diagram::draw_dot(&graph));
    let checked = checked::name_checked_types(&mut graph);
    let graph = &graph;
    let part = graph.has_ports().then(|| part::port_items(graph, true));
    let table = part.as_ref().map(|items| items.table.clone()).unwrap_or_default();
    let definition = definition::expand_struct(graph, &mermaid, &table);
    let pools = pools::expand_constants(graph);
    let (implementation, graph_impl, structs) = match &part {
        Some(items) => {
            let (types, ports) = (&items.types, part::expand_ports(graph, items));
            let structs = part::expand_structs(graph);
            let methods = part::expand_methods(graph, &mermaid, &dot);
            (methods, part::expand_impls(graph, items), Some(quote!(#types #ports #structs)))
        }
        None => {
            let methods = implementation::expand_methods(graph, &mermaid, &dot);
            (methods, graph_impl::expand_graph_impl(graph), None)
        }
    };
    let handle = handle::expand_handle(graph);
    // After a mistake, some assertions would fail because of that mistake, so none are written: see "Where each check is" in
    // `graph/mod.rs`.
    let has_assertions = graph.is_sound && !graph.has_unknown_nodes;
    let node_assertions = has_assertions.then(|| assertions::assert_nodes(graph));
    let worker_assertions = has_assertions.then(|| assertions::assert_workers(graph));
    let array_assertions = has_assertions.then(|| arrays::assert_arrays(graph));
    let policy_assertions = has_assertions.then(|| assertions::assert_policies(graph));
    let single_nodes = has_assertions.then(|| assertions::assert_single_nodes(graph));
    let condition_assertions = has_assertions.then(|| assertions::assert_conditions(graph));
    let pool_assertions = has_assertions.then(|| assertions::assert_pools(graph));
    let pool_use_assertions = has_assertions.then(|| assertions::assert_pool_uses(graph));
    let operators = has_assertions.then(|| graph_impl::keep_for_tests(graph));
    let edge_assertions = has_assertions.then(|| assertions::assert_edges(graph));
    // The assertions of pools and edges name the pools' constants, which exist only inside of the block. The assertions of nodes
    // name only the operators' types, so they are outside.
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            #pools
            #implementation
            #graph_impl
            #pool_assertions
            #pool_use_assertions
            #edge_assertions
            #operators
        };
        #checked
        #definition
        #structs
        #handle
        #node_assertions
        #worker_assertions
        #array_assertions
        #single_nodes
        #policy_assertions
        #condition_assertions
    }
}

/// Writes the items that a user's code names, for an editor: the struct, its methods and its handle, and for a graph with ports those
/// by which another graph names it. The struct with the ports is not among them.
pub(super) fn expand_api(graph: &Graph) -> TokenStream {
    let (mermaid, dot) = (diagram::draw_mermaid(graph), diagram::draw_dot(graph));
    let definition = definition::expand_struct(graph, &mermaid, &TokenStream::new());
    let handle = handle::expand_handle(graph);
    if graph.has_ports() {
        let items = part::port_items(graph, false);
        let (types, structs) = (&items.types, part::expand_structs(graph));
        let methods = part::expand_methods(graph, &mermaid, &dot);
        let impls = part::expand_impls(graph, &items);
        return quote!(#types #definition #structs #methods #impls #handle);
    }
    let implementation = implementation::expand_methods(graph, &mermaid, &dot);
    let graph_impl = graph_impl::expand_graph_impl(graph);
    quote!(#definition #implementation #graph_impl #handle)
}
