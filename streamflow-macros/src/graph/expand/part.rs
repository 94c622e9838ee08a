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
use syn::Lifetime;
use syn::ext::IdentExt;

use super::borders::expand_borders;
use super::checked::own_type;
use super::diagram::Diagram;
use super::graph_impl::list_nodes;
use super::idents::{hygienic_platform, inside, mixed, named};
use super::paths::{operator_item, parenthesized};
use super::{constructor, handle, idents, implementation};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{OnFailure, Side, Streams};
use crate::graph::spans::first_and_last;
use crate::operator::{PortItems, Promise, expand_graph_ports, implement_interface};

/// Returns the items of the graph's ports.
pub(in crate::graph) fn port_items(graph: &Graph, checks: bool) -> PortItems {
    let header = &graph.header;
    let ports = graph.ports.iter().map(|port| &port.declared);
    expand_graph_ports(&header.name, &header.visibility, &header.generics, ports, checks)
}

/// Writes the struct with the ports.
pub(super) fn expand_ports(graph: &Graph, items: &PortItems) -> TokenStream {
    let (visibility, ports) = (&graph.header.visibility, named(graph, "_Ports"));
    let text =
        format!("The ports of [`{}`], for the edges of a graph around it.", graph.header.name);
    let (fields, marker) = (&items.fields, graph.header.marker());
    let generics = graph.header.with_lifetime(&life("'__a"));
    let clauses = &generics.where_clause;
    quote! {
        #[doc = #text]
        #[allow(dead_code, missing_debug_implementations, non_camel_case_types)]
        #visibility struct #ports #generics #clauses {
            #(#fields)*
            #[doc(hidden)]
            __streamflow: #marker,
        }
    }
}

/// Writes the struct with the parameters, and the struct with the accessors that change operators.
pub(super) fn expand_structs(graph: &Graph) -> TokenStream {
    let header = &graph.header;
    let (visibility, name, own) = (&header.visibility, &header.name, header.own_type());
    let (new, changed) = (named(graph, "_New"), named(graph, "Mut"));
    let (generics, marker) = (&header.generics, header.marker());
    let clauses = &generics.where_clause;
    let lent = header.with_lifetime(&life("'__a"));
    let (lent_params, lent_arguments, _) = lent.split_for_impl();
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
        implementation::expand_accessor_mut(visibility, node, &quote!(self), &this, &quote!('__a))
    });
    quote! {
        #[doc = #text]
        #[allow(dead_code, missing_debug_implementations, non_camel_case_types)]
        #[must_use = "a graph with ports is a node of another graph"]
        #visibility struct #new #generics #clauses {
            #(#params,)*
            __streamflow: #marker,
        }

        #[doc = #text_mut]
        #[allow(dead_code, missing_debug_implementations)]
        #visibility struct #changed #lent (::streamflow::__private::Lent<'__a, #own>) #clauses;

        #[allow(dead_code)]
        impl #lent_params #changed #lent_arguments #clauses {
            #(#accessors)*
        }
    }
}

/// Writes `new`, `diagram` and the accessors.
pub(super) fn expand_methods(graph: &Graph, diagram: &Diagram) -> TokenStream {
    let header = &graph.header;
    let (visibility, own, made) = (&header.visibility, header.own_type(), named(graph, "_New"));
    let (generics, type_arguments, clauses) = header.generics.split_for_impl();
    let params = header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    let names = header.params.iter().map(|param| &param.name);
    let span = header.keyword.span;
    let new = quote_spanned!(span=> fn new);
    let arguments = parenthesized(span, quote!(#(#params,)*));
    let accessors = graph.nodes.iter().filter(|node| node.has_accessors);
    let accessors = accessors.map(|node| implementation::expand_accessor(header, node));
    let diagram = implementation::expand_diagram(graph, diagram);
    quote! {
        #[allow(dead_code)]
        impl #generics #own #clauses {
            /// Returns the value of a node of this type: the graph's parameters. The graph around it makes the nodes.
            #[allow(clippy::too_many_arguments, clippy::new_ret_no_self)]
            #visibility #new #arguments -> #made #type_arguments {
                #made { #(#names,)* __streamflow: ::core::marker::PhantomData }
            }

            #diagram
            #(#accessors)*
        }
    }
}

/// Writes the implementation by which a harness runs this graph without another graph.
fn expand_value(graph: &Graph) -> TokenStream {
    let header = &graph.header;
    let (own, (generics, arguments, clauses)) =
        (header.own_type(), header.generics.split_for_impl());
    let [new, ports_type] = ["_New", "_Ports"].map(|end| named(graph, end));
    let ports_generics = header.with_lifetime(&life("'_"));
    let (_, ports_arguments, _) = ports_generics.split_for_impl();
    let (ports, visitor) = (mixed("__ports"), mixed("__visitor"));
    let visits = graph.ports.iter().map(|port| {
        let visit = match port.side {
            Side::Input => quote!(input),
            Side::Output => quote!(output),
        };
        let (name, each) = (&port.name, mixed("__each"));
        match port.declared.length() {
            Some(_) => {
                quote!(for #each in &mut #ports.#name { #visitor.#visit(#each); })
            }
            None => quote!(#visitor.#visit(&mut #ports.#name);),
        }
    });
    quote! {
        #[diagnostic::do_not_recommend]
        impl #generics ::streamflow::__private::GraphValue for #new #arguments #clauses {
            type Graph = #own;

            fn __streamflow_visit<__V: ::streamflow::__private::VisitPorts>(
                #ports: &mut #ports_type #ports_arguments,
                #visitor: &mut __V,
            ) {
                #(#visits)*
            }
        }
    }
}

/// Writes the implementations by which another graph makes this one as a node.
pub(super) fn expand_impls(graph: &Graph, items: &PortItems, has_checks: bool) -> TokenStream {
    let header = &graph.header;
    let (own, text) = (header.own_type(), header.name.unraw().to_string());
    let [new_name, ports_name, changed_name] =
        ["_New", "_Ports", "Mut"].map(|end| named(graph, end));
    let (generics, type_arguments, clauses) = header.generics.split_for_impl();
    let predicates = clauses.map(|clause| clause.predicates.iter()).into_iter().flatten();
    let new = quote!(#new_name #type_arguments);
    let with_life = |name: &Ident, written: &str| {
        let generics = header.with_lifetime(&life(written));
        let (_, arguments, _) = generics.split_for_impl();
        quote!(#name #arguments)
    };
    let [changed, changed_here] = ["'__a", "'_"].map(|life| with_life(&changed_name, life));
    let [ports, ports_here, ports_static] =
        ["'__a", "'_", "'static"].map(|life| with_life(&ports_name, life));
    let (handle, platform) = (handle::handle_name(graph), hygienic_platform());
    let PortItems { inputs, outputs, impls, .. } = items;
    let is_of_node = |node: &&Node| matches!(node.attributes.streams, Streams::OwnPool);
    let is_of_graph = |node: &&Node| matches!(node.attributes.streams, Streams::Pool(_));
    let of_node: Vec<&Node> = graph.nodes.iter().filter(is_of_node).collect();
    let streams = of_node.iter().map(|node| operator_item(&node.ty, "STREAMS"));
    let uses_pool = of_node.iter().map(|node| operator_item(&node.ty, "USES_POOL"));
    let of_graph = graph.nodes.iter().filter(is_of_graph);
    let own_streams = of_graph.map(|node| operator_item(&node.ty, "STREAMS"));
    let inner_streams = graph.nodes.iter().map(|node| operator_item(&node.ty, "OWN_STREAMS"));
    let goes_on = graph.nodes.iter().any(|node| {
        matches!(node.attributes.on_failure, Some(OnFailure::Skip | OnFailure::Restart { .. }))
    });
    let inner_goes_on = graph.nodes.iter().map(|node| operator_item(&node.ty, "GOES_ON"));
    let stays = graph.nodes.iter().map(|node| operator_item(&node.ty, "STAYS"));
    let ends = graph.nodes.iter().map(|node| {
        let (_, last) = first_and_last(&node.ty);
        let ty = own_type(header, node);
        quote_spanned!(last=> #ty: ::streamflow::__private::NotMadeOfItself)
    });
    let params: Vec<&Ident> = header.params.iter().map(|param| &param.name).collect();
    let body = constructor::expand_new(graph);
    let made = quote!(::std::boxed::Box<#own>);
    let error = quote!(::streamflow::__private::Error);
    let (make, options) = (Ident::new("__streamflow_make", Span::mixed_site()), idents::options());
    let (path, value) = (idents::path(), mixed("__value"));
    let (node, failed) = (mixed("__made"), mixed("__failed"));
    let inside = inside();
    let fields: Vec<Ident> = graph.nodes.iter().map(idents::field).collect();
    let list = mixed("__list");
    let nodes = list_nodes(graph, &list);
    let (borders, of_value) = (expand_borders(graph), expand_value(graph));
    let checked = (header.is_generic() && has_checks).then(|| {
        quote_spanned! {header.name.span()=>
            const CHECKED: () = <Self as ::streamflow::__private::GraphPorts>::CHECKED;
        }
    });
    let promises = graph.ports.iter();
    let promises = promises
        .map(|port| Promise { name: &port.name, is_input: port.side == Side::Input })
        .collect::<Vec<_>>();
    let interfaces = header.implements.iter();
    let interfaces = interfaces
        .map(|interface| implement_interface(interface, &header.generics, &own, &promises));
    quote! {
        #impls
        #(#interfaces)*
        #of_value

        #[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
        impl #generics #own #clauses { fn #make(
            #value: #new,
            #path: &::core::primitive::str,
            platform: &::streamflow::__private::Platform,
            #options: ::streamflow::__private::NodeOptions<'_>,
        ) -> ::core::result::Result<#made, #error> {
            let #platform = platform;
            let #inside = ::streamflow::__private::Inside::new(#path, &#options);
            let #new_name { #(#params,)* .. } = #value;
            #body
        } }

        #[diagnostic::do_not_recommend]
        impl #generics ::streamflow::__private::NodeType for #own #clauses {
            const NAME: &'static ::core::primitive::str = #text;
            const INPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#inputs,)*];
            const OUTPUTS: &'static [::streamflow::__private::PortInfo] = &[#(#outputs,)*];
            const STREAMS: ::core::primitive::usize = 0 #(+ #streams)*;
            const OWN_STREAMS: ::core::primitive::usize = 0 #(+ #own_streams)* #(+ #inner_streams)*;
            const STAYS: ::core::primitive::bool = false #(|| #stays)*;
            const USES_POOL: ::core::primitive::bool = Self::OWN_STREAMS > 0 #(|| #uses_pool)*;
            const GOES_ON: ::core::primitive::bool = #goes_on #(|| #inner_goes_on)*;
            const IS_GRAPH: ::core::primitive::bool = true;
            #checked
            type Value = #new;
            type Params = #handle #type_arguments;
            type __Checked = Self;
            type __Node = #made;
            type Made = #made;
            type Shown<'__a> = &'__a Self;
            type Mut<'__a> = #changed;
            type __Ports = #ports_static;

            fn __streamflow_make_node(
                #value: #new,
                #node: &mut ::core::option::Option<#made>,
                #failed: &mut ::core::option::Option<#error>,
                #path: &::core::primitive::str,
                #platform: &::streamflow::__private::Platform,
                #options: ::streamflow::__private::NodeOptions<'_>,
            ) -> ::core::primitive::bool {
                let #value = Self::#make(#value, #path, #platform, #options);
                ::streamflow::__private::store_made(#value, #node, #failed)
            }

            fn __streamflow_declaration()
            -> ::core::option::Option<::streamflow::__private::Declaration> {
                ::core::option::Option::Some(Self::__streamflow_declaration())
            }

            fn __streamflow_shown(#node: &#made) -> &Self {
                #node
            }

            fn __streamflow_shown_mut(#node: &mut #made) -> #changed_here {
                #changed_name(::streamflow::__private::Lent::new(#node))
            }
        }

        #[diagnostic::do_not_recommend]
        #[allow(trivial_bounds)]
        impl #generics ::streamflow::__private::NotMadeOfItself for #own where #(#predicates,)* #(#ends,)* {}

        impl #generics ::streamflow::__private::MadeNode for #made #clauses {
            type Ports<'__a> = #ports;

            #[allow(
            unused, clippy::all, clippy::pedantic, clippy::arithmetic_side_effects,
            clippy::indexing_slicing
        )]
            fn ports(&mut self) -> #ports_here {
                #borders
            }
        }

        impl #generics ::streamflow::__private::Restartable for #made #clauses {
            type Value = #new;

            fn restart_by(&mut self, _: ::streamflow::__private::OperatorFactory<#new>) {}
        }

        #[diagnostic::do_not_recommend]
        impl #generics ::streamflow::__private::RunsAsNode for #own #clauses {
            fn list<'__a>(
                #node: &'__a mut #made,
                #list: &mut ::std::vec::Vec<&'__a mut dyn ::streamflow::__private::AnyNode>,
            ) {
                let Self { #(#fields,)* .. } = &mut **#node;
                #nodes
            }
        }
    }
}

fn life(name: &str) -> Lifetime {
    Lifetime::new(name, Span::call_site())
}
