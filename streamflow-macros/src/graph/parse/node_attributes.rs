//! Reads the attributes of nodes.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Meta, parenthesized, token};

use super::statement::is_doc;
use crate::diagnostic::{Errors, similar};
use crate::graph::model::Streams;
use crate::tokens::split;

/// What stands in the attributes of a node.
pub(in crate::graph) struct NodeAttributes {
    pub(in crate::graph) docs: Vec<Attribute>,
    pub(in crate::graph) streams: Streams,
    pub(in crate::graph) count: Option<Expr>,
    pub(in crate::graph) stream_done: Vec<Ident>,
}

const OF_NODES: &str = "a node takes `#[streams(POOL)]`, `#[streams(none)]`, `#[when(count(n))]` and \
                        `#[when(stream_done(input))]`";
const OF_EDGES: &[&str] = &["copy", "transfer", "capacity", "policy", "feedback"];
const CONDITIONS: &str = "the conditions are `count(n)` and `stream_done(input)`";

pub(in crate::graph) fn of_node(attributes: Vec<Attribute>, errors: &mut Errors) -> NodeAttributes {
    let mut node = NodeAttributes {
        docs: Vec::new(),
        streams: Streams::Default,
        count: None,
        stream_done: Vec::new(),
    };
    for attribute in attributes {
        if is_doc(&attribute) {
            node.docs.push(attribute);
        } else if attribute.path().is_ident("streams") {
            streams(&attribute, &mut node.streams, errors);
        } else if attribute.path().is_ident("when") {
            conditions(&attribute, &mut node, errors);
        } else if let Some(of_edge) = OF_EDGES.iter().find(|name| attribute.path().is_ident(name)) {
            errors.at(
                &attribute,
                format!("`#[{of_edge}]` is for edges: put it on the edge that it is about"),
            );
        } else {
            unknown(&attribute, &["streams", "when"], OF_NODES, errors);
        }
    }
    node
}

/// Takes `#[green_contexts(GREEN)]` out of the attributes of the struct.
pub(in crate::graph) fn of_graph(
    attributes: &mut Vec<Attribute>,
    errors: &mut Errors,
) -> Option<Ident> {
    let mut green = None;
    attributes.retain(|attribute| {
        if !attribute.path().is_ident("green_contexts") {
            return true;
        }
        match attribute.parse_args::<Ident>() {
            Ok(_) if green.is_some() => {
                errors.at(attribute, "`#[green_contexts]` is given twice; a graph has one default")
            }
            Ok(name) => green = Some(name),
            Err(_) => errors.at(
                attribute,
                "this attribute names one green context pool of the graph, \
                 `#[green_contexts(GREEN)]`: nodes without a pool use its default context",
            ),
        }
        false
    });
    green
}

pub(in crate::graph) fn unknown(
    attribute: &Attribute,
    known: &[&str],
    forms: &str,
    errors: &mut Errors,
) {
    let path = attribute.path();
    let written = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    if written == "cfg" || written == "cfg_attr" {
        let text = "a statement of a graph cannot depend on `cfg`: what is connected is checked \
                    before it is known; put it on the whole `graph!`";
        errors.at(attribute, text);
        return;
    }
    let hint =
        similar(&written, known).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    errors.at(attribute, format!("unknown attribute `{written}`; {hint}{forms}"));
}

/// `#[streams(POOL)]`, `#[streams(none)]`
fn streams(attribute: &Attribute, streams: &mut Streams, errors: &mut Errors) {
    let Ok(name) = attribute.parse_args::<Ident>() else {
        errors.at(
            attribute,
            "this attribute names one stream pool of the graph, `#[streams(POOL)]`, or is \
             `#[streams(none)]`",
        );
        return;
    };
    if !matches!(streams, Streams::Default) {
        errors.at(attribute, "`#[streams]` is given twice; a node has one stream pool");
        return;
    }
    *streams = if name == "none" { Streams::None } else { Streams::Pool(name) };
}

/// `#[when(condition, …)]`
fn conditions(attribute: &Attribute, node: &mut NodeAttributes, errors: &mut Errors) {
    let list = match &attribute.meta {
        Meta::List(list) => split(list.tokens.clone()),
        _ => Vec::new(),
    };
    if list.is_empty() {
        errors.at(attribute, format!("`#[when]` takes conditions in parentheses; {CONDITIONS}"));
        return;
    }
    for condition in list {
        let mut parser = |input: ParseStream<'_>| one_condition(input, node, errors);
        if let Err(error) = Parser::parse2(&mut parser, condition) {
            errors.push(error);
        }
    }
}

fn one_condition(
    input: ParseStream<'_>,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) -> syn::Result<()> {
    let whole: TokenStream = input.fork().parse()?;
    let Ok(name) = input.parse::<Ident>() else {
        input.parse::<TokenStream>()?;
        errors.at(whole, format!("this is no condition; {CONDITIONS}"));
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
        errors.at(whole, format!("`{written}` needs an argument; {CONDITIONS}"));
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
        count(&whole, argument, node, errors);
    } else {
        stream_done(&whole, argument, node, errors);
    }
    Ok(())
}

fn count(
    whole: &TokenStream,
    argument: TokenStream,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) {
    if argument.is_empty() {
        errors.at(whole, "`count` needs the number of ticks: `count(n)`");
        return;
    }
    match syn::parse2(argument) {
        Ok(_) if node.count.is_some() => {
            errors.at(whole, "`count` is given twice; a node has one number of ticks");
        }
        Ok(number) => node.count = Some(number),
        Err(_) => errors.at(whole, "`count` takes one expression, the number of ticks: `count(n)`"),
    }
}

fn stream_done(
    whole: &TokenStream,
    argument: TokenStream,
    node: &mut NodeAttributes,
    errors: &mut Errors,
) {
    match syn::parse2::<Ident>(argument) {
        Ok(port) if node.stream_done.contains(&port) => {
            errors.at(whole, format!("`stream_done({port})` is given twice"));
        }
        Ok(port) => node.stream_done.push(port),
        Err(_) => {
            let text = "`stream_done` takes the name of one input of this node: \
                        `stream_done(input)`";
            errors.at(whole, text);
        }
    }
}
