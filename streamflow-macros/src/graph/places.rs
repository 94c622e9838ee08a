//! The ports that the edges of a statement reach, as far as the macro knows the constants in their indices.

use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary};

use super::index::{Index, Loop, Place};
use crate::expression::whole_number;

/// A constant as a name and a number: `N - 1` is `N` and -1. A number has no name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Bound {
    name: String,
    offset: i64,
}

impl Index {
    /// Whether this index, in one and the same turn of a loop, is surely greater than the other.
    pub(super) fn is_after(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::FromVariable(one), Place::FromVariable(other)) => one > other,
            (Place::FromVariable(_), _) | (_, Place::FromVariable(_)) => false,
            _ => Bound::of(&other.written).is_less(&Bound::of(&self.written)),
        }
    }
}

impl Bound {
    pub(super) fn of(expression: &Expr) -> Self {
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

    pub(super) fn plus(self, by: i64) -> Self {
        Self { offset: self.offset.saturating_add(by), ..self }
    }

    /// Whether this constant is surely less than the other.
    pub(super) fn is_less(&self, other: &Self) -> bool {
        self.name == other.name && self.offset < other.offset
    }
}

/// The elements of an array from a first to a last one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Elements {
    first: Bound,
    last: Bound,
}

impl Elements {
    /// Returns the elements that an index names in a loop. A name without an index has one.
    fn of(index: Option<&Index>, around: Option<&Loop>) -> Self {
        let Some(index) = index else {
            return Self::one(Bound { name: String::new(), offset: 0 });
        };
        match (&index.place, around) {
            (Place::FromVariable(offset), Some(Loop { start, end, .. })) => {
                let (first, last) = (Bound::of(start), Bound::of(end));
                Self { first: first.plus(*offset), last: last.plus(offset.saturating_sub(1)) }
            }
            _ => Self::one(Bound::of(&index.written)),
        }
    }

    fn one(at: Bound) -> Self {
        Self { first: at.clone(), last: at }
    }

    /// Returns these elements moved by a number, if there is one.
    fn single_plus(&self, by: i64) -> Option<Self> {
        (self.first == self.last).then(|| Self::one(self.first.clone().plus(by)))
    }

    /// Whether an element may be among both. Constants of different names may have any values.
    fn may_meet(&self, other: &Self) -> bool {
        !self.last.is_less(&other.first) && !other.last.is_less(&self.first)
    }

    /// Whether an element is surely among both.
    fn surely_meet(&self, other: &Self) -> bool {
        let names = [&self.first, &self.last, &other.first, &other.last].map(|bound| &bound.name);
        names.iter().all(|name| *name == names[0]) && self.may_meet(other)
    }
}

/// The ports that the edges of a statement reach: elements of an array of ports, at nodes of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Places {
    nodes: Elements,
    elements: Elements,
    /// The index of the port minus that of the node, if both follow a loop. Each node then has one of the elements.
    ahead: Option<i64>,
}

impl Places {
    /// Returns the ports that have these indices in the turns of a loop.
    pub(super) fn of(node: Option<&Index>, element: Option<&Index>, around: Option<&Loop>) -> Self {
        let offset = |index: Option<&Index>| match index?.place {
            Place::FromVariable(offset) => Some(offset),
            Place::At(_) | Place::Constant => None,
        };
        let ahead = offset(node).zip(offset(element));
        Self {
            nodes: Elements::of(node, around),
            elements: Elements::of(element, around),
            ahead: ahead.map(|(node, element)| element.saturating_sub(node)),
        }
    }

    /// Whether a port may be among both.
    pub(super) fn may_meet(&self, other: &Self) -> bool {
        let meet = self.nodes.may_meet(&other.nodes) && self.elements.may_meet(&other.elements);
        meet && match (self.ahead, other.ahead) {
            (None, None) => true,
            (Some(one), Some(two)) => one == two,
            (Some(ahead), None) => other.may_meet_ahead(&self.elements, &self.nodes, ahead),
            (None, Some(ahead)) => self.may_meet_ahead(&other.elements, &other.nodes, ahead),
        }
    }

    /// Whether one of these ports may be among ports whose elements are `ahead` of their nodes. These ports have the same node or the
    /// same element.
    fn may_meet_ahead(&self, elements: &Elements, nodes: &Elements, ahead: i64) -> bool {
        let element = self.nodes.single_plus(ahead);
        let node = self.elements.single_plus(ahead.saturating_neg());
        let meets = |one: Option<Elements>, own: &Elements, others: &Elements| {
            one.is_none_or(|one| one.may_meet(own) && one.may_meet(others))
        };
        meets(element, &self.elements, elements) && meets(node, &self.nodes, nodes)
    }

    /// Whether a port is surely among both.
    pub(super) fn surely_meet(&self, other: &Self) -> bool {
        match (self.ahead, other.ahead) {
            (None, None) => {
                self.nodes.surely_meet(&other.nodes) && self.elements.surely_meet(&other.elements)
            }
            _ => self == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::{Expr, parse_quote, token};

    use super::*;

    /// Indices that name an element each, by a number or by the variable of a loop.
    fn indices() -> Vec<Option<Index>> {
        let index = |place, written: Expr| {
            Some(Index { brackets: token::Bracket::default(), written, place })
        };
        vec![
            None,
            index(Place::At(1), parse_quote!(1)),
            index(Place::At(3), parse_quote!(3)),
            index(Place::FromVariable(0), parse_quote!(i)),
            index(Place::FromVariable(2), parse_quote!(i + 2)),
        ]
    }

    fn around(start: Expr, end: Expr) -> Loop {
        let variable = proc_macro2::Ident::new("i", proc_macro2::Span::call_site());
        Loop { id: 0, keyword: variable.span(), variable, start, end }
    }

    /// Returns the ports in the turns of a loop from `range.0` to `range.1`.
    fn ports(node: &Option<Index>, element: &Option<Index>, range: (i64, i64)) -> Vec<(i64, i64)> {
        let at = |index: &Option<Index>, turn: i64| match index.as_ref().map(|index| &index.place) {
            Some(Place::At(at)) => i64::try_from(*at).unwrap_or(i64::MAX),
            Some(Place::FromVariable(offset)) => turn + offset,
            Some(Place::Constant) | None => 0,
        };
        (range.0..range.1).map(|turn| (at(node, turn), at(element, turn))).collect()
    }

    #[test]
    fn places_meet_if_they_have_a_port_in_common() {
        let (indices, ranges) = (indices(), [(0, 3), (2, 4)]);
        let loops =
            [around(parse_quote!(0), parse_quote!(3)), around(parse_quote!(2), parse_quote!(4))];
        let mut all = Vec::new();
        for (range, around) in ranges.into_iter().zip(&loops) {
            for (node, element) in
                indices.iter().flat_map(|node| indices.iter().map(move |it| (node, it)))
            {
                let places = Places::of(node.as_ref(), element.as_ref(), Some(around));
                all.push((places, ports(node, element, range)));
            }
        }
        let mut met = 0;
        for (one, ports) in &all {
            for (other, others) in &all {
                let have_common = ports.iter().any(|port| others.contains(port));
                assert_eq!(one.may_meet(other), have_common, "{ports:?} and {others:?}");
                assert!(!one.surely_meet(other) || have_common, "{ports:?} and {others:?}");
                met += usize::from(have_common);
            }
        }
        assert!(met > 100, "{met} pairs are too few to test anything");
    }

    #[test]
    fn constants_of_different_names_may_meet() {
        let constant = |written: Expr| Index {
            brackets: token::Bracket::default(),
            written,
            place: Place::Constant,
        };
        let (one, other) = (constant(parse_quote!(N - 1)), constant(parse_quote!(M)));
        let [one, last, other] = [&one, &constant(parse_quote!(N)), &other]
            .map(|index| Places::of(None, Some(index), None));
        assert!(one.may_meet(&other) && !one.surely_meet(&other));
        assert!(!one.may_meet(&last) && one.surely_meet(&one));
    }
}
