//! The tokens that a mistake underlines.
//!
//! rustc underlines an expression from its first token to its last. So the first and the last token of generated code
//! have the spans of the user's first and last token. These spans are the user's own, unchanged: rustc then does not
//! mention the macro.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

pub(super) use crate::expression::first_and_last;

use super::model::{Discard, Edge};
use super::parts::Port;

/// The spans of the tokens that a mistake underlines: those of the first token, of one in the middle, and of the last
/// token. Names of the expansion get the middle one.
#[derive(Clone, Copy)]
pub(super) struct Underline {
    pub(super) first: Span,
    pub(super) middle: Span,
    pub(super) last: Span,
}

impl Underline {
    /// Underlines one token.
    pub(super) fn one(span: Span) -> Self {
        Self { first: span, middle: span, last: span }
    }

    /// Underlines all the tokens, without one in the middle.
    pub(super) fn all(tokens: impl ToTokens) -> Self {
        let (first, last) = first_and_last(tokens);
        Self { first, middle: first, last }
    }
}

impl ToTokens for Port {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.node.to_tokens(tokens);
        self.dot.to_tokens(tokens);
        self.name.to_tokens(tokens);
    }
}

impl Edge {
    /// The tokens that a mistake of this edge underlines. If the input is in a group, that is the input alone: the rest
    /// belongs to the other edges as well.
    pub(super) fn underlined_tokens(&self) -> TokenStream {
        let Self { output, arrow, input, .. } = self;
        if self.in_group { quote!(#input) } else { quote!(#output #arrow #input) }
    }

    /// The spans of these tokens.
    pub(super) fn underline(&self) -> Underline {
        let last = self.input.name.span();
        if self.in_group {
            Underline { first: self.input.node.span(), middle: self.input.dot.span(), last }
        } else {
            Underline { first: self.output.node.span(), middle: self.arrow.span(), last }
        }
    }
}

impl Discard {
    /// The tokens that a mistake of this statement underlines.
    pub(super) fn underlined_tokens(&self) -> TokenStream {
        let Self { output, arrow, underscore } = self;
        quote!(#output #arrow #underscore)
    }

    /// The spans of these tokens.
    pub(super) fn underline(&self) -> Underline {
        let (first, last) = (self.output.node.span(), self.underscore.span());
        Underline { first, middle: self.arrow.span(), last }
    }
}
