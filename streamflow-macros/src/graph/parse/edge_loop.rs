//! Reads a loop of edges: `for i in 0..4 { a[i].out >> b[i].in; }`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, ExprRange, RangeLimits, Token, braced, token};

use super::edge::parse_edge;
use super::port::Scope;
use super::segments::{Segment, split_at_semicolons};
use crate::diagnostic::Errors;
use crate::graph::index::Loop;
use crate::graph::syntax::{BrokenStatement, EdgeStatement, Statement};

const FORM: &str = "a loop of edges is written `for i in 0..n { a[i].output >> b[i].input; }`";

/// Reads a loop. If it can't be read to its end, the function consumes the rest of `input`.
pub(super) fn parse_loop(
    attributes: &[Attribute],
    input: ParseStream<'_>,
    (id, scope): (usize, &Scope<'_>),
    errors: &mut Errors,
) -> syn::Result<Statement> {
    for attribute in attributes {
        errors.at(attribute, "a loop takes no attributes; put it on an edge in the loop");
    }
    let broken = || Ok(Statement::Broken(BrokenStatement::default()));
    let keyword: Token![for] = input.parse()?;
    let head = (|| {
        let variable: Ident = input.parse()?;
        input.parse::<Token![in]>()?;
        Ok::<_, syn::Error>((variable, input.call(Expr::parse_without_eager_brace)?))
    })();
    let Ok((variable, range)) = head else {
        let rest: TokenStream = input.parse()?;
        let wrong = rest.into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
        let wrong: TokenStream = keyword.to_token_stream().into_iter().chain(wrong).collect();
        errors.at(wrong, FORM);
        return broken();
    };
    if !input.peek(token::Brace) {
        input.parse::<TokenStream>()?;
        errors.at(&range, FORM);
        return broken();
    }
    let content;
    braced!(content in input);
    let body: TokenStream = content.parse()?;
    let Expr::Range(ExprRange {
        start: Some(start),
        limits: RangeLimits::HalfOpen(_),
        end: Some(end),
        ..
    }) = range
    else {
        errors.at(
            &range,
            "a loop of edges has a range as `0..n`, with both ends, and without the last one",
        );
        return broken();
    };
    let around = Loop { id, keyword: keyword.span, variable, start: *start, end: *end };
    let scope = Scope { own: scope.own, around: Some(&around) };
    if body.is_empty() {
        errors.at(around.variable.clone(), "this loop has no edges; write some, or remove it");
    }
    let mut edges = Vec::new();
    for Segment { tokens, ended } in split_at_semicolons(body) {
        let last = tokens.clone().into_iter().last();
        let parser = |input: ParseStream<'_>| parse_edge_in_loop(input, &scope, errors);
        match parser.parse2(tokens) {
            Ok(Some(_)) if !ended => errors.at(last, "missing `;` after this statement"),
            Ok(edge) => edges.extend(edge),
            Err(error) => errors.push(error),
        }
    }
    Ok(Statement::Loop(edges))
}

/// Reads one edge. Returns `None` after reporting a mistake.
fn parse_edge_in_loop(
    input: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<EdgeStatement>> {
    let attributes = input.call(Attribute::parse_outer)?;
    for (is_there, what) in [
        (input.peek(Token![for]), "a loop stands alone, and not in another one"),
        (
            input.peek(Token![let]),
            "a node is declared outside of a loop; an array of nodes is `let a: [Operator; n] = |i| …;`",
        ),
        (input.peek(Token![const]), "a pool is declared outside of a loop"),
    ] {
        if is_there {
            errors.at(input.parse::<TokenStream>()?, what);
            return Ok(None);
        }
    }
    let edge = match parse_edge(&attributes, input, scope, errors)? {
        Statement::Edge(edge) => *edge,
        _ => return Ok(None),
    };
    if !input.is_empty() {
        errors.at(input.parse::<TokenStream>()?, "expected `;`");
    }
    Ok(Some(edge))
}
