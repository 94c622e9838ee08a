//! The generated trait implementations of a message.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, parse_quote};

use super::fields::Message;
use crate::tokens::bounds_left_to_rustc;

pub(super) fn message(message: &Message) -> TokenStream {
    let Message { ident, fields, .. } = message;
    if message.generics.lifetimes().next().is_some() {
        // It can't be a message, and the error is already reported.
        return TokenStream::new();
    }
    let generics = bounded(message);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let mut receive_generics = generics.clone();
    let tick = Lifetime::new("'streamflow", ident.span());
    receive_generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(tick)));
    let (receive_params, _, _) = receive_generics.split_for_impl();
    // The spans of the fields' types: rustc reports mistakes there.
    let place = fields.iter().rev().fold(quote!(::streamflow::__private::Host), |rest, (_, ty)| {
        quote_spanned! {ty.span()=>
            <<#ty as ::streamflow::__private::Message>::Place
                as ::streamflow::__private::Place>::And<#rest>
        }
    });
    let shows = fields.iter().map(|(member, ty)| {
        let show = quote_spanned! {ty.span()=>
            <#ty as ::streamflow::__private::Message>::memory
        };
        quote!(#show(&self.#member, visit);)
    });
    let downloads = fields.iter().map(|(_, ty)| {
        quote_spanned!(ty.span()=> || <#ty as ::streamflow::__private::Message>::__HAS_DOWNLOADS)
    });
    let fields_impl = fields_impl(message, &generics);
    quote! {
        #[allow(trivial_bounds)]
        const _: () = {
            #fields_impl
            impl #impl_generics ::streamflow::__private::Message for #ident #type_generics
            #where_clause
            {
                type Place = #place;
                type Item = Self;
                type Owners = ::streamflow::__private::Sole;
                type __Own = Self;

                const __HAS_DOWNLOADS: bool = false #(#downloads)*;

                #[allow(unused_variables)]
                fn memory(&self, visit: &mut ::streamflow::__private::MemoryVisitor<'_>) {
                    #(#shows)*
                }

                fn into_payload(self) -> ::streamflow::__private::Payload<Self> {
                    ::streamflow::__private::Payload::One(self)
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

            #[diagnostic::do_not_recommend]
            impl #receive_params ::streamflow::__private::ReceiveEach<'streamflow>
            for #ident #type_generics #where_clause
            {
                type Messages = &'streamflow mut ::streamflow::__private::Inlet<Self>;

                fn each(inlet: Self::Messages) -> Self::Messages {
                    inlet
                }

                fn next(messages: &mut Self::Messages) -> ::core::option::Option<Self> {
                    if messages.has_message() {
                        ::core::option::Option::Some(messages.take())
                    } else {
                        ::core::option::Option::None
                    }
                }

                fn left(messages: &Self::Messages) -> usize {
                    messages.len()
                }
            }
        };
    }
}

/// The impl of `Fields`, the list of the fields: an edge can copy a message if it can copy all of its fields. `None`
/// for a type without fields, or a rejected one.
fn fields_impl(message: &Message, generics: &Generics) -> Option<TokenStream> {
    if message.fields.is_empty() {
        return None;
    }
    let ident = &message.ident;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let nest = |items: Vec<TokenStream>| {
        items.into_iter().rev().fold(quote!(()), |rest, item| quote!((#item, #rest)))
    };
    let name = |index| format_ident!("__field_{}", index, span = Span::mixed_site());
    let types = nest(message.fields.iter().map(|(_, ty)| quote!(#ty)).collect());
    let refs = nest(message.fields.iter().map(|(member, _)| quote!(&self.#member)).collect());
    let names: Vec<Ident> = (0..message.fields.len()).map(name).collect();
    let taken = nest(names.iter().map(|name| quote!(#name)).collect());
    let members = message.fields.iter().map(|(member, _)| member);
    Some(quote! {
        impl #impl_generics ::streamflow::__private::Fields for #ident #type_generics
        #where_clause
        {
            type List = #types;

            fn field_refs(&self) -> <Self::List as ::streamflow::__private::FieldList>::FieldRefs<'_> {
                #refs
            }

            fn from_fields(#taken: Self::List) -> Self {
                Self { #(#members: #names,)* }
            }
        }
    })
}

/// The user's generics, with a where clause that the fields are messages. If one is not, rustc reports it once, at the
/// field's type, and assumes it in the rest of the generated code.
fn bounded(message: &Message) -> Generics {
    let mut generics = message.generics.clone();
    for clause in bounds_left_to_rustc(message.fields.iter().map(|(_, ty)| ty), &message.generics) {
        generics.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    generics
}
