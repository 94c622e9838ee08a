//! The user's struct without its ports, and its `new`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Field;

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
        quote!(#[doc(hidden)] __ports: #ty,)
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

/// `new`, with the state's fields as its arguments.
fn expand_new(operator: &Operator, state: &[Field], has_phantom_field: bool) -> TokenStream {
    let Operator { ident, visibility, cfgs, generics, .. } = operator;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let conditions = state.iter().map(|field| {
        let cfgs = field.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        quote!(#(#cfgs)*)
    });
    let conditions: Vec<TokenStream> = conditions.collect();
    let names: Vec<TokenStream> = state.iter().map(|field| field.ident.to_token_stream()).collect();
    let types = state.iter().map(|field| &field.ty);
    let phantom_field = has_phantom_field.then(|| quote!(__ports: ::core::marker::PhantomData,));
    let text = format!("Makes a `{ident}` from its state, in the order of its fields.");
    // The span of the struct's name: rustc shows it when a call has wrong arguments.
    let function = quote_spanned!(ident.span()=> fn new(#(#conditions #names: #types,)*) -> Self);
    let body = braced(ident.span(), quote!(Self { #(#conditions #names,)* #phantom_field }));
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
