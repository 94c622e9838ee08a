//! `graph!`.

mod check;
mod expand;
mod model;
mod parse;
#[cfg(test)]
mod tests;

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
