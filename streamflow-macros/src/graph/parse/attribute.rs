//! What all attributes have in common.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Token};

use crate::diagnostic::{Errors, similar};

/// The names of attributes of nodes.
pub(super) const OF_NODES: &[&str] = &["streams", "worker", "when", "on_failure"];

/// The names of attributes of edges.
pub(super) const OF_EDGES: &[&str] = &["copy", "transfer", "capacity", "policy", "feedback"];

/// The names of attributes of graphs.
pub(super) const OF_GRAPHS: &[&str] = &["green_contexts", "replay"];

/// Whether this is a comment for the documentation.
pub(super) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && attribute.meta.to_token_stream().to_string().contains('=')
}

/// Skips comments that begin with `//!`, and attributes that begin with `#!`.
pub(super) fn reject_inner_attributes(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    while input.peek(Token![#]) && input.peek2(Token![!]) {
        for attribute in input.call(Attribute::parse_inner)? {
            let text = if is_doc(&attribute) {
                "a comment about what follows begins with `///`; one for the reader of the code, \
                 with `//`"
            } else {
                "an attribute stands before what it is for, as `#[…]`"
            };
            errors.at(attribute, text);
        }
    }
    Ok(())
}

/// Reports an attribute that is none of the `known` ones. `forms` says how these are written.
pub(super) fn reject_unknown_attribute(
    attribute: &Attribute,
    known: &[&str],
    forms: &str,
    errors: &mut Errors,
) {
    let path = attribute.path();
    let written = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    if written == "cfg" || written == "cfg_attr" {
        let text = "a statement of a graph cannot depend on `cfg`: what is connected is checked \
                    before it is known; put it on the whole `graph!`";
        errors.at(attribute, text);
        return;
    }
    if OF_GRAPHS.contains(&&*written) {
        let text = format!("`#[{written}]` is for the whole graph: put it before the struct");
        errors.at(attribute, text);
        return;
    }
    let hint =
        similar(&written, known).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
    errors.at(attribute, format!("unknown attribute `{written}`; {hint}{forms}"));
}
