//! Expands `graph!`.
//!
//! # The way of a token
//!
//! The steps of an expansion, by file, with the type that each step hands on:
//!
//! 1. `parse/mod.rs`: `parse_graph` reads the tokens into a `ParsedGraph` (`syntax.rs`): a `Header`, and a `Statement`
//!    for each pool, node, edge and port. `parse/body.rs` divides the body into statements; `pool.rs`, `node.rs`, `edge.rs`
//!    and `graph_port.rs` in `parse` read one each. A statement that can't be read becomes a `BrokenStatement`.
//! 2. `check/mod.rs`: `check_graph` makes a `Graph` (`model.rs`) from the `ParsedGraph`. `check/declarations.rs` sorts
//!    the statements into `Declarations`. `header.rs`, `pools.rs` and `nodes.rs` in `check` check their names.
//!    `check/edges.rs` makes `Connections` from the edge statements: an `Edge` for each input, and a `Discard` for each
//!    `_`; `check/borders.rs` makes a `Border` for each edge to a port of the graph. `places.rs` says which
//!    ports the edges of a statement reach. `check/order.rs` finds
//!    the order in which the nodes run. A `ParsedGraph` and a `Graph` have some types in common, as `Pool` and `Port`: these are in
//!    `parts.rs`, and in `conditions.rs`.
//! 3. `expand/mod.rs`: `expand_graph` writes the items that the graph expands to, as a `TokenStream`. `definition.rs`
//!    in `expand` writes the struct, `implementation.rs` its methods, `constructor.rs` the body of `new`,
//!    `graph_impl.rs` the `impl Graph`, and `assertions.rs` the constants that check the graph. `part.rs` writes what a graph
//!    with ports has in the place of the `impl Graph`, so that another graph has it as a node. `spans.rs` has the spans
//!    of the user's tokens that rustc underlines for a mistake.
//! 4. `mod.rs`: `graph` appends the mistakes that `parse` and `check` have added to `Errors`, as `compile_error!`s.
//!
//! In an editor, `editor/mod.rs` takes the place of steps 3 and 4.
//!
//! # Where each check is
//!
//! - In the macro. `parse` checks the syntax, and reports a literal `#[capacity(0)]`, and literals that make a condition
//!   meaningless, as `count(0)`. `check` checks names, and finds cycles, conditions on more messages than the queues hold,
//!   duplicate edges, discards of consumed outputs, and each `#[transfer]` to a node with `#[streams(none)]`. In a graph
//!   without other mistakes, it also finds pools that nothing uses.
//! - In trait bounds. The functions in `streamflow/src/port/connect.rs`, called by the code of `expand/wiring.rs`, have
//!   bounds that check an edge's direction, its message's type, whether its input may own the message, `#[copy]`,
//!   `#[transfer]` and the ports of conditions. `operator_item` in `expand/paths.rs` requires that a node's type is an
//!   operator or a graph with ports, and `list_node` in `expand/graph_impl.rs` that it has a `compute`. Edges to the graph's own
//!   ports have the bounds of `streamflow/src/port/exported.rs`.
//! - In constants. `expand/assertions.rs` writes constants that call the `check_…` functions in
//!   `streamflow/src/graph/check.rs` and `connected.rs`. They check everything that needs values of an operator's type,
//!   as the names and sizes of its ports. `arrays.rs`, `loops.rs` and `own_ports.rs` in `expand` write those about arrays of nodes and
//!   of ports, and about loops. If the macro has found a mistake or an unknown node, no constants are written,
//!   since some would fail because of that mistake.
//! - In `new` and `run`: everything that needs a value of the running program, as a count, or a device of the platform.
//!
//! # An unknown node
//!
//! An edge may name a node that no `let` declares, `a.out >> shw.image`. `check/edges.rs` keeps the edge, and lists the name in
//! `Connections::unknown_nodes`. Either rustc or the macro reports the name:
//!
//! - rustc, if the macro has found no mistake: the call that `expand/wiring.rs` writes for the edge uses the name `shw`,
//!   which no code binds.
//! - `report_unknown_nodes` in `check/nodes.rs`, if the macro has found a mistake: beside the `compile_error!` for that
//!   mistake, rustc does not report the name.
//!
//! In both cases, the order of the nodes and the diagrams leave the edge out, and because of `Graph::has_unknown_nodes` no
//! constants are written.
//!
//! If a node or a pool has a forbidden name, as that of another node, an unknown name may be meant for that node or pool. So the
//! unknown name is not reported.

mod check;
mod conditions;
mod editor;
mod expand;
mod generics;
mod index;
mod interface;
mod model;
mod parse;
mod parts;
mod places;
mod spans;
mod syntax;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

pub(crate) use editor::graph_in_an_editor;
pub(crate) use interface::interface;

/// Expands one use of `graph!`.
pub(crate) fn graph(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let graph = parse::parse_graph(tokens, &mut errors)
        .and_then(|parsed| check::check_graph(parsed, &mut errors));
    let expanded = graph.map(expand::expand_graph).unwrap_or_default();
    [expanded, errors.into_tokens()].into_iter().collect()
}
