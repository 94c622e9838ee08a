//! Reads an end of an edge: `node.port`, or the name of a port of the graph.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use crate::diagnostic::Errors;
use crate::graph::parts::{End, Port, Side, unraw_name};

pub(super) const EDGE_FORM: &str = "an edge is written `producer.output >> consumer.input;`";

/// The names of the ports that a graph declares, without `r#`.
pub(super) type OwnNames = HashSet<String>;

/// Reads an end of an edge, as [`parse_port`] does.
pub(super) fn parse_end(
    input: ParseStream<'_>,
    side: Side,
    own: &OwnNames,
    errors: &mut Errors,
) -> syn::Result<Option<End>> {
    if !input.peek2(Token![.])
        && let Ok(name) = input.fork().parse::<Ident>()
        && own.contains(&unraw_name(&name))
    {
        return Ok(Some(End::Own(input.parse()?)));
    }
    Ok(parse_port(input, side, errors)?.map(End::Node))
}

/// Whether a keyword can be a name when it is written with `r#`.
pub(super) fn can_be_raw(keyword: &Ident) -> bool {
    !["self", "Self", "super", "crate", "_"].iter().any(|word| keyword == word)
}

/// Reads a port. If the port can't be read to its end, the function reports that and consumes the rest of `input`.
fn parse_port(
    input: ParseStream<'_>,
    side: Side,
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
    if !input.peek(Token![.]) {
        let port = match side {
            Side::Output => "output",
            Side::Input => "input",
        };
        // The user may write `source > sink`, without ports and with a wrong arrow. The error has the form of an edge, which
        // shows both.
        let text = format!("expected a port, written `{node}.{port}`; {EDGE_FORM}");
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
    Ok(Some(Port { node, dot, name }))
}
