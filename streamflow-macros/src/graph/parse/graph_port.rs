//! Reads a port of a graph: `input name: Type` or `output name: Type`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Token, token};

use super::attribute::{AttributeTarget, is_doc, reject_attribute};
use super::port::can_be_raw;
use crate::diagnostic::Errors;
use crate::graph::parts::{Side, unraw_name};
use crate::graph::syntax::{BrokenStatement, PortStatement, Statement};
use crate::operator::PortOptions;
use crate::tokens::{spelled_tokens, split};

/// Returns the side of the port that a statement declares, or `None` if it declares no port. A node may be called `input`: then `.`
/// follows.
pub(super) fn side(input: ParseStream<'_>) -> Option<Side> {
    let ahead = input.fork();
    let side = match ahead.parse::<Ident>().ok()? {
        word if word == "input" => Side::Input,
        word if word == "output" => Side::Output,
        _ => return None,
    };
    let has_name = ahead.call(Ident::parse_any).is_ok();
    (has_name || ahead.peek(token::Paren)).then_some(side)
}

/// Returns the name of the port that a statement declares, if it declares one.
pub(super) fn declared_name(statement: &TokenStream) -> Option<String> {
    let parser = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        let declares = side(input).is_some();
        let name = input.parse::<Ident>().and_then(|_| {
            skip_options(input)?;
            input.call(Ident::parse_any)
        });
        input.parse::<TokenStream>()?;
        Ok(name.ok().filter(|_| declares).map(|name| unraw_name(&name)))
    };
    parser.parse2(statement.clone()).ok().flatten()
}

/// Skips a group in parentheses, and returns it if there is one.
fn skip_options(input: ParseStream<'_>) -> syn::Result<Option<TokenTree>> {
    input.peek(token::Paren).then(|| input.parse()).transpose()
}

/// Reads the options in parentheses: `(many, optional)`.
fn read_options(group: &TokenTree, side: Side, errors: &mut Errors) -> PortOptions {
    let mut options = PortOptions::default();
    let TokenTree::Group(list) = group else { return options };
    if side == Side::Output {
        errors.at(
            group,
            "an output of a graph has no options: any number of inputs may read it; remove this",
        );
        return options;
    }
    let names = split(list.stream());
    if names.is_empty() {
        errors.at(
            group,
            "an input has the options `many` and `optional`; write one, or remove the parentheses",
        );
    }
    for name in names {
        let text = match spelled_tokens(name.clone()).as_str() {
            "many" => {
                options.many = true;
                continue;
            }
            "optional" => {
                options.optional = true;
                continue;
            }
            "size" => "the number of edges is that of the input inside; write `many`".to_owned(),
            other => format!(
                "`{other}` is no option of a graph's input; the options are `many` and `optional`"
            ),
        };
        errors.at(name, text);
    }
    options
}

/// Reads a port. If it can't be read to its end, the function consumes the rest of `input`.
pub(super) fn parse_graph_port(
    side: Side,
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let word: Ident = input.parse()?;
    let (docs, others): (Vec<_>, Vec<_>) = attributes.into_iter().partition(is_doc);
    for attribute in &others {
        reject_attribute(attribute, AttributeTarget::Port, errors);
    }
    let options = match skip_options(input)? {
        Some(options) => read_options(&options, side, errors),
        None => PortOptions::default(),
    };
    let form = format!("a port of a graph is written `{word} name: Type;`");
    let broken = || Ok(Statement::Broken(BrokenStatement::default()));
    let Ok(name) = input.parse::<Ident>() else {
        let rest: TokenStream = input.parse()?;
        match rest.clone().into_iter().next() {
            Some(TokenTree::Ident(keyword)) if can_be_raw(&keyword) => {
                errors.at(
                    &keyword,
                    format!("a port with the name of a keyword is written `r#{keyword}`"),
                );
            }
            _ => errors.at(rest, form),
        }
        return broken();
    };
    if input.parse::<Token![:]>().is_err() {
        input.parse::<TokenStream>()?;
        errors.at(&name, format!("port `{name}` has no type; {form}"));
        return broken();
    }
    match input.parse() {
        Ok(ty) => Ok(Statement::Port(PortStatement { docs, side, options, name, ty })),
        Err(_) => {
            let rest: TokenStream = input.parse()?;
            let wrong = rest.into_iter().next().unwrap_or(TokenTree::Ident(name));
            errors.at(wrong, form);
            broken()
        }
    }
}
