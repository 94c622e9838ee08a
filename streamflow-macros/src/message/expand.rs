//! What a message implements.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Type, parse_quote};

use super::fields::Message;
use crate::tokens::mentions;

pub(super) fn message(message: &Message) -> TokenStream {
    let Message { ident, fields, .. } = message;
    let generics = bounded(message);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let mut receive_generics = generics.clone();
    let tick = Lifetime::new("'streamflow", ident.span());
    receive_generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(tick)));
    let (receive_params, _, _) = receive_generics.split_for_impl();
    // What is wrong with a field's type is told there.
    let place = fields.iter().rev().fold(quote!(::streamflow::__private::Host), |rest, (_, ty)| {
        let place = quote_spanned! {ty.span()=> <#ty as ::streamflow::__private::Message>::Place };
        quote! { <#place as ::streamflow::__private::Place>::And<#rest> }
    });
    let shows = fields.iter().map(|(member, ty)| {
        let show = quote_spanned! {ty.span()=>
            <#ty as ::streamflow::__private::Message>::memory
        };
        quote!(#show(&self.#member, visit);)
    });
    quote! {
        const _: () = {
            #[diagnostic::do_not_recommend]
            impl #impl_generics ::streamflow::__private::Message for #ident #type_generics
            #where_clause
            {
                type Place = #place;
                type Item = Self;
                type Owners = ::streamflow::__private::Sole;

                #[allow(unused_variables)]
                fn memory(&self, visit: &mut ::streamflow::__private::MemoryVisitor<'_>) {
                    #(#shows)*
                }

                fn into_payload(self) -> ::streamflow::__private::Payload<Self> {
                    ::streamflow::__private::Payload::Sole(self)
                }
            }

            #[diagnostic::do_not_recommend]
            impl #receive_params ::streamflow::__private::Receive<'streamflow>
            for #ident #type_generics #where_clause
            {
                type Message = Self;

                fn open(inlet: &'streamflow mut ::streamflow::__private::Inlet<Self>) -> Self {
                    inlet.take()
                }
            }
        };
    }
}

/// The user's generics; each field whose type depends on them must be a message.
fn bounded(message: &Message) -> Generics {
    let mut generics = message.generics.clone();
    let depends = |ty: &Type| {
        let names = message.generics.type_params().map(|param| &param.ident);
        names.into_iter().any(|name| mentions(ty.to_token_stream(), name))
    };
    let types: Vec<&Type> =
        message.fields.iter().map(|(_, ty)| ty).filter(|ty| depends(ty)).collect();
    if !types.is_empty() {
        let clause = generics.make_where_clause();
        for ty in types {
            clause.predicates.push(parse_quote!(#ty: ::streamflow::__private::Message));
        }
    }
    generics
}
