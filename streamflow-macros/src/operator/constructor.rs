//! The user's struct without its ports, and its `new`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Field;

use super::docs;
use super::generics::{phantom, unused};
use super::model::{Body, Operator};
use crate::tokens::braced;

pub(super) fn definition(operator: &Operator) -> TokenStream {
    let Operator { ident, visibility, attrs, generics, .. } = operator;
    let state = match &operator.body {
        Body::AsWritten(item) => return item.clone(),
        Body::State(state) => state,
    };
    let (_, _, where_clause) = generics.split_for_impl();
    let params = &generics.params;
    let params = (!params.is_empty()).then(|| quote!(<#params>));
    let table = docs::table(operator);
    let [keyword, braces] = operator.spans;
    let keyword = quote_spanned!(keyword=> struct);
    let unused = unused(generics, &quote!(#(#state,)*));
    let marker = (!unused.is_empty()).then(|| {
        let ty = phantom(&unused);
        quote!(#[doc(hidden)] __ports: #ty,)
    });
    let new = (!operator.options.no_new).then(|| new(operator, state, marker.is_some()));
    let fields = braced(braces, quote!(#(#state,)* #marker));
    quote! {
        #(#attrs)*
        #table
        #visibility #keyword #ident #params #where_clause #fields
        #new
    }
}

/// `new`, with the state's fields as its arguments.
fn new(operator: &Operator, state: &[Field], marked: bool) -> TokenStream {
    let Operator { ident, visibility, cfgs, generics, .. } = operator;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let conditions = state.iter().map(|field| {
        let cfgs = field.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        quote!(#(#cfgs)*)
    });
    let conditions: Vec<TokenStream> = conditions.collect();
    let names: Vec<TokenStream> = state.iter().map(|field| field.ident.to_token_stream()).collect();
    let types = state.iter().map(|field| &field.ty);
    let marker = marked.then(|| quote!(__ports: ::core::marker::PhantomData,));
    let text = format!("Makes a `{ident}` from its state, in the order of its fields.");
    // The span of the struct's name: rustc shows it when a call has wrong arguments.
    let function = quote_spanned!(ident.span()=> fn new(#(#conditions #names: #types,)*) -> Self);
    let body = braced(ident.span(), quote!(Self { #(#conditions #names,)* #marker }));
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
