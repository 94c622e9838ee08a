//! Writes the user's struct without its ports, and the function `new` that makes a value of the struct.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Field;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::docs;
use super::generics::{find_unused_params, phantom_type};
use super::model::{Body, Operator};
use crate::tokens::braced;

pub(super) fn expand_definition(operator: &Operator) -> TokenStream {
    let Operator { ident, visibility, attrs, generics, .. } = operator;
    let state = match &operator.body {
        Body::AsWritten(item) => return item.clone(),
        Body::State(state) => state,
    };
    let (_, _, where_clause) = generics.split_for_impl();
    let params = &generics.params;
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    let table = docs::write_port_table(operator);
    let params_table = docs::write_param_table(operator);
    let [keyword, braces] = operator.spans;
    let keyword = quote_spanned!(keyword=> struct);
    let unused = find_unused_params(generics, &quote!(#(#state,)*));
    let phantom_field = (!unused.is_empty()).then(|| {
        let ty = phantom_type(&unused);
        quote!(#[doc(hidden)] __streamflow_ports: #ty,)
    });
    let new =
        (!operator.options.no_new).then(|| expand_new(operator, state, phantom_field.is_some()));
    let fields = braced(braces, quote!(#(#state,)* #phantom_field));
    quote! {
        #(#attrs)*
        #table
        #params_table
        #visibility #keyword #ident #params #where_clause #fields
        #new
    }
}

/// Writes `new`. Its arguments are the state's fields in their order, without those marked `#[state]`: `new` makes these by
/// `Default`.
fn expand_new(operator: &Operator, state: &[Field], has_phantom_field: bool) -> TokenStream {
    let Operator { ident, visibility, cfgs, generics, .. } = operator;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let is_made =
        |field: &&Field| field.ident.as_ref().is_some_and(|ident| operator.made.contains(ident));
    let (made, given): (Vec<&Field>, Vec<&Field>) = state.iter().partition(is_made);
    let arguments = given.iter().map(|field| {
        let (cfgs, name, ty) = (cfgs_of(field), &field.ident, &field.ty);
        quote!(#cfgs #name: #ty,)
    });
    let taken = given.iter().map(|field| {
        let (cfgs, name) = (cfgs_of(field), &field.ident);
        quote!(#cfgs #name,)
    });
    let by_default = made.iter().map(|field| {
        let (cfgs, name, ty) = (cfgs_of(field), &field.ident, &field.ty);
        // The call of `default` has the span of the field's type, since rustc reports a missing `Default` there.
        let make = quote_spanned!(ty.span()=> <#ty as ::core::default::Default>::default());
        quote!(#cfgs #name: #make,)
    });
    let phantom_field =
        has_phantom_field.then(|| quote!(__streamflow_ports: ::core::marker::PhantomData,));
    let text = if made.is_empty() {
        format!("Makes a `{ident}` from its state, in the order of its fields.")
    } else {
        let names = made.iter().filter_map(|field| field.ident.as_ref());
        let names = names.map(|name| format!("`{}`", name.unraw())).collect::<Vec<_>>().join(", ");
        format!(
            "Makes a `{ident}` from its state, in the order of its fields. These begin with their `Default`: {names}."
        )
    };
    // `fn new` has the span of the struct's name: rustc shows this span when a call has wrong arguments.
    let function = quote_spanned!(ident.span()=> fn new(#(#arguments)*) -> Self);
    let body = braced(ident.span(), quote!(Self { #(#taken)* #(#by_default)* #phantom_field }));
    quote! {
        #cfgs
        #[allow(clippy::new_without_default, clippy::too_many_arguments, dead_code)]
        impl #impl_generics #ident #type_generics #where_clause {
            #[doc = #text]
            #[must_use]
            #visibility #function #body
        }
    }
}

fn cfgs_of(field: &Field) -> TokenStream {
    let cfgs = field.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    quote!(#(#cfgs)*)
}
