//! Reads the tokens of `graph!` into statements. Each statement is read by itself, so that one mistake hides no other.

mod attribute;
mod body;
mod condition_arguments;
mod conditions;
mod edge;
mod edge_attributes;
mod header;
mod node;
mod node_attributes;
mod on_failure;
mod operator_type;
mod pool;
mod port;
mod value;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

pub(super) use conditions::FORMS as CONDITIONS;
#[cfg(test)]
pub(super) use conditions::read_condition;

use super::syntax::ParsedGraph;
use crate::diagnostic::Errors;

/// The graph, as far as it can be read. `None` if it has no name: then nothing can be defined.
pub(super) fn parse_graph(tokens: TokenStream, errors: &mut Errors) -> Option<ParsedGraph> {
    let parser = |input: ParseStream<'_>| {
        let Some(header) = header::parse_header(input, errors) else {
            // The header's mistake is reported. The rest is skipped, so that it is the only one.
            input.parse::<TokenStream>()?;
            return Ok(None);
        };
        let statements = body::parse_body(&header.name, input, errors)?;
        if !input.is_empty() {
            errors.at(input.parse::<TokenStream>()?, "a graph ends with its body; remove this");
        }
        Ok(Some(ParsedGraph { header, statements }))
    };
    match parser.parse2(tokens) {
        Ok(graph) => graph,
        Err(error) => {
            errors.push(error);
            None
        }
    }
}
