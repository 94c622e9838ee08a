//! Checks the declarations of stream pools and green context pools, and the names of pools that nodes use.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;

use crate::diagnostic::{Errors, similar};
use crate::graph::model::Node;
use crate::graph::parts::{Header, Pool, PoolKind, Streams};
use crate::tokens::mentions;

/// The names of pools whose declarations have mistakes.
#[derive(Default)]
pub(super) struct LeftOutPools {
    names: HashSet<String>,
    /// Whether a pool has a forbidden name, as that of another pool. An unknown name may be meant for that pool.
    has_wrong_name: bool,
}

impl LeftOutPools {
    /// Adds the name of a pool with a mistake. `None` stands for a pool whose name could not be read.
    pub(super) fn add(&mut self, name: Option<Ident>) {
        self.names.extend(name.map(|name| name.to_string()));
    }

    /// Whether an undeclared name may be meant for a pool whose declaration has a mistake.
    pub(super) fn may_have(&self, name: &Ident) -> bool {
        self.has_wrong_name || self.names.contains(&name.to_string())
    }
}

/// Adds a pool. Reports a pool with a name that it can't have, and leaves that pool out.
pub(super) fn declare_pool(
    pool: Pool,
    pools: &mut Vec<Pool>,
    left_out: &mut LeftOutPools,
    errors: &mut Errors,
) {
    let name = &pool.name;
    if pools.iter().any(|other| other.name == *name) {
        errors.at(name, format!("stream pool `{name}` is declared twice; give one another name"));
    } else if name == "none" {
        errors.at(name, "`#[streams(none)]` means no pool; give this one another name");
    } else {
        pools.push(pool);
        return;
    }
    left_out.has_wrong_name = true;
}

/// Reports nodes that name an undeclared pool, unless a pool with a reported mistake may have that name. These nodes then count
/// as nodes without `#[streams]`.
pub(super) fn check_pool_uses(
    pools: &[Pool],
    left_out: &LeftOutPools,
    nodes: &mut [Node],
    errors: &mut Errors,
) {
    let pools: Vec<String> = pools.iter().map(|pool| pool.name.to_string()).collect();
    let known: Vec<&str> = pools.iter().map(String::as_str).collect();
    for node in nodes {
        let Streams::Pool(pool) = &node.attributes.streams else { continue };
        let written = pool.to_string();
        if known.contains(&written.as_str()) {
            continue;
        }
        let hint = match similar(&written, &known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                format!("declare it: `const {written}: CudaStreamPool = CudaStreamPool::new();`")
            }
        };
        if !left_out.may_have(pool) {
            errors.at(pool, format!("there is no stream pool `{written}` in this graph; {hint}"));
        }
        node.attributes.streams = Streams::OwnPool;
    }
}

/// Removes a `#[green_contexts(POOL)]` that names an undeclared pool. Reports it, unless a pool with a reported mistake may have
/// that name.
pub(super) fn check_green_contexts(
    pools: &[Pool],
    left_out: &LeftOutPools,
    header: &mut Header,
    errors: &mut Errors,
) {
    let Some(name) = &header.green_contexts else { return };
    if pools.iter().all(|pool| pool.name != *name) {
        if !left_out.may_have(name) {
            errors.at(
                name,
                format!(
                    "there is no green context pool `{name}` in this graph; declare it: \
                     `const {name}: CudaGreenContextPool = CudaGreenContextPool::new();`"
                ),
            );
        }
        header.green_contexts = None;
    }
}

/// Reports pools that nothing uses, since rustc does not. A user who forgets the `#[streams(POOL)]` of a node would else not
/// notice it: without that attribute, the node has a pool of its own.
pub(super) fn check_unused(pools: &[Pool], nodes: &[Node], header: &Header, errors: &mut Errors) {
    for pool in pools {
        let of_nodes = nodes.iter().flat_map(|node| {
            let (value, count) = (&node.value, node.attributes.count.as_ref());
            let conditions = node.attributes.conditions.iter().map(ToTokens::to_token_stream);
            let values = [Some(value), count].into_iter().flatten();
            values.map(ToTokens::to_token_stream).chain(conditions)
        });
        let of_pools = pools.iter().map(|other| other.description.to_token_stream());
        let is_mentioned =
            of_nodes.chain(of_pools).any(|expression| mentions(expression, &pool.name));
        let is_default = header.green_contexts.as_ref() == Some(&pool.name);
        if is_mentioned || is_default || nodes.iter().any(|node| node.is_on(pool)) {
            continue;
        }
        let name = &pool.name;
        let text = if pool.kind() == Some(PoolKind::GreenContexts) {
            format!(
                "nothing uses green context pool `{name}`; give its contexts to stream pools, \
                 `.on({name}.context(0))`, or remove it"
            )
        } else {
            format!(
                "no node uses stream pool `{name}`; put `#[streams({name})]` on those that \
                 shall, or remove it"
            )
        };
        errors.at(name, text);
    }
}

/// Reports pools whose expressions name values that don't exist yet: a constant can use no value that is made in a run, and a
/// pool that is made in a run can use no pool that is made after it.
pub(super) fn check_values(pools: &[Pool], header: &Header, errors: &mut Errors) {
    for (index, pool) in pools.iter().enumerate() {
        let description = || pool.description.to_token_stream();
        let values = pools.iter().enumerate().filter(|(_, other)| other.is_made_by_run);
        for (other_index, other) in values {
            let (name, text) = (&pool.name, &other.name);
            let Some(token) = find_value(description(), text) else { continue };
            if !pool.is_made_by_run {
                errors.at(
                    token,
                    format!(
                        "`{text}` is made in a run, and `{name}` is a constant; declare it by `let`, too: \
                         `let {name} = …;`"
                    ),
                );
            } else if other_index >= index {
                errors.at(
                    token,
                    format!("`{text}` is declared below `{name}`, which needs it; move it above"),
                );
            }
        }
        if pool.is_made_by_run {
            continue;
        }
        for param in header.generic_names() {
            if let Some(token) = find_value(description(), param) {
                let name = &pool.name;
                errors.at(
                    token,
                    format!(
                        "`{param}` is a parameter of this graph, and `{name}` is a constant beside it; declare it by `let`: \
                         `let {name} = …;`"
                    ),
                );
            }
        }
        for param in &header.params {
            let (name, text) = (&pool.name, &param.name);
            if let Some(token) = find_value(description(), text) {
                errors.at(
                    token,
                    format!(
                        "parameter `{text}` is a value of a run, and `{name}` is a constant; declare it by \
                         `let`: `let {name} = …;`"
                    ),
                );
            }
        }
    }
}

/// Returns the first token that names the value `name` in an expression. A method, a function or a field with that name does not
/// count.
fn find_value(tokens: TokenStream, name: &Ident) -> Option<Ident> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_dot = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == '.' || punct.as_char() == ':');
    tokens.iter().enumerate().find_map(|(index, token)| match token {
        TokenTree::Group(group) => find_value(group.stream(), name),
        TokenTree::Ident(ident) if ident == name => {
            let before = index.checked_sub(1).and_then(|before| tokens.get(before));
            let is_call = matches!(tokens.get(index + 1), Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis);
            let is_path = matches!(tokens.get(index + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
            (!is_dot(before) && !is_call && !is_path).then(|| ident.clone())
        }
        _ => None,
    })
}
