//! A value of a body, in both languages.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
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

/// An operand of an expression.
pub(super) struct Operand {
    /// The operand as it is written.
    pub(super) written: Expr,
    /// The Rust text that takes it.
    pub(super) taken: TokenStream,
}

/// The operands that an expression has named so far, in the order of their numbers.
#[derive(Default)]
pub(super) struct Operands {
    pub(super) all: Vec<Operand>,
}

impl Operands {
    /// The element of an operand, in both languages.
    pub(super) fn element(&mut self, written: &Expr, taken: impl FnOnce() -> TokenStream) -> Value {
        let keys = keys(bare(written).to_token_stream());
        let known = self
            .all
            .iter()
            .position(|one| self::keys(bare(&one.written).to_token_stream()) == keys);
        let number = known.unwrap_or_else(|| {
            self.all.push(Operand { written: written.clone(), taken: taken() });
            self.all.len() - 1
        });
        let span = written.span();
        let first = self.all.get(number).map_or(span, |one| one.written.span());
        let ident = operand_name(number, first.located_at(span));
        Value::new(quote_spanned!(span=> (*#ident)), argument_name(&name(number, span)))
    }
}

/// The text of an operand, with its names as its macro finds them.
fn keys(tokens: TokenStream) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => text += &key(&ident),
            TokenTree::Group(group) => text += &format!("({})", keys(group.stream())),
            other => text += &other.to_string(),
        }
        text.push(' ');
    }
    text
}

/// The name by which a variable or a label is found: its text, and where it was written. As in Rust, a variable of a macro's
/// definition is another one than that of the macro's use with the same text.
pub(super) fn key(ident: &Ident) -> String {
    // rustc shows a span as `#4 bytes(10..11)`: its context, and its place.
    let context = proc_macro::is_available().then(|| format!("{:?}", ident.span().unwrap()));
    let context = context.as_deref().and_then(|text| text.split(' ').next()).unwrap_or_default();
    format!("{}{context}", ident.unraw())
}

pub(super) fn name(number: usize, span: Span) -> Ident {
    Ident::new(&format!("x{number}"), span)
}

/// The variable in Rust of an operand. Its span is resolved as the operand's first token, and not as the macro's: rustc names the macro
/// as the origin of an error otherwise.
pub(super) fn operand_name(number: usize, span: Span) -> Ident {
    Ident::new(&format!("__streamflow_x{number}"), span)
}

/// The least and the largest value of an integer.
pub(super) type Range = [i64; 2];

/// The expression without parentheses.
pub(super) fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        other => other,
    }
}
