//! Finds the spans of the user's tokens that rustc underlines when it reports a mistake in generated code.
//!
//! rustc underlines an expression from its first token to its last. So the first and the last token of generated code get the
//! spans of the user's first and last token. These spans are used unchanged, since rustc's message else mentions the macro.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

pub(super) use crate::expression::first_and_last;

use super::index::Index;
use super::model::{Border, Discard, Edge};
use super::parts::{End, OwnEnd, Port, Side};

/// The spans that generated code gets from the user's tokens: of the first token, of one in the middle, and of the last token.
/// Names that only the expansion has get the middle span.
#[derive(Clone, Copy)]
pub(super) struct Underline {
    pub(super) first: Span,
    pub(super) middle: Span,
    pub(super) last: Span,
}

impl Underline {
    /// Returns the underline of a single token.
    pub(super) fn one(span: Span) -> Self {
        Self { first: span, middle: span, last: span }
    }

    /// Returns the underline of all these tokens. The middle span is that of the first token.
    pub(super) fn all(tokens: impl ToTokens) -> Self {
        let (first, last) = first_and_last(tokens);
        Self { first, middle: first, last }
    }
}

impl ToTokens for Port {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.node.to_tokens(tokens);
        self.index.to_tokens(tokens);
        self.dot.to_tokens(tokens);
        self.name.to_tokens(tokens);
        self.element.to_tokens(tokens);
    }
}

impl ToTokens for OwnEnd {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
        self.element.to_tokens(tokens);
    }
}

/// Returns the span of the last token of a name with an index, if it has one.
fn last_span(name: &Ident, element: Option<&Index>) -> Span {
    element.map_or(name.span(), |index| index.brackets.span.close())
}

impl Port {
    /// Returns the span of the last token.
    pub(super) fn last_span(&self) -> Span {
        last_span(&self.name, self.element.as_deref())
    }
}

impl OwnEnd {
    /// Returns the span of the last token.
    pub(super) fn last_span(&self) -> Span {
        last_span(&self.name, self.element.as_deref())
    }
}

impl ToTokens for End {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Node(port) => port.to_tokens(tokens),
            Self::Own(own) => own.to_tokens(tokens),
        }
    }
}

impl Border {
    /// Returns the user's tokens that a mistake of this edge underlines, as [`Edge::underlined_tokens`] does.
    pub(super) fn underlined_tokens(&self, side: Side) -> TokenStream {
        let Self { own, arrow, inner, .. } = self;
        match side {
            Side::Input if self.in_group => quote!(#inner),
            Side::Output if self.in_group => quote!(#own),
            Side::Input => quote!(#own #arrow #inner),
            Side::Output => quote!(#inner #arrow #own),
        }
    }

    /// Returns the spans of the tokens that `underlined_tokens` returns.
    pub(super) fn underline(&self, side: Side) -> Underline {
        let (own, inner) = (self.own.name.span(), &self.inner);
        let (first, middle, last) = match side {
            Side::Input if self.in_group => {
                (inner.node.span(), inner.dot.span(), inner.last_span())
            }
            Side::Output if self.in_group => (own, own, self.own.last_span()),
            Side::Input => (own, self.arrow.span(), inner.last_span()),
            Side::Output => (inner.node.span(), self.arrow.span(), self.own.last_span()),
        };
        Underline { first, middle, last }
    }
}

impl Edge {
    /// Returns the user's tokens that a mistake of this edge underlines. If the input is in a group, that is the input alone,
    /// since the other tokens also belong to other edges.
    pub(super) fn underlined_tokens(&self) -> TokenStream {
        let Self { output, arrow, input, .. } = self;
        if self.in_group { quote!(#input) } else { quote!(#output #arrow #input) }
    }

    /// Returns the spans of the tokens that `underlined_tokens` returns.
    pub(super) fn underline(&self) -> Underline {
        let last = self.input.last_span();
        if self.in_group {
            Underline { first: self.input.node.span(), middle: self.input.dot.span(), last }
        } else {
            Underline { first: self.output.node.span(), middle: self.arrow.span(), last }
        }
    }
}

impl Discard {
    /// Returns the user's tokens that a mistake of this discard underlines.
    pub(super) fn underlined_tokens(&self) -> TokenStream {
        let Self { output, arrow, underscore, .. } = self;
        quote!(#output #arrow #underscore)
    }

    /// Returns the spans of the tokens that `underlined_tokens` returns.
    pub(super) fn underline(&self) -> Underline {
        let (first, last) = (self.output.node.span(), self.underscore.span());
        Underline { first, middle: self.arrow.span(), last }
    }
}
