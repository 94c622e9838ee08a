//! Checks the names of stream pools and of green context pools.

use quote::ToTokens;

use crate::diagnostic::{Errors, similar};
use crate::graph::model::Node;
use crate::graph::parts::{Header, Pool, Streams};
use crate::tokens::mentions;

/// Adds a pool. A name that it can't have is reported, and the pool is left out.
pub(super) fn declare_pool(pool: Pool, pools: &mut Vec<Pool>, errors: &mut Errors) {
    if pools.iter().any(|other| other.name == pool.name) {
        let name = &pool.name;
        errors.at(name, format!("stream pool `{name}` is declared twice; give one another name"));
    } else if pool.name == "none" {
        errors.at(&pool.name, "`#[streams(none)]` means no pool; give this one another name");
    } else {
        pools.push(pool);
    }
}

/// Reports nodes whose pool is not declared. They then count as nodes without `#[streams]`.
pub(super) fn check_pool_uses(pools: &[Pool], nodes: &mut [Node], errors: &mut Errors) {
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
        errors.at(pool, format!("there is no stream pool `{written}` in this graph; {hint}"));
        node.attributes.streams = Streams::OwnPool;
    }
}

/// Reports a `#[green_contexts(POOL)]` whose pool is not declared, and removes it.
pub(super) fn check_green_contexts(pools: &[Pool], header: &mut Header, errors: &mut Errors) {
    let Some(name) = &header.green_contexts else { return };
    if pools.iter().all(|pool| pool.name != *name) {
        errors.at(
            name,
            format!(
                "there is no green context pool `{name}` in this graph; declare it: \
                 `const {name}: CudaGreenContextPool = CudaGreenContextPool::new();`"
            ),
        );
        header.green_contexts = None;
    }
}

/// Reports pools that nothing uses: rustc does not find these constants unused. Otherwise a user who forgets the
/// `#[streams(POOL)]` of a node would not notice, since the node then has a pool of its own.
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
        let text = if is_green_context_pool(pool) {
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

/// Whether the type has the name of a green context pool.
fn is_green_context_pool(pool: &Pool) -> bool {
    let last = pool.ty.to_token_stream().into_iter().last();
    last.is_some_and(|last| last.to_string() == "CudaGreenContextPool")
}
