//! Reads an interface: `pub trait Name { input name: Type; output name: Type; }`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Token, Visibility, braced};

use super::graph_port::{parse_graph_port, side};
use super::segments::{Segment, split_at_semicolons};
use crate::diagnostic::Errors;
use crate::graph::syntax::{ParsedInterface, PortStatement, Statement};

const INTERFACE_FORM: &str =
    "an interface is written `pub trait Name { input name: Type; output name: Type; }`";

/// Reads an interface. Returns `None` after reporting that the tokens are none.
pub(in crate::graph) fn parse_interface(
    tokens: TokenStream,
    errors: &mut Errors,
) -> Option<ParsedInterface> {
    let parser = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        let start = input.fork();
        let head = (|| {
            let visibility: Visibility = input.parse()?;
            input.parse::<Token![trait]>()?;
            Ok::<_, syn::Error>((visibility, input.parse::<Ident>()?))
        })();
        let Ok((visibility, name)) = head else {
            let wrong: TokenStream = start.parse()?;
            input.parse::<TokenStream>()?;
            errors.at(head_of(wrong), format!("this is no interface: {INTERFACE_FORM}"));
            return Ok(None);
        };
        let mut after = TokenStream::new();
        while !input.peek(syn::token::Brace)
            && let Ok(token) = input.parse::<TokenTree>()
        {
            after.extend([token]);
        }
        if !after.is_empty() {
            errors.at(
                after,
                "an interface has a name and ports alone; remove this, and bound the type parameter of the graph by each trait",
            );
        }
        if input.is_empty() {
            errors.at(&name, format!("this interface has no body; {INTERFACE_FORM}"));
            return Ok(None);
        }
        let content;
        braced!(content in input);
        let mut ports = Vec::new();
        for Segment { tokens, ended } in split_at_semicolons(content.parse()?) {
            let last = tokens.clone().into_iter().last();
            let before = errors.len();
            if let Err(error) = read_port(tokens, errors).map(|port| ports.extend(port)) {
                errors.push(error);
            }
            if !ended && errors.len() == before {
                errors.at(last, "missing `;` after this port");
            }
        }
        let rest: TokenStream = input.parse()?;
        if !rest.is_empty() {
            errors.at(rest, "one use of this macro declares one interface; remove this");
        }
        Ok(Some(ParsedInterface { attributes, visibility, name, ports }))
    };
    match parser.parse2(tokens) {
        Ok(interface) => interface,
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// Returns the tokens before the first group, as `struct Name`, or all tokens if there are none.
fn head_of(tokens: TokenStream) -> TokenStream {
    let before = tokens.clone().into_iter();
    let head: TokenStream =
        before.take_while(|token| !matches!(token, TokenTree::Group(_))).collect();
    if head.is_empty() { tokens } else { head }
}

fn read_port(tokens: TokenStream, errors: &mut Errors) -> syn::Result<Option<PortStatement>> {
    let parser = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        let Some(side) = side(input) else {
            let rest: TokenStream = input.parse()?;
            let wrong = if rest.is_empty() { attributes.last().to_token_stream() } else { rest };
            errors.at(wrong, "expected a port: `input name: Type;` or `output name: Type;`");
            return Ok(None);
        };
        let read = parse_graph_port(side, attributes, input, errors)?;
        let rest: TokenStream = input.parse()?;
        if !rest.is_empty() {
            errors.at(rest, "expected `;`: each port of an interface ends with it");
        }
        match read {
            Statement::Port(port) => Ok(Some(port)),
            _ => Ok(None),
        }
    };
    parser.parse2(tokens)
}
