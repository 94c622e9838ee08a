//! Reads the tokens of `graph!` into statements. Each statement is read separately, so that a mistake in one does not hide a
//! mistake in another.

mod attribute;
mod body;
mod condition_arguments;
mod conditions;
mod edge;
mod edge_attributes;
mod edge_loop;
mod generics;
mod graph_port;
mod header;
mod interface;
mod node;
mod node_attributes;
mod on_failure;
mod operator_type;
mod pool;
mod port;
mod segments;
mod value;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

pub(super) use conditions::FORMS as CONDITIONS;
#[cfg(test)]
pub(super) use conditions::read_condition;
pub(super) use interface::parse_interface;

use super::syntax::ParsedGraph;
use crate::diagnostic::Errors;

/// Reads the graph, and returns all of it that can be read. Returns `None` if the graph has no name, since then nothing can be
/// defined.
pub(super) fn parse_graph(tokens: TokenStream, errors: &mut Errors) -> Option<ParsedGraph> {
    let parser = |input: ParseStream<'_>| {
        let Some(mut header) = header::parse_header(input, errors) else {
            // The mistake in the header is reported. All tokens after it are skipped, so that it is the only error.
            input.parse::<TokenStream>()?;
            return Ok(None);
        };
        let statements = body::parse_body(&mut header, input, errors)?;
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
