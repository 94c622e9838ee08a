//! Writes the handle of a graph's parameters, as `RadarHandle`.
//!
//! The macro can't see which operators have parameters, so the handle has a method for each node. The method returns a reference
//! into a list that `new` fills, so the handle needs no field for each node.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use super::idents;
use super::paths::operator_item;
use crate::graph::model::{Array, Graph, Node};
use crate::graph::spans::first_and_last;

/// Returns the name of the handle: `RadarHandle` for a graph `Radar`.
pub(super) fn handle_name(graph: &Graph) -> Ident {
    let name = &graph.header.name;
    format_ident!("{}Handle", name, span = name.span())
}

/// Writes the handle, with a method for each node.
pub(super) fn expand_handle(graph: &Graph) -> TokenStream {
    let (visibility, name) = (&graph.header.visibility, handle_name(graph));
    let text = format!(
        "Sets the parameters of [`{}`] from any thread, also while it runs. Its clones set the same.",
        graph.header.name
    );
    let nodes = graph.nodes.iter().filter(|node| node.has_accessors);
    let accessors = nodes.map(|node| expand_accessor(visibility, node));
    let loading = expand_loading(graph, &quote!(&self.0));
    let (generics, marker, shown) =
        (&graph.header.generics, graph.header.marker(), name.to_string());
    let (params, arguments, clauses) = generics.split_for_impl();
    let f = Ident::new("__f", Span::mixed_site());
    // A derived implementation would require that the operators can be cloned.
    quote! {
        #[doc = #text]
        #[allow(dead_code)]
        #visibility struct #name #generics (::streamflow::__private::GraphParams, #marker) #clauses;

        impl #params ::core::clone::Clone for #name #arguments #clauses {
            fn clone(&self) -> Self {
                Self(::core::clone::Clone::clone(&self.0), ::core::marker::PhantomData)
            }
        }

        impl #params ::core::fmt::Debug for #name #arguments #clauses {
            fn fmt(&self, #f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::DebugTuple::finish(::core::fmt::DebugTuple::field(
                    &mut ::core::fmt::Formatter::debug_tuple(#f, #shown),
                    &self.0,
                ))
            }
        }

        #[allow(dead_code, clippy::missing_errors_doc)]
        impl #params #name #arguments #clauses {
            #loading
            #(#accessors)*
        }
    }
}

/// Writes the handle's method for a node. All of its tokens have the span of the node's type. If that type is no operator, rustc
/// reports it there, in the same words for each use, and prints equal reports once.
fn expand_accessor(visibility: &Visibility, node: &Node) -> TokenStream {
    let (_, last) = first_and_last(&node.ty);
    let (name, text) = (idents::field(node), node.unraw_name());
    let docs = format!("The parameters of `{text}`.");
    if let Some(Array { element, length }) = &node.array {
        let docs = format!("The parameters of the nodes of the array `{text}`, in order.");
        let ty = operator_item(element, "Params");
        return quote_spanned! {last=>
            #[doc = #docs]
            #[must_use]
            #visibility fn #name(&self) -> ::std::vec::IntoIter<&#ty> {
                ::streamflow::__private::GraphParams::array(&self.0, #text, #length)
            }
        };
    }
    let ty = operator_item(&node.ty, "Params");
    quote_spanned! {last=>
        #[doc = #docs]
        #[must_use]
        #[inline]
        #visibility fn #name(&self) -> &#ty {
            ::streamflow::__private::GraphParams::node(&self.0, #text)
        }
    }
}

/// Writes `load_params` and `load_params_str`, which the graph and its handle have. `params` is an expression for the parameters.
pub(super) fn expand_loading(graph: &Graph, params: &TokenStream) -> TokenStream {
    let visibility = &graph.header.visibility;
    quote! {
        /// Sets all parameters to the values of a file in TOML: a table for each node that has parameters, with a key
        /// for each of them.
        ///
        /// # Errors
        /// `Error::ParamsFile`, with all mistakes of the file, if there are any. Then nothing is set.
        #visibility fn load_params(
            &self,
            path: impl ::core::convert::AsRef<::std::path::Path>,
        ) -> ::core::result::Result<(), ::streamflow::__private::Error> {
            ::streamflow::__private::GraphParams::load(#params, ::core::convert::AsRef::as_ref(&path))
        }

        /// As `load_params`, from a text; `name` is the name of the file in errors.
        ///
        /// # Errors
        /// As for `load_params`.
        #visibility fn load_params_str(
            &self,
            name: &::core::primitive::str,
            text: &::core::primitive::str,
        ) -> ::core::result::Result<(), ::streamflow::__private::Error> {
            ::streamflow::__private::GraphParams::load_str(#params, name, text)
        }
    }
}
