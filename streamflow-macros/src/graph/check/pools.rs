//! What can be decided of stream pools from names alone.

use std::collections::HashSet;

use quote::ToTokens;
use syn::Type;
use syn::ext::IdentExt;

use crate::diagnostic::{Errors, similar};
use crate::graph::model::{Graph, Leftover, Node, Pool, Streams};
use crate::tokens::mentions;

pub(super) fn declare(pool: Pool, pools: &mut Vec<Pool>, errors: &mut Errors) {
    if pools.iter().any(|other| other.name == pool.name) {
        let name = &pool.name;
        errors.at(name, format!("stream pool `{name}` is declared twice; give one another name"));
    } else if pool.name == "none" {
        errors.at(&pool.name, "`#[streams(none)]` means no pool; give this one another name");
    } else {
        pools.push(pool);
    }
}

/// A node with the name of a pool would be taken for that constant. It is left out, and edges to it are
/// no further mistake.
pub(super) fn not_nodes(
    graph: &mut Graph,
    without_type: &mut HashSet<String>,
    errors: &mut Errors,
) {
    let pools: HashSet<String> = graph.pools.iter().map(|pool| pool.name.to_string()).collect();
    let (taken, free): (Vec<_>, Vec<_>) = std::mem::take(&mut graph.nodes)
        .into_iter()
        .partition(|node| pools.contains(&node.name.to_string()));
    graph.nodes = free;
    for Node { name, ty, value, .. } in taken {
        let text = format!("node `{name}` has the name of a stream pool; give it another name");
        errors.at(&name, text);
        without_type.insert(name.unraw().to_string());
        graph.leftovers.push(Leftover { ty: Some(ty), value: Some(value) });
    }
}

pub(super) fn of_nodes(graph: &mut Graph, errors: &mut Errors) {
    let pools: Vec<String> = graph.pools.iter().map(|pool| pool.name.to_string()).collect();
    let known: Vec<&str> = pools.iter().map(String::as_str).collect();
    for node in &mut graph.nodes {
        let Streams::Pool(pool) = &node.streams else { continue };
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
        node.streams = Streams::Default;
    }
}

pub(super) fn default_green(graph: &mut Graph, errors: &mut Errors) {
    let Some(name) = &graph.header.green else { return };
    if graph.pools.iter().all(|pool| pool.name != *name) {
        errors.at(
            name,
            format!(
                "there is no green context pool `{name}` in this graph; declare it: \
                 `const {name}: CudaGreenContextPool = CudaGreenContextPool::new();`"
            ),
        );
        graph.header.green = None;
    }
}

/// rustc does not find these constants unused. A pool that was forgotten at its node would go
/// unnoticed, since the node then has one of its own.
pub(super) fn unused(graph: &Graph, errors: &mut Errors) {
    for pool in &graph.pools {
        let values = graph.nodes.iter().flat_map(|node| [Some(&node.value), node.count.as_ref()]);
        let others = graph.pools.iter().map(|other| Some(&other.description));
        let mentioned = values
            .chain(others)
            .flatten()
            .any(|value| mentions(value.to_token_stream(), &pool.name));
        let used = graph
            .nodes
            .iter()
            .any(|node| matches!(&node.streams, Streams::Pool(name) if *name == pool.name));
        let is_default = graph.header.green.as_ref() == Some(&pool.name);
        if !mentioned && !used && !is_default {
            let name = &pool.name;
            if is_green(pool) {
                let text = format!(
                    "nothing uses green context pool `{name}`; give its contexts to stream pools, \
                     `.on({name}.context(0))`, or remove it"
                );
                errors.at(name, text);
                continue;
            }
            errors.at(
                name,
                format!(
                    "no node uses stream pool `{name}`; put `#[streams({name})]` on those that \
                     shall, or remove it"
                ),
            );
        }
    }
}

/// Whether a type has the name of a pool.
pub(in crate::graph) fn is_pool(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        (last.ident == "CudaStreamPool" || last.ident == "CudaGreenContextPool")
            && last.arguments.is_none()
    })
}

/// Whether it is a pool of green contexts, as far as its type tells.
fn is_green(pool: &Pool) -> bool {
    let ty = pool.ty.to_token_stream().into_iter().last();
    ty.is_some_and(|last| last.to_string() == "CudaGreenContextPool")
}
