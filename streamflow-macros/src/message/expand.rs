//! Writes the trait implementations of a message.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Member, Type, parse_quote};

use super::fields::{List, Message, Shape};
use super::lists::{fields_impl, names};
use crate::tokens::{bounds_left_to_rustc, bounds_of_params, check_host_data, mentions};

/// Writes the whole expansion of a message. `sound` says that the macro found no mistake.
pub(super) fn message(message: &Message, sound: bool) -> TokenStream {
    let Message { ident, shape, .. } = message;
    if message.generics.lifetimes().next().is_some() {
        // A type with a lifetime can't be a message. `fields.rs` has reported that already.
        return TokenStream::new();
    }
    let generics = bounded(message);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let mut receive_generics = generics.clone();
    let tick = Lifetime::new("'streamflow", ident.span());
    receive_generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(tick)));
    let (receive_params, _, _) = receive_generics.split_for_impl();
    // The tokens have the spans of the fields' types, so that rustc reports a field that is no message at its type.
    let place =
        shape.types().into_iter().rev().fold(quote!(::streamflow::__private::Host), |rest, ty| {
            quote_spanned! {ty.span()=>
                <<#ty as ::streamflow::__private::Message>::Place
                    as ::streamflow::__private::Place>::And<#rest>
            }
        });
    let (shows, describes) = (for_each_field(shape, &show), for_each_field(shape, &describe));
    let tensors = for_each_field(shape, &tensor);
    let (begins, of_tensors) = match shape {
        Shape::Struct(fields) => (None, sound.then(|| from_tensors(fields))),
        Shape::Enum(variants) => {
            let arms = variants.iter().map(|(variant, fields)| {
                let name = variant.unraw().to_string();
                let method = if fields.is_empty() { quote!(unit) } else { quote!(variant) };
                quote!(Self::#variant { .. } => __to.#method(#name),)
            });
            // An enum can't be made of tensors, as the trait's default implementation says: the names of tensors don't tell the
            // variant.
            (Some(quote!(match self { #(#arms)* })), None)
        }
    };
    let downloads = shape.types().into_iter().map(|ty| {
        quote_spanned!(ty.span()=> || <#ty as ::streamflow::__private::Message>::__STREAMFLOW_HAS_DOWNLOADS)
    });
    let fields_impl = fields_impl(message, &generics);
    // A field whose type mentions the message itself has no check: the check would depend on the message's own place.
    let is_within = |ty: &Type| mentions(ty.to_token_stream(), ident);
    let others = shape.types().into_iter().filter(|ty| !is_within(ty));
    let host_data = check_host_data(others, &message.generics);
    let do_not_recommend = (!message.is_listed).then(|| quote!(#[diagnostic::do_not_recommend]));
    quote! {
        #[allow(trivial_bounds)]
        const _: () = {
            #host_data
            #fields_impl
            #do_not_recommend
            impl #impl_generics ::streamflow::__private::Message for #ident #type_generics
            #where_clause
            {
                type Place = #place;
                type Item = Self;
                type Owners = ::streamflow::__private::Sole;
                type __Own = Self;

                const __STREAMFLOW_HAS_DOWNLOADS: ::core::primitive::bool = false #(#downloads)*;

                #[allow(unused_variables)]
                fn memory(&self, __visit: &mut ::streamflow::__private::MemoryVisitor<'_>) {
                    #shows
                }

                #[allow(unused_variables)]
                fn __streamflow_describe(&self, __to: &mut ::streamflow::__private::Description) {
                    #begins
                    #describes
                }

                #[allow(unused_variables)]
                fn __streamflow_tensors<'streamflow>(
                    &'streamflow self,
                    __to: &mut ::streamflow::__private::Tensors<'streamflow>,
                ) {
                    #begins
                    #tensors
                }

                #of_tensors

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

/// Writes a statement for each field. For an enum, a `match` runs the statements of the fields of its current variant.
/// `statement` gets the field as a reference.
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

/// Writes a call that passes the memory of a field to the visitor.
fn show(_: &Member, ty: &Type, field: &TokenStream) -> TokenStream {
    let show = quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Message>::memory);
    quote!(#show(#field, __visit);)
}

fn name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Writes a call that adds the tensors of a field under the field's name.
fn tensor(member: &Member, ty: &Type, field: &TokenStream) -> TokenStream {
    let name = name(member);
    let tensors =
        quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Message>::__streamflow_tensors);
    quote!(__to.field(#name, |__to| #tensors(#field, __to));)
}

/// Writes the function that makes the message: each field is made of the tensors that have its name.
fn from_tensors(fields: &List) -> TokenStream {
    let fields = fields.iter().map(|(member, ty)| {
        let name = name(member);
        let field = quote_spanned!(ty.span()=> __from.field::<#ty>(#name));
        quote!(#member: #field?,)
    });
    quote! {
        #[allow(unused_variables)]
        fn __streamflow_from_tensors(
            __from: &mut ::streamflow::__private::FromTensors<'_>,
        ) -> ::core::result::Result<Self, ::streamflow::__private::Error> {
            ::core::result::Result::Ok(Self { #(#fields)* })
        }
    }
}

/// Writes a call that describes a field under the field's name.
fn describe(member: &Member, ty: &Type, field: &TokenStream) -> TokenStream {
    let name = name(member);
    let describe = quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::Message>::__streamflow_describe);
    quote!(__to.field(#name, |__to| #describe(#field, __to));)
}

/// Returns the user's generics, with a where clause that says that the fields are messages. If one is not, rustc reports that
/// once, at the field's type, and assumes it in the rest of the generated code.
fn bounded(message: &Message) -> Generics {
    let mut generics = message.generics.clone();
    let types = message.shape.types();
    let of_params = bounds_of_params(types.iter().copied(), &message.generics);
    let of_types = bounds_left_to_rustc(types.into_iter(), &message.generics);
    for clause in of_types.into_iter().chain(of_params) {
        generics.make_where_clause().predicates.push(parse_quote!(#clause));
    }
    generics
}
