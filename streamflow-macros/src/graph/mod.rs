//! `graph!`: tokens → `parse` → `syntax` → `check` → `model` → `expand` → tokens.

mod check;
mod expand;
mod model;
mod parse;
mod parts;
mod spans;
mod syntax;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

/// Expands one use of `graph!`.
pub(crate) fn graph(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let graph = parse::parse_graph(tokens, &mut errors)
        .and_then(|parsed| check::check_graph(parsed, &mut errors));
    let expanded = graph.map(|graph| expand::expand_graph(&graph)).unwrap_or_default();
    // The errors come last: an editor completes in what comes before them.
    [expanded, errors.into_tokens()].into_iter().collect()
}
