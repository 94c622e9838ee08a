//! Writes the items that only a graph with ports has. The graph is a node of another graph, so it has what an operator has: ports
//! and an implementation of `NodeType`.
//!
//! For `graph! { pub struct Preprocess(rows: usize) { input frame: &Tensor<u8>; … } }` these items are:
//!
//! - `Preprocess`, the struct with the nodes, and its accessors. The graph around it makes it and owns it.
//! - `Preprocess_New`, the parameters, which `Preprocess::new` returns: the value of a node.
//! - `Preprocess_Ports<'a>`, the ports, which borrow the ports of the nodes inside, with the port types as `Preprocess_frame`.
//! - `PreprocessMut<'a>`, the accessors by which the operators are changed. They are no methods of `&mut Preprocess`, since a program
//!   could then swap the nodes of two graphs.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use super::borders::expand_borders;
use super::checked::checked_type;
use super::graph_impl::list_nodes;
use super::idents::{hygienic_platform, inside, named};
use super::paths::{operator_item, parenthesized};
use super::{constructor, handle, idents, implementation};
use crate::graph::model::Graph;
use crate::graph::parts::{OnFailure, Side, Streams};
use crate::graph::spans::first_and_last;
use crate::operator::{PortItems, expand_graph_ports};

/// Returns the items of the graph's ports.
pub(in crate::graph) fn port_items(graph: &Graph, checks: bool) -> PortItems {
    let header = &graph.header;
    let ports = graph.ports.iter().map(|port| &port.declared);
    expand_graph_ports(&header.name, &header.visibility, ports, checks)
}

/// Writes the struct with the ports.
pub(super) fn expand_ports(graph: &Graph, items: &PortItems) -> TokenStream {
    let (visibility, ports) = (&graph.header.visibility, named(graph, "_Ports"));
    let text =
        format!("The ports of [`{}`], for the edges of a graph around it.", graph.header.name);
    let fields = &items.fields;
    quote! {
        #[doc = #text]
        #[allow(dead_code, missing_debug_implementations, non_camel_case_types)]
        #visibility struct #ports<'a> { #(#fields)* }
    }
}

/// Writes the struct with the parameters, and the struct with the accessors that change operators.
pub(super) fn expand_structs(graph: &Graph) -> TokenStream {
    let header = &graph.header;
    let (visibility, name) = (&header.visibility, &header.name);
    let (new, changed) = (named(graph, "_New"), named(graph, "Mut"));
    let params = header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    let text =
        format!("The parameters of [`{name}`]: the value of a node of this type in another graph.");
    let text_mut = format!("The operators of [`{name}`], to be changed between runs.");
    let accessors = graph.nodes.iter().filter(|node| node.has_accessors);
    let accessors = accessors.map(|node| {
        let this = quote!(::streamflow::__private::Lent::get(self.0));
        implementation::expand_accessor_mut(visibility, node, &quote!(self), &this, &quote!('a))
    });
    quote! {
        #[doc = #text]
        #[allow(dead_code, missing_debug_implementations, non_camel_case_types)]
        #[must_use = "a graph with ports is a node of another graph"]
        #visibility struct #new { #(#params,)* }

        #[doc = #text_mut]
        #[allow(dead_code, missing_debug_implementations)]
        #visibility struct #changed<'a>(::streamflow::__private::Lent<'a, #name>);

        #[allow(dead_code)]
        impl<'a> #changed<'a> {
            #(#accessors)*
        }
    }
}

/// Writes `new`, the diagrams and the accessors.
pub(super) fn expand_methods(graph: &Graph, mermaid: &str, dot: &str) -> TokenStream {
    let header = &graph.header;
    let (visibility, name, made) = (&header.visibility, &header.name, named(graph, "_New"));
    let params = header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    let names = header.params.iter().map(|param| &param.name);
    let span = header.keyword.span;
    let new = quote_spanned!(span=> fn new);
    let arguments = parenthesized(span, quote!(#(#params,)*));
    let accessors = graph.nodes.iter().filter(|node| node.has_accessors);
    let accessors = accessors.map(|node| implementation::expand_accessor(visibility, node));
    let diagrams = implementation::expand_diagrams(visibility, mermaid, dot);
    quote! {
        #[allow(dead_code)]
        impl #name {
            /// Returns the value of a node of this type: the graph's parameters. The graph around it makes the nodes.
            #[allow(clippy::too_many_arguments, clippy::new_ret_no_self)]
            #visibility #new #arguments -> #made {
                #made { #(#names,)* }
            }

            #diagrams
            #(#accessors)*
        }
    }
}

/// Writes the implementation by which a harness runs this graph without another graph.
fn expand_value(graph: &Graph) -> TokenStream {
    let name = &graph.header.name;
    let [new, ports_type] = ["_New", "_Ports"].map(|end| named(graph, end));
    let (ports, visitor) = (mixed("__ports"), mixed("__visitor"));
    let visits = graph.ports.iter().map(|port| {
        let name = &port.name;
        match port.side {
            Side::Input => quote!(#visitor.input(&mut #ports.#name);),
            Side::Output => quote!(#visitor.output(&mut #ports.#name);),
        }
    });
    quote! {
        #[diagnostic::do_not_recommend]
        impl ::streamflow::__private::GraphValue for #new {
            type Graph = #name;

            fn __streamflow_visit<V: ::streamflow::__private::VisitPorts>(
                #ports: &mut #ports_type<'_>,
                #visitor: &mut V,
            ) {
                #(#visits)*
            }
        }
    }
}

/// Writes the implementations by which another graph makes this one as a node.
pub(super) fn expand_impls(graph: &Graph, items: &PortItems) -> TokenStream {
    let header = &graph.header;
    let (name, text) = (&header.name, header.name.unraw().to_string());
    let [new, ports, changed] = ["_New", "_Ports", "Mut"].map(|end| named(graph, end));
    let (handle, platform) = (handle::handle_name(graph), hygienic_platform());
    let PortItems { inputs, outputs, impls, .. } = items;
    let adopts = |streams: &Streams| matches!(streams, Streams::Adopt);
    let streams = graph.nodes.iter().filter(|node| !adopts(&node.attributes.streams));
    let streams = streams.map(|node| operator_item(&node.ty, "STREAMS"));
    let on_pool = graph.nodes.iter().filter(|node| !adopts(&node.attributes.streams));
    let uses_pool = on_pool.map(|node| operator_item(&node.ty, "USES_POOL"));
    let goes_on = graph.nodes.iter().any(|node| {
        matches!(node.attributes.on_failure, Some(OnFailure::Skip | OnFailure::Restart { .. }))
    });
    let inner_goes_on = graph.nodes.iter().map(|node| operator_item(&node.ty, "GOES_ON"));
    let stays = graph.nodes.iter().map(|node| operator_item(&node.ty, "STAYS"));
    let ends = graph.nodes.iter().map(|node| {
        let (_, last) = first_and_last(&node.ty);
        let ty = checked_type(header, node, "Itself");
        quote_spanned!(last=> #ty: ::streamflow::__private::NotMadeOfItself)
    });
    let params: Vec<&Ident> = header.params.iter().map(|param| &param.name).collect();
    let body = constructor::expand_new(graph);
    let made = quote!(::std::boxed::Box<#name>);
    let error = quote!(::streamflow::__private::Error);
    let (make, options) = (Ident::new("__streamflow_make", Span::mixed_site()), idents::options());
    let (path, value) = (idents::path(), mixed("__value"));
    let inside = inside();
    let fields: Vec<Ident> = graph.nodes.iter().map(idents::field).collect();
    let list = mixed("__list");
    let nodes = list_nodes(graph, &list);
    let (borders, of_value) = (expand_borders(graph), expand_value(graph));
    quote! {
        #impls
        #of_value

        #[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
        impl #name { fn #make(
            #value: #new,
            #path: &::core::primitive::str,
            platform: &::streamflow::__private::Platform,
            #options: ::streamflow::__private::NodeOptions<'_>,
        ) -> ::core::result::Result<#made, #error> {
            let #platform = platform;
            let #inside = ::streamflow::__private::Inside::new(#path, &#options);
            let #new { #(#params,)* } = #value;
            #body
        } }

        #[diagnostic::do_not_recommend]
        impl ::streamflow::__private::NodeType for #name {
            const NAME: &'static ::core::primitive::str = #text;
            const INPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#inputs,)*];
            const OUTPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#outputs,)*];
            const STREAMS: ::core::primitive::usize = 0 #(+ #streams)*;
            const STAYS: ::core::primitive::bool = false #(|| #stays)*;
            const USES_POOL: ::core::primitive::bool = false #(|| #uses_pool)*;
            const GOES_ON: ::core::primitive::bool = #goes_on #(|| #inner_goes_on)*;
            const IS_GRAPH: ::core::primitive::bool = true;
            type Value = #new;
            type Params = #handle;
            type __Checked = Self;
            type __Node = #made;
            type Made = #made;
            type Shown<'a> = &'a Self;
            type Mut<'a> = #changed<'a>;
            type __Ports = #ports<'static>;

            fn __streamflow_make_node(
                value: #new,
                made: &mut ::core::option::Option<#made>,
                failed: &mut ::core::option::Option<#error>,
                name: &::core::primitive::str,
                platform: &::streamflow::__private::Platform,
                options: ::streamflow::__private::NodeOptions<'_>,
            ) -> ::core::primitive::bool {
                ::streamflow::__private::store_made(#name::#make(value, name, platform, options), made, failed)
            }

            fn __streamflow_shown(made: &#made) -> &Self {
                made
            }

            fn __streamflow_shown_mut(made: &mut #made) -> #changed<'_> {
                #changed(::streamflow::__private::Lent::new(made))
            }
        }

        #[diagnostic::do_not_recommend]
        #[allow(trivial_bounds)]
        impl ::streamflow::__private::NotMadeOfItself for #name where #(#ends,)* {}

        impl ::streamflow::__private::MadeNode for #made {
            type Ports<'a> = #ports<'a>;

            #[allow(
            unused, clippy::all, clippy::pedantic, clippy::arithmetic_side_effects,
            clippy::indexing_slicing
        )]
            fn ports(&mut self) -> #ports<'_> {
                #borders
            }
        }

        impl ::streamflow::__private::Restartable for #made {
            type Value = #new;

            fn restart_by(&mut self, _: ::streamflow::__private::OperatorFactory<#new>) {}
        }

        #[diagnostic::do_not_recommend]
        impl ::streamflow::__private::RunsAsNode for #name {
            fn list<'__a>(
                made: &'__a mut #made,
                #list: &mut ::std::vec::Vec<&'__a mut dyn ::streamflow::__private::AnyNode>,
            ) {
                let Self { #(#fields,)* .. } = &mut **made;
                #nodes
            }
        }
    }
}

fn mixed(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
