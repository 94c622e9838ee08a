//! The types of nodes with arguments, as `Zeros<bool>`. If an argument does not have its bound, rustc would report that
//! wherever the type is used. So the type has another name, which is a type only if its bounds hold: see
//! `streamflow/src/operator/checked.rs`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{PathArguments, Type, parse_quote};

use crate::graph::model::Graph;
use crate::graph::spans::first_and_last;

/// Gives these types their names in the graph, and returns the items that define the names.
pub(super) fn name_checked_types(graph: &mut Graph) -> TokenStream {
    // Without `r#`, which is in no middle of a name.
    let owner = graph.header.name.unraw();
    let mut items = TokenStream::new();
    for node in graph.nodes.iter_mut() {
        if !has_arguments(&node.ty) {
            continue;
        }
        let ty = &node.ty;
        let (first, last) = first_and_last(ty);
        let name = format_ident!("__{owner}_{}", node.unraw_name(), span = Span::call_site());
        let (written, is) = (format_ident!("{name}_written"), format_ident!("{name}_is"));
        let underlined = {
            let (mut name, end) = (written.clone(), quote_spanned!(last=> < >));
            name.set_span(first);
            quote!(#name #end)
        };
        items.extend(quote! {
            #[allow(non_camel_case_types)]
            type #written = #ty;
            #[allow(non_upper_case_globals)]
            const #is: ::core::primitive::bool = ::streamflow::__private::exists::<#underlined>();
            #[allow(non_camel_case_types)]
            type #name = <::streamflow::__private::Fits<{ #is }>
                as ::streamflow::__private::Checked<#written>>::Type;
        });
        let mut name = name;
        name.set_span(first);
        let end = quote_spanned!(last=> < >);
        node.ty = parse_quote!(#name #end);
    }
    items
}

fn has_arguments(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.iter().any(|segment| !matches!(segment.arguments, PathArguments::None))
}
