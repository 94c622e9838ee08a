//! Checks the ports of a graph, and what a graph with ports can't have. Their edges are checked in `borders.rs`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Type, parse_quote};

use crate::diagnostic::Errors;
use crate::graph::model::{Node, OwnPort};
use crate::graph::parts::{Header, Pool, PoolKind, Side, unraw_name};
use crate::graph::syntax::PortStatement;
use crate::operator::{PortDeclaration, read_graph_port};
use crate::tokens::mentions;

/// Makes the ports of the graph from their statements, without those that have a mistake in their names.
pub(super) fn declare(
    statements: Vec<PortStatement>,
    header: &Header,
    nodes: &[Node],
    errors: &mut Errors,
) -> Vec<OwnPort> {
    let mut ports: Vec<OwnPort> = Vec::new();
    for PortStatement { docs, side, options, name, ty } in statements {
        let text = unraw_name(&name);
        let problem = if ports.iter().any(|port| unraw_name(&port.name) == text) {
            format!("port `{text}` is declared twice; give one another name")
        } else if nodes.iter().any(|node| node.unraw_name() == text) {
            format!("`{text}` is a node of this graph already; give the port another name")
        } else if header.params.iter().any(|param| unraw_name(&param.name) == text) {
            format!("`{text}` is a parameter of this graph already; give the port another name")
        } else if text.starts_with("__") {
            "names that begin with `__` are reserved".to_owned()
        } else if ["New", "Ports"].contains(&&*text) {
            format!(
                "`{}_{text}` is a name of the expansion; give the port another name",
                header.name
            )
        } else {
            let is_input = side == Side::Input;
            let port = PortDeclaration { name: &name, ty: &ty, docs, is_input, options };
            let declared = read_graph_port(&header.name, port, errors);
            ports.push(OwnPort { name, side, options, declared, borders: Vec::new() });
            continue;
        };
        errors.at(&name, problem);
    }
    ports
}

/// Reports what a graph with ports can't have.
pub(super) fn check_header(
    header: &mut Header,
    pools: &[Pool],
    ports: &[OwnPort],
    errors: &mut Errors,
) {
    let name = &header.name;
    let array = ports.iter().find(|port| port.declared.length().is_some());
    if let (Some(OwnPort { name: port, .. }), [_, ..]) = (array, &header.implements[..]) {
        let text = format!(
            "the ports of an interface are single ones, and `{port}` is an array of ports; write one port for each element, or remove \
             `#[implements(…)]`"
        );
        errors.at(port, text);
        header.implements.clear();
    }
    if let Some(replays) = header.replays.take() {
        let text = format!(
            "`{name}` has ports, so it runs as a part of another graph: put `#[replay]` on that graph"
        );
        errors.at(replays, text);
    }
    if let Some(pool) = header.green_contexts.take() {
        let text = format!(
            "`{name}` has ports, so its nodes get their contexts from the graph around it: put `#[green_contexts]` on that graph"
        );
        errors.at(pool, text);
    }
    for pool in pools.iter().filter(|pool| pool.kind() == Some(PoolKind::GreenContexts)) {
        let text = format!(
            "`{name}` has ports, so its nodes get their contexts from the graph around it: declare `{}` there, and a stream pool on \
             one of its contexts, and put `#[streams(…)]` with that pool on the node that this graph is",
            pool.name
        );
        errors.at(&pool.name, text);
    }
    for param in &mut header.params {
        if let Some(borrow) = find_borrow(&param.ty) {
            let text = format!(
                "a graph with ports keeps parameter `{}` until it is made as a part of another graph, so it owns it; take a \
                 `Vec`, a `String` or an `Arc`",
                param.name
            );
            errors.at(borrow, text);
            param.ty = unknown_type(&param.name);
        } else if mentions(param.ty.to_token_stream(), &Ident::new("impl", name.span())) {
            let text = format!(
                "a graph with ports keeps parameter `{}` until it is made as a part of another graph, so its type has a name; \
                 take a `Box<dyn …>`",
                param.name
            );
            errors.at(&param.ty, text);
            param.ty = unknown_type(&param.name);
        }
    }
}

/// Returns the first borrow in a type, `&` or a lifetime other than `'static`.
fn find_borrow(ty: &Type) -> Option<TokenStream> {
    let mut found = None;
    find_in(ty.to_token_stream(), &mut found);
    found
}

fn find_in(tokens: TokenStream, found: &mut Option<TokenStream>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_static = |next: Option<&TokenTree>| matches!(next, Some(TokenTree::Ident(name)) if name == "static");
        match &token {
            TokenTree::Group(group) => find_in(group.stream(), found),
            // The arguments of a function are borrowed only while it is called.
            TokenTree::Ident(name)
                if ["Fn", "FnMut", "FnOnce", "fn"].iter().any(|word| name == word) =>
            {
                tokens.next_if(|next| matches!(next, TokenTree::Group(_)));
                // Its result may be borrowed from them.
                let is = |sign: char| move |next: &TokenTree| matches!(next, TokenTree::Punct(other) if other.as_char() == sign);
                if tokens.next_if(is('-')).is_some() {
                    tokens.next_if(is('>'));
                    if tokens.next_if(is('&')).is_some() && tokens.next_if(is('\'')).is_some() {
                        tokens.next();
                    }
                }
            }
            TokenTree::Ident(name) if name == "for" => {
                while tokens.next().is_some_and(
                    |token| !matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '>'),
                ) {}
            }
            TokenTree::Punct(sign) if sign.as_char() == '\'' && is_static(tokens.peek()) => {}
            TokenTree::Punct(sign) if sign.as_char() == '\'' => {
                let name = tokens.next();
                found.get_or_insert([token].into_iter().chain(name).collect());
            }
            TokenTree::Punct(sign) if sign.as_char() == '&' => {
                let mut ahead = tokens.clone();
                let is_lifetime =
                    matches!(ahead.next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '\'');
                if !is_lifetime || !is_static(ahead.next().as_ref()) {
                    found.get_or_insert(token.into());
                }
            }
            _ => {}
        }
    }
}

/// Returns a type that does not exist. rustc reports neither that type nor the values of it, since another error is there already.
fn unknown_type(param: &Ident) -> Type {
    let unknown = Ident::new("__Unknown", param.span());
    parse_quote!(#unknown)
}
