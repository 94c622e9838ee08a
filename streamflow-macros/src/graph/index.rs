//! Indices of nodes in an array: `cameras[3].frame`, and in a loop `cameras[i].frame` or `cameras[i + 1].frame`.

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
    /// Returns the first and the last element that the index names in a loop, if the range has numbers at both ends.
    pub(super) fn known_reach(&self, around: Option<&Loop>) -> Option<(i64, i64)> {
        let number = |end: &Expr| i64::try_from(whole_number(end)?).ok();
        match (&self.place, around) {
            (Place::At(at), _) => i64::try_from(*at).ok().map(|at| (at, at)),
            (Place::FromVariable(offset), Some(Loop { start, end, .. })) => Some((
                number(start)?.checked_add(*offset)?,
                number(end)?.checked_add(*offset)?.checked_sub(1)?,
            )),
            (Place::FromVariable(_), None) => None,
        }
    }

    /// Whether this index, in one and the same turn of a loop, is surely greater than the other.
    pub(super) fn is_after(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::At(one), Place::At(other)) => one > other,
            (Place::FromVariable(one), Place::FromVariable(other)) => one > other,
            _ => false,
        }
    }

    /// Returns the first and the last element that the index names in a loop, each as a constant expression of type `i128`.
    pub(super) fn reach(&self, around: Option<&Loop>) -> (TokenStream, TokenStream) {
        match (&self.place, around) {
            (Place::At(at), _) => {
                let at = i128::from(*at);
                (at.to_token_stream(), at.to_token_stream())
            }
            (Place::FromVariable(offset), Some(Loop { start, end, .. })) => {
                let offset = i128::from(*offset);
                let to = |expression: &Expr| quote!((((#expression) as ::core::primitive::usize) as ::core::primitive::i128));
                let (start, end) = (to(start), to(end));
                (quote!(#start + #offset), quote!(#end - 1 + #offset))
            }
            (Place::FromVariable(_), None) => (quote!(0), quote!(0)),
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::At(at) => write!(f, "[{at}]"),
            Place::FromVariable(_) => {
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

    /// Returns the range as text, as `0..4`.
    pub(super) fn text(&self) -> String {
        let text = |end: &Expr| crate::tokens::spelled_tokens(end.to_token_stream());
        format!("{}..{}", text(&self.start), text(&self.end))
    }
}
