//! Writes the fields of a message as a list, with which an edge copies the message field by field.
//!
//! The list of a struct is nested pairs: `(A, (B, ()))`. The list of an enum holds the list of one of its variants:
//! `Either<first, Either<second, Neither>>`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Generics;

use super::fields::{List, Message, Shape};

/// Writes the implementation of `Fields`. Returns `None` for a message without fields and for a rejected type.
pub(super) fn fields_impl(message: &Message, generics: &Generics) -> Option<TokenStream> {
    let ident = &message.ident;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (list, refs, made) = match &message.shape {
        Shape::Struct(fields) if fields.is_empty() => return None,
        Shape::Struct(fields) => of_struct(fields),
        Shape::Enum(variants) => of_enum(variants),
    };
    Some(quote! {
        // Without this attribute, an error about a field that can't be copied would name the derive as its origin.
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::streamflow::__private::Fields for #ident #type_generics
        #where_clause
        {
            type List = #list;

            fn field_refs(&self) -> <Self::List as ::streamflow::__private::FieldList>::FieldRefs<'_> {
                #refs
            }

            fn from_fields(fields: Self::List) -> Self {
                #made
            }
        }
    })
}

/// Returns the type of the list, the list of references to the fields, and the code that makes a message from the list `fields`.
fn of_struct(fields: &List) -> (TokenStream, TokenStream, TokenStream) {
    let refs = nest(fields.iter().map(|(member, _)| quote!(&self.#member)).collect());
    let (names, taken) = names(fields);
    let members = fields.iter().map(|(member, _)| member);
    let made = quote! {
        let #taken = fields;
        Self { #(#members: #names,)* }
    };
    (types(fields), refs, made)
}

fn of_enum(variants: &[(Ident, List)]) -> (TokenStream, TokenStream, TokenStream) {
    let end = quote!(::streamflow::__private::Neither);
    let list = variants.iter().rev().fold(end, |rest, (_, fields)| {
        let types = types(fields);
        quote!(::streamflow::__private::Either<#types, #rest>)
    });
    let arms = variants.iter().enumerate().map(|(index, (variant, fields))| {
        let (names, list) = names(fields);
        let members: Vec<_> = fields.iter().map(|(member, _)| member).collect();
        let either = nth(index, &quote!(::streamflow::__private::Either::This(#list)));
        let to = quote!(Self::#variant { #(#members: #names,)* } => #either,);
        let from = quote!(#either => Self::#variant { #(#members: #names,)* },);
        (to, from)
    });
    let (to, from): (TokenStream, TokenStream) = arms.unzip();
    let never = nth(variants.len(), &quote!(neither));
    let refs = quote!(match self { #to });
    let made = quote!(match fields { #from #never => match neither {} });
    (list, refs, made)
}

/// Returns the value or pattern of the variant at `index`: `this` inside of as many `Either::Other(…)`.
fn nth(index: usize, this: &TokenStream) -> TokenStream {
    (0..index).fold(this.clone(), |rest, _| quote!(::streamflow::__private::Either::Other(#rest)))
}

fn types(fields: &List) -> TokenStream {
    nest(fields.iter().map(|(_, ty)| quote!(#ty)).collect())
}

/// Returns a variable's name for each field, and a pattern that takes a list apart into these variables.
pub(super) fn names(fields: &List) -> (Vec<Ident>, TokenStream) {
    let name = |index| format_ident!("__field_{}", index, span = Span::mixed_site());
    let names: Vec<Ident> = (0..fields.len()).map(name).collect();
    let list = nest(names.iter().map(|name| quote!(#name)).collect());
    (names, list)
}

fn nest(items: Vec<TokenStream>) -> TokenStream {
    items.into_iter().rev().fold(quote!(()), |rest, item| quote!((#item, #rest)))
}
