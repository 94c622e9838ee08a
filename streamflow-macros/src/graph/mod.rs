//! `graph!`.

mod attribute;
mod check;
mod chunk;
mod constants;
mod diagram;
mod edge;
mod edge_attribute;
mod expand;
mod model;
mod names;
mod node_type;
mod parse;
mod pools;
mod statement;
#[cfg(test)]
mod tests;
mod toposort;
mod wiring;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

/// Parse, check, expand.
pub(crate) fn graph(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some((header, statements)) = parse::graph(tokens, &mut errors) else {
        return errors.into_tokens();
    };
    let graph = check::graph(header, statements, &mut errors);
    if graph.hides_operator {
        // Its struct would be taken for the operator, in each place.
        return errors.into_tokens();
    }
    // The errors come last: an editor then completes in what stands before them.
    let expanded = expand::graph(&graph, errors.is_empty());
    [expanded, errors.into_tokens()].into_iter().collect()
}
