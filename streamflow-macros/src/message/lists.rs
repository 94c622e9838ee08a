//! The fields of a message as a list, so that an edge can copy it field by field.
//!
//! The list of a struct is nested pairs, `(A, (B, ()))`. The list of an enum holds the list of one of its
//! variants: `Either<first, Either<second, Neither>>`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Generics;

use super::fields::{List, Message, Shape};

/// The impl of `Fields`. `None` for a struct without fields, or a rejected type.
pub(super) fn fields_impl(message: &Message, generics: &Generics) -> Option<TokenStream> {
    let ident = &message.ident;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (list, refs, made) = match &message.shape {
        Shape::Struct(fields) if fields.is_empty() => return None,
        Shape::Struct(fields) => of_struct(fields),
        Shape::Enum(variants) => of_enum(variants),
    };
    Some(quote! {
        // Else an error about a field that can't be copied names the derive as its origin.
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

/// The list's type, the references to the fields, and the message made from `fields`.
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

/// The value or pattern of one of the variants after `index` others.
fn nth(index: usize, this: &TokenStream) -> TokenStream {
    (0..index).fold(this.clone(), |rest, _| quote!(::streamflow::__private::Either::Other(#rest)))
}

fn types(fields: &List) -> TokenStream {
    nest(fields.iter().map(|(_, ty)| quote!(#ty)).collect())
}

/// A name for each field, and the names as a list.
pub(super) fn names(fields: &List) -> (Vec<Ident>, TokenStream) {
    let name = |index| format_ident!("__field_{}", index, span = Span::mixed_site());
    let names: Vec<Ident> = (0..fields.len()).map(name).collect();
    let list = nest(names.iter().map(|name| quote!(#name)).collect());
    (names, list)
}

fn nest(items: Vec<TokenStream>) -> TokenStream {
    items.into_iter().rev().fold(quote!(()), |rest, item| quote!((#item, #rest)))
}
