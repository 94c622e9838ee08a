//! Writes code with which rustc checks the type of each node once. If a type is no operator, or if an argument lacks its bound,
//! as in `Zeros<bool>`, rustc would report that wherever the type is used. So the fields of the graph's struct have the type only
//! if a constant can be evaluated. A type with arguments also gets an alias, which names the type only if a constant can be
//! evaluated: see `streamflow/src/operator/checked.rs`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{PathArguments, Type, parse_quote};

use super::paths::operator_item;
use crate::graph::model::{Graph, Node};
use crate::graph::parts::Header;
use crate::graph::spans::first_and_last;

/// Replaces the types with arguments by their aliases in the graph, and returns the items that define the aliases and check all
/// types.
pub(super) fn name_checked_types(graph: &mut Graph) -> TokenStream {
    let mut items = TokenStream::new();
    let header = &graph.header;
    // A constant and an alias can't name a generic parameter.
    for node in graph.nodes.iter_mut().filter(|node| !header.depends(&node.ty)) {
        let is_operator = is_operator(header, node);
        let has_arguments = has_arguments(&node.ty);
        if has_arguments {
            items.extend(check_arguments(header, node));
        }
        let checked = node.element().unwrap_or(&node.ty);
        let check = operator_item(checked, "__STREAMFLOW_IS_OPERATOR");
        items.extend(quote! {
            #[allow(non_upper_case_globals)]
            const #is_operator: ::core::primitive::bool = #check;
        });
        // A type with arguments and an array get an alias, which names no type if the check fails.
        if has_arguments || node.array.is_some() {
            let (fitting, operator) = (node.ty.clone(), name_of(header, node));
            items.extend(quote! {
                #[allow(non_camel_case_types)]
                type #operator = <::streamflow::__private::Fits<{ #is_operator }>
                    as ::streamflow::__private::Checked<#fitting>>::Type;
            });
            let written = node.element().unwrap_or(&fitting);
            node.ty = underlined(operator, written);
        }
    }
    items
}

/// Returns the type of a node's field. rustc underlines a mistake at the user's type. If that type is no operator, the field has
/// no type, and rustc reports no further error about the node.
pub(super) fn node_type(header: &Header, node: &Node) -> TokenStream {
    match header.depends(&node.ty) {
        true => operator_item(&node.ty, "Made"),
        false => checked_type(header, node, "Type"),
    }
}

/// Returns the type of the value of a node's expression, as `node_type`.
pub(super) fn value_type(header: &Header, node: &Node) -> TokenStream {
    match header.depends(&node.ty) {
        true => operator_item(&node.ty, "Value"),
        false => checked_type(header, node, "Value"),
    }
}

/// Returns the type of a node, as `node_type`.
pub(super) fn own_type(header: &Header, node: &Node) -> TokenStream {
    match header.depends(&node.ty) {
        true => node.ty.to_token_stream(),
        false => checked_type(header, node, "Itself"),
    }
}

/// Returns the type of the value of each node of an array, as `node_type`.
pub(super) fn element_value_type(header: &Header, node: &Node) -> TokenStream {
    if header.depends(&node.ty) {
        return operator_item(node.element().unwrap_or(&node.ty), "Value");
    }
    let (element, is_operator) = (node.element().unwrap_or(&node.ty), is_operator(header, node));
    let (first, last) = first_and_last(element);
    let lead = quote_spanned!(first=> <);
    let path =
        quote_spanned!(last=> as ::streamflow::__private::CheckedNode<{ #is_operator }>>::Value);
    quote!(#lead #element #path)
}

/// Returns a type that belongs to a node, as `node_type`: an item of the library's trait `CheckedNode`.
fn checked_type(header: &Header, node: &Node, name: &str) -> TokenStream {
    let (ty, is_operator) = (&node.ty, is_operator(header, node));
    let (first, last) = first_and_last(ty);
    let lead = quote_spanned!(first=> <);
    let name = Ident::new(name, last);
    let path =
        quote_spanned!(last=> as ::streamflow::__private::CheckedNode<{ #is_operator }>>::#name);
    quote!(#lead #ty #path)
}

/// Returns the name of the constant that can be evaluated only if the node's type is an operator.
fn is_operator(header: &Header, node: &Node) -> Ident {
    format_ident!("{}_is_operator", name_of(header, node))
}

/// Returns the name of the alias for a node's type. Any `r#` is removed, since it can't be within a name.
fn name_of(header: &Header, node: &Node) -> Ident {
    format_ident!("__{}_{}", header.name.unraw(), node.unraw_name(), span = Span::call_site())
}

/// Writes an alias that names the type of a node only if the type's arguments have their bounds, and gives the node that alias as
/// its type.
fn check_arguments(header: &Header, node: &mut Node) -> TokenStream {
    let (ty, name) = (&node.ty, name_of(header, node));
    let [written, is, fitting] =
        ["written", "is", "fitting"].map(|part| format_ident!("{name}_{part}"));
    let written_type = underlined(written.clone(), ty);
    let items = quote! {
        #[allow(non_camel_case_types)]
        type #written = #ty;
        #[allow(non_upper_case_globals)]
        const #is: ::core::primitive::bool = ::streamflow::__private::exists::<#written_type>();
        #[allow(non_camel_case_types)]
        type #fitting = <::streamflow::__private::Fits<{ #is }>
            as ::streamflow::__private::Checked<#written>>::Type;
    };
    node.ty = underlined(fitting, ty);
    items
}

/// Returns a type with this name. rustc underlines a mistake in it where the user wrote the type.
fn underlined(mut name: Ident, written: &Type) -> Type {
    let (first, last) = first_and_last(written);
    name.set_span(first);
    let end = quote_spanned!(last=> < >);
    parse_quote!(#name #end)
}

fn has_arguments(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.iter().any(|segment| !matches!(segment.arguments, PathArguments::None))
}
