//! Reads an end of an edge: `node.port`, or the name of a port of the graph. Each name may have an index.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{BinOp, Expr, ExprBinary, Token, bracketed, token};

use crate::diagnostic::Errors;
use crate::expression::whole_number;
use crate::graph::index::{Index, Loop, Place};
use crate::graph::parts::{End, OwnEnd, Port, Side, unraw_name};

pub(super) const EDGE_FORM: &str = "an edge is written `producer.output >> consumer.input;`";

/// The names that an edge may use beside those of nodes.
pub(super) struct Scope<'a> {
    /// The names of the ports that the graph declares, without `r#`.
    pub(super) own: &'a HashSet<String>,
    /// The loop around the edge.
    pub(super) around: Option<&'a Loop>,
}

/// Reads an end of an edge, as [`parse_port`] does.
pub(super) fn parse_end(
    input: ParseStream<'_>,
    side: Side,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<End>> {
    if let Ok(name) = input.fork().parse::<Ident>()
        && scope.own.contains(&unraw_name(&name))
        && !is_port_of_node(input)
    {
        let name = input.parse()?;
        let end = parse_brackets(input, scope, errors)?;
        return Ok(end.map(|element| End::Own(OwnEnd { name, element })));
    }
    Ok(parse_port(input, side, scope, errors)?.map(End::Node))
}

/// Whether a `.` follows a name, or a name with an index.
fn is_port_of_node(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let name = ahead.parse::<Ident>().is_ok();
    if ahead.peek(token::Bracket) {
        let _ = ahead.parse::<TokenTree>();
    }
    name && ahead.peek(Token![.])
}

/// Reads an index, if there is one. Returns `None` after reporting an index that is none, and consumes the rest of `input`.
fn parse_brackets(
    input: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Option<Box<Index>>>> {
    if !input.peek(token::Bracket) {
        return Ok(Some(None));
    }
    let index = parse_index(input, scope.around, errors)?;
    if index.is_none() {
        input.parse::<TokenStream>()?;
    }
    Ok(index.map(|index| Some(Box::new(index))))
}

/// Whether a keyword can be a name when it is written with `r#`.
pub(super) fn can_be_raw(keyword: &Ident) -> bool {
    !["self", "Self", "super", "crate", "_"].iter().any(|word| keyword == word)
}

/// Reads a port. If the port can't be read to its end, the function reports that and consumes the rest of `input`.
fn parse_port(
    input: ParseStream<'_>,
    side: Side,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Port>> {
    let Ok(node) = input.parse::<Ident>() else {
        if let Ok(keyword) = input.fork().call(Ident::parse_any)
            && keyword != "_"
        {
            input.parse::<TokenStream>()?;
            let text = match can_be_raw(&keyword) {
                true => format!("a node with the name of a keyword is written `r#{keyword}`"),
                false => {
                    format!("`{keyword}` can't be the name of a node; give the node another one")
                }
            };
            errors.at(&keyword, text);
            return Ok(None);
        }
        let rest: TokenStream = input.parse()?;
        let is_group = matches!(rest.clone().into_iter().next(), Some(TokenTree::Group(_)));
        let text = match side {
            Side::Output if is_group => {
                "an edge has one producer; write one edge for each of them".to_owned()
            }
            Side::Output => format!("expected a node, a stream pool or an edge; {EDGE_FORM}"),
            Side::Input => format!("expected `consumer.input`; {EDGE_FORM}"),
        };
        errors.at(rest, text);
        return Ok(None);
    };
    let Some(index) = parse_brackets(input, scope, errors)? else { return Ok(None) };
    if !input.peek(Token![.]) {
        let port = match side {
            Side::Output => "output",
            Side::Input => "input",
        };
        // The user may write `source > sink`, without ports and with a wrong arrow. The error has the form of an edge, which
        // shows both.
        let text = match scope.own.is_empty() {
            true => format!("expected a port, written `{node}.{port}`; {EDGE_FORM}"),
            false => {
                let mut own: Vec<String> =
                    scope.own.iter().map(|name| format!("`{name}`")).collect();
                own.sort_unstable();
                let own = own.join(", ");
                format!(
                    "this graph has no port `{node}`, its ports are {own}; a port of a node is written `{node}.{port}`"
                )
            }
        };
        input.parse::<TokenStream>()?;
        errors.at(&node, text);
        return Ok(None);
    }
    let dot: Token![.] = input.parse()?;
    // A port with a keyword as its name is written with `r#` in an edge, as in the operator.
    let Ok(name) = input.parse::<Ident>() else {
        let keyword = input.fork().call(Ident::parse_any).ok();
        input.parse::<TokenStream>()?;
        let tokens = quote!(#node #dot #keyword);
        let hint = keyword.map(|word| match can_be_raw(&word) {
            true => format!("; a keyword is written `{node}.r#{word}`"),
            false => format!("; `{word}` can't be one"),
        });
        let hint = hint.unwrap_or_default();
        errors.at(tokens, format!("expected the name of a port after `{node}.`{hint}"));
        return Ok(None);
    };
    let element = parse_brackets(input, scope, errors)?;
    Ok(element.map(|element| Port { node, index, dot, name, element }))
}

const INDEX_FORM: &str = "an index is a number, a constant, as `N - 1`, or in `for i in 0..n { … }` the variable, `i`, `i + 1` or `i - 1`";

/// Reads `[index]`. Returns `None` after reporting an index that is none of those that an edge can have.
fn parse_index(
    input: ParseStream<'_>,
    around: Option<&Loop>,
    errors: &mut Errors,
) -> syn::Result<Option<Index>> {
    let content;
    let brackets = bracketed!(content in input);
    let written: TokenStream = content.parse()?;
    let Ok(expression) = syn::parse2::<Expr>(written.clone()) else {
        let mut group = Group::new(Delimiter::Bracket, written);
        group.set_span(brackets.span.join());
        errors.at(TokenTree::Group(group), INDEX_FORM);
        return Ok(None);
    };
    let place = match place(&expression, around) {
        Ok(place) => place,
        Err(unknown) => {
            let text = match (unknown, around) {
                (Some(name), None) => format!(
                    "`{name}` is no variable here: write this edge in `for {name} in 0..n {{ … }}`"
                ),
                (Some(name), Some(around)) => {
                    format!("`{name}` is not `{}`, the variable of this loop", around.variable)
                }
                (None, _) => INDEX_FORM.to_owned(),
            };
            errors.at(&expression, text);
            return Ok(None);
        }
    };
    Ok(Some(Index { brackets, written: expression, place }))
}

/// Returns the element that an index names. The error has the name that is no variable, if the index is a name or a sum with one.
fn place(index: &Expr, around: Option<&Loop>) -> Result<Place, Option<Ident>> {
    let number = |expression: &Expr| whole_number(expression).ok_or(None);
    let variable = |expression: &Expr| match expression {
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) if around.is_some_and(|around| around.declares(name)) => Ok(()),
            name => Err(name.cloned()),
        },
        _ => Err(None),
    };
    let offset = |number: u64| i64::try_from(number).map_err(|_| None);
    if is_constant(index) {
        return Ok(Place::Constant);
    }
    match index {
        Expr::Lit(_) => number(index).map(Place::At),
        Expr::Path(_) => variable(index).map(|()| Place::FromVariable(0)),
        Expr::Binary(ExprBinary { left, op, right, .. }) => {
            variable(left)?;
            let offset = offset(number(right)?)?;
            match op {
                BinOp::Add(_) => Ok(Place::FromVariable(offset)),
                BinOp::Sub(_) => Ok(Place::FromVariable(-offset)),
                _ => Err(None),
            }
        }
        _ => Err(None),
    }
}

/// Whether an index is a constant, or one plus or minus a number. A macro can't resolve a name, so a constant is known by its capital
/// letters.
fn is_constant(index: &Expr) -> bool {
    match index {
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.unraw().to_string();
            name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
        }),
        Expr::Binary(ExprBinary { left, op: BinOp::Add(_) | BinOp::Sub(_), right, .. }) => {
            is_constant(left) && whole_number(right).is_some()
        }
        _ => false,
    }
}
