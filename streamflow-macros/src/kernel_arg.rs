//! `#[derive(KernelArg)]`: a struct that kernels with one body take by value.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields};

use crate::diagnostic::Errors;
use crate::kernel::{field_name, letters_problem};
use crate::tokens::braced;

/// Expands one use of the derive.
pub(crate) fn kernel_arg(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Ok(input) = syn::parse2::<DeriveInput>(item) else { return TokenStream::new() };
    let fields = fields(&input, &mut errors);
    if !input.generics.params.is_empty() {
        let text =
            "a struct that kernels take has no type parameters: name the types of its fields";
        errors.at(&input.generics, text);
    }
    if !errors.is_empty() {
        return errors.into_tokens();
    }
    check_names(&fields, &mut errors);
    // A struct with a mistake in a name is an argument, so that rustc reports no kernel that takes it.
    [implementation(&input, &fields), errors.into_tokens()].into_iter().collect()
}

/// The fields of a struct with names.
fn fields<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Vec<&'a Field> {
    const FORM: &str =
        "kernels take structs whose fields have names, as `struct Lens { focus: f32 }`";
    let Data::Struct(data) = &input.data else {
        errors.at(&input.ident, FORM);
        return Vec::new();
    };
    match &data.fields {
        Fields::Named(named) if named.named.is_empty() => {
            errors.at(&input.ident, "a struct that kernels take has a field");
            Vec::new()
        }
        Fields::Named(named) => named.named.iter().collect(),
        _ => {
            errors.at(&input.ident, FORM);
            Vec::new()
        }
    }
}

/// Each field has a name that CUDA C++ can have.
fn check_names(fields: &[&Field], errors: &mut Errors) {
    for name in fields.iter().filter_map(|field| field.ident.as_ref()) {
        if let Some(problem) = letters_problem(&name.to_string()) {
            errors.at(name, format!("a field cannot be named `{name}`: {problem}"));
        }
    }
}

fn implementation(input: &DeriveInput, fields: &[&Field]) -> TokenStream {
    let name = &input.ident;
    let idents: Vec<_> = fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    // With the user's type as the place, so that rustc reports a field of another type there.
    let each = |item: &str| -> Vec<TokenStream> {
        let of = |Field { ty, .. }: &&Field| {
            let item = Ident::new(item, ty.span());
            quote_spanned!(ty.span()=> <#ty as ::streamflow::__private::body::KernelArg>::#item)
        };
        fields.iter().map(of).collect()
    };
    let [bytes, align, zero] = ["BYTES", "ALIGN", "ZERO"].map(each);
    let [cuda, spell, store, load] = ["cuda", "spell", "store", "load"].map(each);
    let names = idents.iter().map(|ident| field_name(ident));
    let places: Vec<usize> = (0..fields.len()).collect();
    let count = fields.len();
    let items = quote! {
        const BYTES: ::core::primitive::usize = __WHOLE[0];
        const ALIGN: ::core::primitive::usize = __WHOLE[1];
        const ZERO: Self = Self { #(#idents: #zero),* };

        fn cuda(types: &mut ::streamflow::__private::body::Types) -> ::std::string::String {
            types.structure::<Self>(__WHOLE,
                |types| ::std::vec![#((#names, #cuda(types), ::streamflow::__private::body::parts(__FIELDS)[#places])),*]
            )
        }

        fn spell(self) -> ::std::string::String {
            ::streamflow::__private::body::braces([#(#spell(self.#idents)),*])
        }

        #[inline]
        fn store(self, to: &mut [::core::primitive::u8]) {
            #(#store(self.#idents, &mut to[__PLACES[#places]..]);)*
        }

        #[inline]
        fn load(from: &[::core::primitive::u8]) -> Self {
            Self { #(#idents: #load(&from[__PLACES[#places]..])),* }
        }
    };
    // At the user's token: rustc names the macro as the origin of an error otherwise.
    let items = braced(name.span(), items);
    let implementation = quote_spanned! {name.span()=>
        impl ::streamflow::__private::body::KernelArg for #name #items
    };
    quote! {
        const _: () = {
            /// The bytes and the alignment of each field, and the places that C gives them.
            const __FIELDS: [(::core::primitive::usize, ::core::primitive::usize); #count] =
                [#((#bytes, #align)),*];
            /// The bytes and the alignment of the struct.
            const __WHOLE: [::core::primitive::usize; 2] = [
                ::streamflow::__private::body::size(__FIELDS),
                ::streamflow::__private::body::alignment(__FIELDS),
            ];
            const __PLACES: [::core::primitive::usize; #count] =
                ::streamflow::__private::body::offsets(__FIELDS);

            #implementation
        };
    }
}
