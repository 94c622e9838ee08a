//! Indices of nodes in an array: `cameras[3].frame` or `cameras[N - 1].frame`, and in a loop `cameras[i].frame` or
//! `cameras[i + 1].frame`. A port in an array of ports has an index, too: `part.frames[3]`.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, token};

use crate::expression::whole_number;

/// An index in brackets.
#[derive(Clone)]
pub(super) struct Index {
    pub(super) brackets: token::Bracket,
    /// The tokens in the brackets.
    pub(super) written: Expr,
    pub(super) place: Place,
}

/// The element that an index names.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A number.
    At(u64),
    /// A constant, as `N - 1`.
    Constant,
    /// The variable of the loop plus this number.
    FromVariable(i64),
}

/// The loop around an edge: `for i in 0..4 { … }`.
#[derive(Clone)]
pub(super) struct Loop {
    /// The number of the statement. Each edge in the loop has a copy of it.
    pub(super) id: usize,
    pub(super) keyword: Span,
    pub(super) variable: Ident,
    pub(super) start: Expr,
    pub(super) end: Expr,
}

impl Index {
    /// Whether the index is that of another element in each turn of a loop.
    pub(super) fn follows_loop(&self) -> bool {
        matches!(self.place, Place::FromVariable(_))
    }

    /// Returns the first and the last element that the index names in a loop, each as a constant expression of type `i128`.
    pub(super) fn reach(&self, around: Option<&Loop>) -> (TokenStream, TokenStream) {
        match (&self.place, around) {
            (Place::At(at), _) => {
                let at = i128::from(*at);
                (at.to_token_stream(), at.to_token_stream())
            }
            (Place::Constant, _) => {
                let at = wide(&self.written);
                (at.clone(), at)
            }
            (Place::FromVariable(offset), Some(Loop { start, end, .. })) => {
                let offset = i128::from(*offset);
                let (start, end) = (wide(start), wide(end));
                (quote!(#start + #offset), quote!(#end - 1 + #offset))
            }
            (Place::FromVariable(_), None) => (quote!(0), quote!(0)),
        }
    }
}

/// Writes a constant expression of type `usize` as an `i128`.
fn wide(expression: &Expr) -> TokenStream {
    quote!((((#expression) as ::core::primitive::usize) as ::core::primitive::i128))
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::At(at) => write!(f, "[{at}]"),
            Place::FromVariable(_) | Place::Constant => {
                write!(f, "[{}]", crate::tokens::spelled_tokens(self.written.to_token_stream()))
            }
        }
    }
}

impl ToTokens for Index {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.brackets.surround(tokens, |tokens| self.written.to_tokens(tokens));
    }
}

impl Loop {
    /// Whether the loop has the variable `name`.
    pub(super) fn declares(&self, name: &Ident) -> bool {
        self.variable.unraw() == name.unraw()
    }

    /// Returns the number of turns, as a constant expression. A range without turns is reported by another check.
    pub(super) fn turns(&self) -> TokenStream {
        let Self { start, end, .. } = self;
        quote!((((#end) as ::core::primitive::usize).saturating_sub(#start)))
    }

    /// Returns the number of turns, if both ends of the range are numbers.
    pub(super) fn known_turns(&self) -> Option<u64> {
        whole_number(&self.end)?.checked_sub(whole_number(&self.start)?)
    }

    /// Returns the range as text, as `0..4`.
    pub(super) fn text(&self) -> String {
        let text = |end: &Expr| crate::tokens::spelled_tokens(end.to_token_stream());
        format!("{}..{}", text(&self.start), text(&self.end))
    }
}
