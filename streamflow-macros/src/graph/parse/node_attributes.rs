//! Reads the attributes of nodes.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Meta, parenthesized, token};

use super::attribute::{OF_EDGES, OF_NODES, is_doc, reject_unknown_attribute};
use super::on_failure::read_on_failure;
use crate::diagnostic::{Errors, similar};
use crate::graph::parts::{NodeAttributes, Streams};
use crate::tokens::split;

const FORMS: &str = "a node takes `#[streams(POOL)]`, `#[streams(none)]`, `#[when(count(n))]`, \
                        `#[when(stream_done(input))]` and `#[on_failure(…)]`";
const CONDITIONS: &str = "the conditions are `count(n)` and `stream_done(input)`";

/// The attributes of a node.
pub(super) fn read_node_attributes(
    attributes: Vec<Attribute>,
    errors: &mut Errors,
) -> NodeAttributes {
    let mut node = NodeAttributes::default();
    for attribute in attributes {
        if is_doc(&attribute) {
            node.docs.push(attribute);
        } else if attribute.path().is_ident("streams") {
            read_streams(&attribute, &mut node.streams, errors);
        } else if attribute.path().is_ident("when") {
            read_conditions(&attribute, &mut node, errors);
        } else if attribute.path().is_ident("on_failure") && node.on_failure.is_some() {
            errors.at(&attribute, "`#[on_failure]` is given twice; a node has one policy");
        } else if attribute.path().is_ident("on_failure") {
            node.on_failure = read_on_failure(&attribute, errors);
        } else if let Some(of_edge) = OF_EDGES.iter().find(|name| attribute.path().is_ident(name)) {
            errors.at(
                &attribute,
                format!("`#[{of_edge}]` is for edges: put it on the edge that it is about"),
            );
        } else {
            reject_unknown_attribute(&attribute, OF_NODES, FORMS, errors);
        }
    }
    node
}

/// `#[streams(POOL)]`, `#[streams(none)]`
fn read_streams(attribute: &Attribute, streams: &mut Streams, errors: &mut Errors) {
    let Ok(name) = attribute.parse_args::<Ident>() else {
        errors.at(
            attribute,
            "this attribute names one stream pool of the graph, `#[streams(POOL)]`, or is \
             `#[streams(none)]`",
        );
        return;
    };
    if !matches!(streams, Streams::OwnPool) {
        errors.at(attribute, "`#[streams]` is given twice; a node has one stream pool");
        return;
    }
    *streams = if name == "none" { Streams::Adopt } else { Streams::Pool(name) };
}

/// `#[when(condition, …)]`
fn read_conditions(attribute: &Attribute, node: &mut NodeAttributes, errors: &mut Errors) {
    let list = match &attribute.meta {
        Meta::List(list) => split(list.tokens.clone()),
        _ => Vec::new(),
    };
    if list.is_empty() {
        errors.at(attribute, format!("`#[when]` takes conditions in parentheses; {CONDITIONS}"));
        return;
    }
    for condition in list {
        let mut parser = |input: ParseStream<'_>| read_condition(input, node, errors);
        if let Err(error) = Parser::parse2(&mut parser, condition) {
            errors.push(error);
        }
    }
}

fn read_condition(
    input: ParseStream<'_>,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) -> syn::Result<()> {
    let condition: TokenStream = input.fork().parse()?;
    let Ok(name) = input.parse::<Ident>() else {
        input.parse::<TokenStream>()?;
        errors.at(condition, format!("this is no condition; {CONDITIONS}"));
        return Ok(());
    };
    let written = name.to_string();
    if !["count", "stream_done"].contains(&written.as_str()) {
        let hint = match written.as_str() {
            "stream_ready" => Some("stream_done"),
            written => similar(written, &["count", "stream_done"]),
        };
        let hint = hint.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
        errors.at(&name, format!("unknown condition `{written}`; {hint}{CONDITIONS}"));
        input.parse::<TokenStream>()?;
        return Ok(());
    }
    if !input.peek(token::Paren) {
        input.parse::<TokenStream>()?;
        errors.at(condition, format!("`{written}` needs an argument; {CONDITIONS}"));
        return Ok(());
    }
    let content;
    parenthesized!(content in input);
    let rest: TokenStream = input.parse()?;
    if !rest.is_empty() {
        errors.at(rest, "expected `,` between conditions");
    }
    let argument: TokenStream = content.parse()?;
    if written == "count" {
        read_count(&condition, argument, node, errors);
    } else {
        read_stream_done(&condition, argument, node, errors);
    }
    Ok(())
}

fn read_count(
    condition: &TokenStream,
    argument: TokenStream,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) {
    if argument.is_empty() {
        errors.at(condition, "`count` needs the number of ticks: `count(n)`");
        return;
    }
    match syn::parse2(argument) {
        Ok(_) if node.count.is_some() => {
            errors.at(condition, "`count` is given twice; a node has one number of ticks");
        }
        Ok(number) => node.count = Some(number),
        Err(_) => {
            errors.at(condition, "`count` takes one expression, the number of ticks: `count(n)`")
        }
    }
}

fn read_stream_done(
    condition: &TokenStream,
    argument: TokenStream,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) {
    match syn::parse2::<Ident>(argument) {
        Ok(port) if node.stream_done.contains(&port) => {
            errors.at(condition, format!("`stream_done({port})` is given twice"));
        }
        Ok(port) => node.stream_done.push(port),
        Err(_) => {
            let text = "`stream_done` takes the name of one input of this node: \
                        `stream_done(input)`";
            errors.at(condition, text);
        }
    }
}
