//! Writes the implementation of the trait `Graph`, by which schedulers see the graph.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;

use super::paths::{operator_item, parenthesized};
use super::{chunk, handle, idents};
use crate::graph::model::{Graph, Node};
use crate::graph::spans::first_and_last;

/// Writes `impl Graph for Name`.
pub(super) fn expand_graph_impl(graph: &Graph) -> TokenStream {
    let (header, own) = (&graph.header, graph.header.own_type());
    let text = header.name.unraw().to_string();
    let (params, arguments, clauses) = header.generics.split_for_impl();
    let list = Ident::new("__streamflow_nodes", Span::mixed_site());
    let nodes = list_nodes(graph, &list);
    let fields = graph.nodes.iter().map(idents::field);
    let handle = handle::handle_name(graph);
    let replays = graph.header.replays.is_some().then(|| {
        quote! {
            fn __streamflow_replays(&self) -> ::core::primitive::bool {
                true
            }
        }
    });
    quote! {
        impl #params ::streamflow::__private::Graph for #own #clauses {
            fn __streamflow_nodes<'__a>(
                &'__a mut self,
                #list: &mut ::std::vec::Vec<&'__a mut dyn ::streamflow::__private::AnyNode>,
            ) {
                let Self { #(#fields,)* .. } = self;
                #nodes
            }

            fn nodes(&mut self) -> ::std::vec::Vec<&mut dyn ::streamflow::__private::AnyNode> {
                let mut __list = ::std::vec::Vec::new();
                ::streamflow::__private::Graph::__streamflow_nodes(self, &mut __list);
                __list
            }

            fn __streamflow_run(
                &mut self,
            ) -> ::core::option::Option<&mut ::streamflow::__private::RunState> {
                ::core::option::Option::Some(
                    ::streamflow::__private::GraphParts::run(&mut self.__streamflow),
                )
            }

            fn __streamflow_name(&self) -> &'static ::core::primitive::str {
                #text
            }

            #replays

            fn platform(&self) -> &::streamflow::__private::Platform {
                ::streamflow::__private::GraphParts::platform(&self.__streamflow)
            }

            type Handle = #handle #arguments;

            fn handle(&self) -> #handle #arguments {
                self.params()
            }
        }
    }
}

/// Writes a static that refers to the code of all operators, for the tests of the crate. So the kernels that the operators launch
/// are a part of the test program, and `testing::kernels()` finds them even if no test makes the graph. A graph with generic parameters has
/// code only where it is made.
pub(super) fn keep_for_tests(graph: &Graph) -> TokenStream {
    if graph.header.is_generic() {
        return TokenStream::new();
    }
    let name = &graph.header.name;
    if graph.has_ports() {
        return quote! {
            #[cfg(test)]
            #[used]
            static __STREAMFLOW_OPERATORS: for<'a> fn(
                &'a mut ::std::boxed::Box<#name>,
                &mut ::std::vec::Vec<&'a mut dyn ::streamflow::__private::AnyNode>,
            ) = <#name as ::streamflow::__private::RunsAsNode>::list;
        };
    }
    quote! {
        #[cfg(test)]
        #[used]
        static __STREAMFLOW_OPERATORS: fn(&mut #name) -> ::std::vec::Vec<&mut dyn ::streamflow::__private::AnyNode> =
            <#name as ::streamflow::__private::Graph>::nodes;
    }
}

/// Writes code that appends the nodes to `list` in the order in which they run. The nodes are in variables with their names.
pub(super) fn list_nodes(graph: &Graph, list: &Ident) -> TokenStream {
    let chunks = graph.order.chunks(chunk::SIZE).map(|indices| {
        let nodes = indices.iter().map(|&index| list_node(graph, &graph.nodes[index], list));
        quote! {
            {
                let #list = &mut *#list;
                ::streamflow::__private::in_own_frame(move || { #(#nodes;)* });
            }
        }
    });
    let count = graph.order.len();
    quote! {
        #list.reserve(#count);
        #(#chunks)*
    }
}

/// Writes `list_nodes::<Type>(node, list)`. The call has the span of the node's type, so rustc reports a missing `impl Compute` at that
/// type.
fn list_node(graph: &Graph, node: &Node, list: &Ident) -> TokenStream {
    let (name, ty) = (idents::field(node), &node.ty);
    let (first, last) = first_and_last(ty);
    let ty = match graph.header.depends(ty) {
        true => ty.to_token_stream(),
        false => operator_item(ty, "__Checked"),
    };
    let path = quote_spanned!(first=> ::streamflow::__private::list_nodes::<);
    let end = quote_spanned!(last=> >);
    let args = parenthesized(last, quote!(#name, #list));
    quote!(#path #ty #end #args)
}
