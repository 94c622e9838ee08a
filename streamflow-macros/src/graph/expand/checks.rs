//! Writes all checks of a graph that are made in constants.

use proc_macro2::TokenStream;
use quote::quote;

use super::assertion::Assertions;
use super::{arrays, assertions, loops, own_ports};
use crate::graph::model::Graph;

/// The checks of a graph, by their places.
#[derive(Default)]
pub(super) struct Checks {
    /// The checks that name pools. The constants of the pools exist only inside of the block with the implementations.
    pub(super) of_pools: TokenStream,
    /// The other checks.
    pub(super) others: TokenStream,
}

/// Writes all checks of a graph.
pub(super) fn check_graph(graph: &Graph) -> Checks {
    let own = graph.header.own_type();
    let (params, _, clauses) = graph.header.generics.split_for_impl();
    let (nodes, of_nodes) = assertions::assert_nodes(graph);
    // The first of the statements that fails is the error: an empty array comes before the edges that it lacks.
    let others: Assertions = [
        arrays::assert_arrays(graph),
        loops::assert_loops(graph),
        own_ports::assert_own_ports(graph),
        of_nodes,
        assertions::assert_workers(graph),
        assertions::assert_borders(graph),
        assertions::assert_adopting(graph),
        assertions::assert_single_nodes(graph),
        assertions::assert_policies(graph),
        assertions::assert_conditions(graph),
    ]
    .into_iter()
    .collect();
    let of_pools: Assertions = [
        assertions::assert_pools(graph),
        assertions::assert_pool_uses(graph),
        assertions::assert_edges(graph),
    ]
    .into_iter()
    .collect();
    let (statements, more) = (&others.statements, &of_pools.statements);
    let checked =
        graph.header.is_generic().then(|| quote!(const CHECKED: () = { #statements #more };));
    let list = quote! {
        impl #params ::streamflow::__private::GraphPorts for #own #clauses {
            #nodes
            #checked
        }
    };
    let (of_pools, others) = (of_pools.items, others.items);
    Checks { of_pools: quote!(#of_pools #list), others }
}
