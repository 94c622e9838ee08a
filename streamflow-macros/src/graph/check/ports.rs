//! Checks the ports of a graph, and the edges between them and the nodes inside.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Token, Type, parse_quote};

use crate::diagnostic::Errors;
use crate::graph::index::Loop;
use crate::graph::model::{Border, Node, OwnPort};
use crate::graph::parts::{EdgeAttributes, End, Header, Pool, PoolKind, Port, Side, unraw_name};
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
pub(super) fn check_header(header: &mut Header, pools: &[Pool], errors: &mut Errors) {
    let name = &header.name;
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

/// The edges between the ports of the graph and its nodes, as they are read.
pub(super) struct Borders<'a>(&'a mut [OwnPort]);

impl<'a> Borders<'a> {
    pub(super) fn new(ports: &'a mut [OwnPort]) -> Self {
        Self(ports)
    }

    /// Returns a port by its name. A port with a mistake is not among the ports, and was reported.
    fn port(&mut self, name: &Ident) -> Option<&mut OwnPort> {
        self.0.iter_mut().find(|port| unraw_name(&port.name) == unraw_name(name))
    }

    /// Whether an input of the graph leads to this input of a node, by an edge that is read already.
    pub(super) fn lead_to(&self, input: &Port, around: Option<&Loop>) -> bool {
        let nodes = input.nodes(around);
        inner_ports(self.0, Side::Input).any(|(inner, _)| {
            let is_same = unraw_name(&inner.node) == unraw_name(&input.node)
                && unraw_name(&inner.name) == unraw_name(&input.name);
            is_same && inner.nodes(None).may_meet(&nodes)
        })
    }

    /// Adds an edge that has a port of the graph at one end.
    pub(super) fn add(
        &mut self,
        ends: (&End, Token![>>], &End),
        attributes: &EdgeAttributes,
        in_group: bool,
        errors: &mut Errors,
    ) {
        let (from, arrow, to) = ends;
        let (own, inner, side) = match (from, to) {
            (End::Own(own), End::Node(inner)) => (own, inner, Side::Input),
            (End::Node(inner), End::Own(own)) => (own, inner, Side::Output),
            (End::Own(from), End::Own(to)) => {
                let text = format!(
                    "an edge of a graph has a node at one of its ends, and `{from}` and `{to}` are ports of the graph; put an \
                     operator between them"
                );
                errors.at(to, text);
                return;
            }
            (End::Node(_), End::Node(_)) => return,
        };
        let Some(port) = self.port(own) else { return };
        if port.side != side {
            let text = match side {
                Side::Input => format!(
                    "`{own}` is an output of this graph: an edge inside ends at it, `node.output >> {own};`"
                ),
                Side::Output => format!(
                    "`{own}` is an input of this graph: an edge inside begins at it, `{own} >> node.input;`"
                ),
            };
            errors.at(own, text);
            return;
        }
        if has_options(attributes) {
            let text = format!(
                "this is the inner end of an edge that leads to `{own}` from outside, or from it; its attributes are those of that \
                 edge, in the graph around this one"
            );
            errors.at(own, text);
        }
        if let (Side::Output, Some(Border { inner: first, .. })) = (side, port.borders.first()) {
            let text = format!(
                "output `{own}` of this graph is `{first}` already, and can't be `{inner}` too; declare another output"
            );
            errors.at(inner, text);
            return;
        }
        let (own, inner) = (own.clone(), inner.clone());
        port.borders.push(Border { own, arrow, inner, in_group, is_shared: false });
    }
}

fn has_options(attributes: &EdgeAttributes) -> bool {
    let EdgeAttributes { carries: _, capacity, policy, is_feedback, initial } = attributes;
    attributes.has_copy()
        || capacity.is_some()
        || policy.is_some()
        || *is_feedback
        || initial.is_some()
}

/// Reports ports without an edge inside, in a graph without other mistakes: after another one, the edge may be left out.
pub(super) fn check_edges(ports: &[OwnPort], errors: &mut Errors) {
    if !errors.is_empty() {
        return;
    }
    for OwnPort { name, side, .. } in ports.iter().filter(|port| port.borders.is_empty()) {
        let text = match side {
            Side::Input => format!(
                "input `{name}` of this graph leads nowhere; write `{name} >> node.input;`, or remove it"
            ),
            Side::Output => format!(
                "output `{name}` of this graph has no producer; write `node.output >> {name};`"
            ),
        };
        errors.at(name, text);
    }
}

/// Reports outputs of nodes that are two outputs of the graph, inputs of nodes that are two inputs of it, and repeated edges. Removes
/// the repeated ones, so that no further errors follow.
pub(super) fn check_repeated(ports: &mut [OwnPort], errors: &mut Errors) {
    let mut known: HashMap<_, Ident> = HashMap::new();
    for OwnPort { name, side, borders, .. } in ports {
        borders.retain(|border| {
            let inner = &border.inner;
            let key = (*side, unraw_name(&inner.node), inner.nodes(None), unraw_name(&inner.name));
            match (*side, known.get(&key)) {
                (_, None) => {
                    known.insert(key, name.clone());
                    return true;
                }
                (Side::Input, Some(first)) if *first == *name => {
                    let text = format!("this edge is there already; `{name}` feeds `{inner}` once");
                    errors.at(border.underlined_tokens(Side::Input), text);
                }
                (Side::Input, Some(first)) => {
                    let text = format!(
                        "input `{first}` of this graph leads to `{inner}` already, and one input of a graph leads to an input inside; \
                         put an operator before `{inner}` that joins them"
                    );
                    errors.at(border.underlined_tokens(Side::Input), text);
                }
                (Side::Output, Some(first)) => {
                    let text = format!(
                        "`{inner}` is output `{first}` of this graph already, and is exported once; read `{first}` outside as \
                         often as needed"
                    );
                    errors.at(&border.own, text);
                }
            }
            false
        });
    }
}

/// Returns a type that does not exist. rustc reports neither that type nor the values of it, since another error is there already.
fn unknown_type(param: &Ident) -> Type {
    let unknown = Ident::new("__Unknown", param.span());
    parse_quote!(#unknown)
}

/// Returns the ports of nodes to which the ports of the graph lead, each with the name of the graph's port.
pub(super) fn inner_ports(
    ports: &[OwnPort],
    side: Side,
) -> impl Iterator<Item = (&Port, &OwnPort)> {
    ports
        .iter()
        .filter(move |port| port.side == side)
        .flat_map(|port| port.borders.iter().map(move |border| (&border.inner, port)))
}
