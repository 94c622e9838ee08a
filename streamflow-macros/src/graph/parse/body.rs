//! Divides the body of `graph!` into statements, and has each statement read.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Token, braced, token};

use super::attribute::reject_inner_attributes;
use super::header::GRAPH_FORM;
use super::port::Scope;
use super::segments::{Segment, split_at_semicolons};
use super::{edge, edge_loop, graph_port, node, pool};
use crate::diagnostic::Errors;
use crate::graph::parts::Header;
use crate::graph::syntax::{BrokenStatement, Statement};

/// Reads the body `{ statement; … }` of the graph with this header.
pub(super) fn parse_body(
    header: &mut Header,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Vec<Statement>> {
    let name = &header.name;
    if !input.peek(token::Brace) {
        let rest: TokenStream = input.parse()?;
        let wrong = if rest.is_empty() { name.to_token_stream() } else { rest };
        errors.at(wrong, format!("this graph has no body; {GRAPH_FORM}"));
        return Ok(Vec::new());
    }
    let content;
    braced!(content in input);
    let mut statements = Vec::new();
    let segments = split_at_semicolons(content.parse()?);
    let own = segments.iter().filter_map(|segment| graph_port::declared_name(&segment.tokens));
    let own: HashSet<String> = own.collect();
    header.has_ports = !own.is_empty();
    let scope = Scope { own: &own, around: None };
    for Segment { tokens, ended } in segments {
        let last = tokens.clone().into_iter().last();
        // A statement that ends with a comma is reported where the statement is read.
        let comma = matches!(&last, Some(TokenTree::Punct(last)) if last.as_char() == ',');
        parse_segment(tokens, &scope, &mut statements, errors);
        // A broken statement may have a mistake at its end, so a missing semicolon there is not reported. A loop ends without one.
        let needs_none =
            matches!(statements.last(), Some(Statement::Broken(_) | Statement::Loop(_)));
        if !ended && !comma && !needs_none {
            errors.at(last, "missing `;` after this statement");
        }
    }
    Ok(statements)
}

/// Reads the statement in a segment, or several statements where semicolons between them are missing.
fn parse_segment(
    tokens: TokenStream,
    scope: &Scope<'_>,
    statements: &mut Vec<Statement>,
    errors: &mut Errors,
) {
    let parser = |input: ParseStream<'_>| {
        loop {
            let statement = parse_statement(input, (statements.len(), scope), errors)?;
            statements.push(statement);
            if input.is_empty() {
                return Ok(());
            }
            if matches!(statements.last(), Some(Statement::Loop(_))) && may_begin_statement(input) {
                continue;
            }
            if input.peek(Token![,]) {
                let comma: Token![,] = input.parse()?;
                errors.at(comma, "the statements of a graph end with `;`; write it for this comma");
                if input.is_empty() {
                    return Ok(());
                }
                continue;
            }
            if !may_begin_statement(input) {
                errors.at(input.parse::<TokenStream>()?, "expected `;`");
                return Ok(());
            }
            errors.at(input.fork().parse::<TokenTree>()?, "missing `;` before this");
        }
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
        statements.push(Statement::Broken(BrokenStatement::default()));
    }
}

fn may_begin_statement(input: ParseStream<'_>) -> bool {
    input.peek(syn::Ident)
        || input.peek(Token![let])
        || input.peek(Token![const])
        || input.peek(Token![for])
        || input.peek(Token![#])
}

/// Reads the statement number `id`. If it can't be read to its end, the function consumes the rest of `input`, since the start of the next
/// statement is then unknown. A group of inputs in `parse_edge` is the one exception.
fn parse_statement(
    input: ParseStream<'_>,
    (id, scope): (usize, &Scope<'_>),
    errors: &mut Errors,
) -> syn::Result<Statement> {
    reject_inner_attributes(input, errors)?;
    let attributes = input.call(Attribute::parse_outer)?;
    if input.is_empty() {
        // If there is no outer attribute either, `input` was an inner attribute, and that is reported already.
        if let Some(last) = attributes.last() {
            errors.at(last, "an attribute stands before the node or the edge that it is for");
        }
        return Ok(Statement::Broken(BrokenStatement::default()));
    }
    if input.peek(syn::Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]) {
        return parse_without_keyword(attributes, input, errors);
    }
    if let Some(side) = graph_port::side(input) {
        return graph_port::parse_graph_port(side, attributes, input, errors);
    }
    if input.peek(Token![for]) {
        return edge_loop::parse_loop(&attributes, input, (id, scope), errors);
    }
    if input.peek(Token![const]) {
        pool::parse_pool(attributes, input, errors)
    } else if input.peek(Token![let]) {
        node::parse_node(attributes, input, errors)
    } else {
        edge::parse_edge(&attributes, input, scope, errors)
    }
}

/// Reports `name: Operator = …` without `let`, and reads it as a node, so that no further errors follow.
fn parse_without_keyword(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let name: Ident = input.fork().parse()?;
    errors.at(
        &name,
        format!(
            "a declaration begins with a keyword: `let {name}: Operator = …;` for a node, \
             `const {name}: CudaStreamPool = …;` for a stream pool"
        ),
    );
    let rest: TokenStream = input.parse()?;
    let parser = |input: ParseStream<'_>| node::parse_node(attributes, input, errors);
    parser.parse2(quote!(let #rest))
}
