//! The generated trait implementations of a message.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Member, Type, parse_quote};

use super::fields::{Message, Shape};
use super::lists::{fields_impl, names};
use crate::tokens::bounds_left_to_rustc;

pub(super) fn message(message: &Message) -> TokenStream {
    let Message { ident, shape, .. } = message;
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
    let place =
        shape.types().into_iter().rev().fold(quote!(::streamflow::__private::Host), |rest, ty| {
            quote_spanned! {ty.span()=>
                <<#ty as ::streamflow::__private::Message>::Place
                    as ::streamflow::__private::Place>::And<#rest>
            }
        });
    let (shows, describes) = (for_each_field(shape, &show), for_each_field(shape, &describe));
    let begins = match shape {
        Shape::Struct(_) => None,
        Shape::Enum(variants) => {
            let arms = variants.iter().map(|(variant, fields)| {
                let name = variant.unraw().to_string();
                let method = if fields.is_empty() { quote!(unit) } else { quote!(variant) };
                quote!(Self::#variant { .. } => __described.#method(#name),)
            });
            Some(quote!(match self { #(#arms)* }))
        }
    };
    let downloads = shape.types().into_iter().map(|ty| {
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

                const __HAS_DOWNLOADS: ::core::primitive::bool = false #(#downloads)*;

                #[allow(unused_variables)]
                fn memory(&self, __visit: &mut ::streamflow::__private::MemoryVisitor<'_>) {
                    #shows
                }

                #[allow(unused_variables)]
                fn __describe(&self, __described: &mut ::streamflow::__private::Description) {
                    #begins
                    #describes
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

                fn open(__inlet: &'streamflow mut ::streamflow::__private::Inlet<Self>) -> Self {
                    __inlet.take()
                }
            }

            #[diagnostic::do_not_recommend]
            impl #receive_params ::streamflow::__private::ReceiveEach<'streamflow>
            for #ident #type_generics #where_clause
            {
                type Messages = &'streamflow mut ::streamflow::__private::Inlet<Self>;

                fn each(__inlet: Self::Messages) -> Self::Messages {
                    __inlet
                }

                fn next(__messages: &mut Self::Messages) -> ::core::option::Option<Self> {
                    if ::streamflow::__private::Inlet::has_message(__messages) {
                        ::core::option::Option::Some(::streamflow::__private::Inlet::take(__messages))
                    } else {
                        ::core::option::Option::None
                    }
                }

                fn left(__messages: &Self::Messages) -> ::core::primitive::usize {
                    ::streamflow::__private::Inlet::len(__messages)
                }
            }
        };
    }
}

/// A statement for each field, for those of the variant that a message is. The field is a reference.
fn for_each_field(
    shape: &Shape,
    statement: &dyn Fn(&Member, &Type, &TokenStream) -> TokenStream,
) -> TokenStream {
    match shape {
        Shape::Struct(fields) => fields
            .iter()
            .map(|(member, ty)| statement(member, ty, &quote!(&self.#member)))
            .collect(),
        Shape::Enum(variants) => {
            let arms = variants.iter().map(|(variant, fields)| {
                let (names, _) = names(fields);
                let members = fields.iter().map(|(member, _)| member);
                let statements = fields
                    .iter()
                    .zip(&names)
                    .map(|((member, ty), name)| statement(member, ty, &quote!(#name)));
                quote!(Self::#variant { #(#members: #names,)* } => { #(#statements)* })
            });
            quote!(match self { #(#arms)* })
        }
    }
}

/// Passes the memory of a field to the visitor.
fn show(_: &Member, ty: &Type, field: &TokenStream) -> TokenStream {
    let show = quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Message>::memory);
    quote!(#show(#field, __visit);)
}

/// Describes a field under its name.
fn describe(member: &Member, ty: &Type, field: &TokenStream) -> TokenStream {
    let name = match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let describe =
        quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Message>::__describe);
    quote!(__described.field(#name, |__described| #describe(#field, __described));)
}

/// The user's generics, with a where clause that the fields are messages. If one is not, rustc reports it once, at the
/// field's type, and assumes it in the rest of the generated code.
fn bounded(message: &Message) -> Generics {
    let mut generics = message.generics.clone();
    for clause in bounds_left_to_rustc(message.shape.types().into_iter(), &message.generics) {
        generics.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    generics
}
