//! A value of a body, in both languages.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// A value, as an expression of Rust and as one of CUDA C++.
pub(super) struct Value {
    pub(super) host: TokenStream,
    pub(super) cuda: String,
}

impl Value {
    pub(super) fn new(host: TokenStream, cuda: impl Into<String>) -> Self {
        Self { host, cuda: cuda.into() }
    }

    /// The value in place of an expression that was reported. It has any type.
    pub(super) fn wrong() -> Self {
        Self::new(quote::quote!(::streamflow::__private::body::any()), "0")
    }
}

/// A place in the Rust text that tells the text in CUDA a type, or a value. In the examples below it is number 3.
pub(super) enum Witness {
    /// The type `W3`.
    Type,
    /// The function `C3`.
    Function,
    /// The type `W3`, and the constant `L3` with this value.
    Constant(TokenStream),
    /// The constant `L3`, with this value, of the type of another witness.
    Pattern { of: usize, value: TokenStream },
}

/// The name in CUDA of an argument's element or value.
pub(super) fn argument_name(ident: &Ident) -> String {
    // Two underscores: no argument has a name with them, so that this is no other argument's.
    format!("{}__0", ident.unraw())
}

/// The operands that an expression has named so far.
#[derive(Default)]
pub(super) struct Operands {
    /// Each as it is written, in the order of their numbers.
    pub(super) all: Vec<Expr>,
}

impl Operands {
    /// The element of the operand that an expression names, in both languages.
    pub(super) fn element(&mut self, written: &Expr) -> Value {
        let text = written.to_token_stream().to_string();
        let known = self.all.iter().position(|one| one.to_token_stream().to_string() == text);
        let number = known.unwrap_or_else(|| {
            self.all.push(written.clone());
            self.all.len() - 1
        });
        let span = Span::mixed_site().located_at(written.span());
        let ident = name(number, span);
        let cuda = argument_name(&ident);
        Value::new(quote_spanned!(span=> (*#ident)), cuda)
    }
}

pub(super) fn name(number: usize, span: Span) -> Ident {
    Ident::new(&format!("x{number}"), span)
}

/// The least and the largest value of an integer.
pub(super) type Range = [i64; 2];
