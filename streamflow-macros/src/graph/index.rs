//! Indices of nodes in an array: `cameras[3].frame` or `cameras[N - 1].frame`, and in a loop `cameras[i].frame` or
//! `cameras[i + 1].frame`.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprBinary, token};

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
    /// Returns the nodes that the index names in a loop.
    pub(super) fn nodes(&self, around: Option<&Loop>) -> Nodes {
        match (&self.place, around) {
            (Place::FromVariable(offset), Some(Loop { start, end, .. })) => {
                let (first, last) = (Bound::of(start), Bound::of(end));
                Nodes { first: first.plus(*offset), last: last.plus(offset.saturating_sub(1)) }
            }
            _ => {
                let at = Bound::of(&self.written);
                Nodes { first: at.clone(), last: at }
            }
        }
    }

    /// Whether this index, in one and the same turn of a loop, is surely greater than the other.
    pub(super) fn is_after(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::FromVariable(one), Place::FromVariable(other)) => one > other,
            (Place::FromVariable(_), _) | (_, Place::FromVariable(_)) => false,
            _ => Bound::of(&other.written).is_less(&Bound::of(&self.written)),
        }
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

/// A constant as a name and a number: `N - 1` is `N` and -1. A number has no name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Bound {
    name: String,
    offset: i64,
}

impl Bound {
    fn of(expression: &Expr) -> Self {
        let number = |expression: &Expr| i64::try_from(whole_number(expression)?).ok();
        match expression {
            Expr::Binary(ExprBinary { left, op, right, .. }) => {
                let by = match (op, number(right)) {
                    (BinOp::Add(_), Some(by)) => Some(by),
                    (BinOp::Sub(_), Some(by)) => Some(-by),
                    _ => None,
                };
                if let Some(by) = by {
                    return Self::of(left).plus(by);
                }
            }
            Expr::Paren(inner) => return Self::of(&inner.expr),
            _ => {}
        }
        match number(expression) {
            Some(offset) => Self { name: String::new(), offset },
            None => {
                let name = crate::tokens::spelled_tokens(expression.to_token_stream());
                Self { name, offset: 0 }
            }
        }
    }

    fn plus(self, by: i64) -> Self {
        Self { offset: self.offset.saturating_add(by), ..self }
    }

    /// Whether this constant is surely less than the other.
    fn is_less(&self, other: &Self) -> bool {
        self.name == other.name && self.offset < other.offset
    }
}

/// The nodes of an array from a first to a last one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Nodes {
    first: Bound,
    last: Bound,
}

impl Nodes {
    /// The one node of a name that is no array.
    pub(super) fn single() -> Self {
        let zero = Bound { name: String::new(), offset: 0 };
        Self { first: zero.clone(), last: zero }
    }

    /// Whether a node may be among both. Constants of different names may have any values.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        !self.last.is_less(&other.first) && !other.last.is_less(&self.first)
    }

    /// Whether a node is surely among both.
    pub(super) fn surely_meet(&self, other: &Self) -> bool {
        let names = [&self.first, &self.last, &other.first, &other.last].map(|bound| &bound.name);
        names.iter().all(|name| *name == names[0]) && self.may_meet(other)
    }
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
