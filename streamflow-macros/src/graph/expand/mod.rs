//! Writes the items that a graph expands to.

mod again;
mod arrays;
mod assertion;
mod assertions;
mod borders;
mod checked;
mod checks;
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
mod loops;
mod nodes;
mod own_ports;
mod part;
mod paths;
mod pools;
mod wiring;

pub(super) use idents::named;
pub(super) use part::port_items;
pub(super) use paths::operator_item;

use proc_macro2::TokenStream;
use quote::quote;

use self::checks::Checks;
use self::diagram::Diagram;
use super::generics;
use super::model::Graph;

/// Writes all items of a graph.
pub(super) fn expand_graph(mut graph: Graph) -> TokenStream {
    // The diagram is made first, since it shows the types as the user wrote them: `name_checked_types` replaces some by
    // aliases.
    let diagram = Diagram::of(&graph);
    generics::outlive_ticks(&mut graph);
    let checked = checked::name_checked_types(&mut graph);
    let graph = &graph;
    let part = graph.has_ports().then(|| part::port_items(graph, true));
    let table = part.as_ref().map(|items| items.table.clone()).unwrap_or_default();
    let definition = definition::expand_struct(graph, &diagram, &table);
    let pools = pools::expand_constants(graph);
    let (implementation, graph_impl, structs) = match &part {
        Some(items) => {
            let (types, ports) = (&items.types, part::expand_ports(graph, items));
            let structs = part::expand_structs(graph);
            let methods = part::expand_methods(graph, &diagram);
            (
                methods,
                part::expand_impls(graph, items, graph.has_checks()),
                Some(quote!(#types #ports #structs)),
            )
        }
        None => {
            let methods = implementation::expand_methods(graph, &diagram);
            let interfaces = &graph.header.implements;
            // The macro has reported these. The code uses them, so that rustc does not report their imports as unused.
            let named =
                (!interfaces.is_empty()).then(|| quote!(fn _named<T: #(#interfaces)+*>() {}));
            (quote!(#methods #named), graph_impl::expand_graph_impl(graph), None)
        }
    };
    let handle = handle::expand_handle(graph);
    let Checks { of_pools, others } = match graph.has_checks() {
        true => checks::check_graph(graph),
        false => Checks::default(),
    };
    let operators = graph.has_checks().then(|| graph_impl::keep_for_tests(graph));
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            #pools
            #implementation
            #graph_impl
            #of_pools
            #operators
        };
        #checked
        #definition
        #structs
        #handle
        #others
    }
}

/// Writes the items that a user's code names, for an editor: the struct, its methods and its handle, and for a graph with ports those
/// by which another graph names it. The struct with the ports is not among them.
pub(super) fn expand_api(graph: &Graph) -> TokenStream {
    let diagram = Diagram::of(graph);
    let definition = definition::expand_struct(graph, &diagram, &TokenStream::new());
    let handle = handle::expand_handle(graph);
    if graph.has_ports() {
        let items = part::port_items(graph, false);
        let (types, structs) = (&items.types, part::expand_structs(graph));
        let methods = part::expand_methods(graph, &diagram);
        let impls = part::expand_impls(graph, &items, false);
        return quote!(#types #definition #structs #methods #impls #handle);
    }
    let implementation = implementation::expand_methods(graph, &diagram);
    let graph_impl = graph_impl::expand_graph_impl(graph);
    quote!(#definition #implementation #graph_impl #handle)
}
