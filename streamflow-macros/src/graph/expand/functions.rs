//! Writes functions inside of `new`, for code that uses only its arguments, and no other value of `new`.
//!
//! Such code could also be in closures. But when rustc compiles incrementally, it hashes the types of all of `new` once for each
//! closure in `new`, so its time would grow with the square of the number of nodes. rustc checks an inner function separately.
//! The user's expressions can name any value of `new`, so they are in closures: see `chunk.rs`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Generics;

/// An argument of a function: its name, its type, and what `new` passes.
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) ty: TokenStream,
    /// The expression that `new` passes as this argument.
    pub(super) value: TokenStream,
}

impl Argument {
    pub(super) fn new(name: Ident, ty: TokenStream, value: TokenStream) -> Self {
        Self { name, ty, value }
    }
}

/// A function.
pub(super) struct Function {
    pub(super) name: Ident,
    pub(super) arguments: Vec<Argument>,
    pub(super) returns: TokenStream,
    pub(super) body: TokenStream,
}

impl Function {
    /// Returns the function's definition, with the parameters of the graph. `#[inline(never)]` keeps the function's variables out of
    /// the stack frame of `new`.
    pub(super) fn define(&self, generics: &Generics) -> TokenStream {
        let Self { name, arguments, returns, body } = self;
        let (params, _, clauses) = generics.split_for_impl();
        let arguments = arguments.iter().map(|Argument { name, ty, .. }| quote!(#name: #ty));
        quote! {
            #[allow(
                non_snake_case, unused, clippy::all, clippy::pedantic, clippy::arithmetic_side_effects,
                clippy::indexing_slicing
            )]
            #[inline(never)]
            fn #name #params (#(#arguments,)*) -> #returns #clauses {
                #body
            }
        }
    }

    /// Writes a call of the function.
    pub(super) fn call(&self, generics: &Generics) -> TokenStream {
        let values = self.arguments.iter().map(|argument| &argument.value);
        let (name, (_, arguments, _)) = (&self.name, generics.split_for_impl());
        let arguments = arguments.as_turbofish();
        quote!(#name #arguments (#(#values,)*))
    }
}
