//! Writes the expansion of `graph!` for an editor: see `crate::editor`. rustc never compiles this expansion.
//!
//! The expansion has two parts:
//!
//! 1. `probe.rs` reads the tokens of the body, also where they are no statement yet, and writes one function that has each
//!    of the user's tokens once. This part comes first: to complete a word, an editor adds letters at the cursor and expands
//!    again, and then finds the cursor by its distance from the beginning of the expansion.
//! 2. The struct, its methods and its handle, as `crate::editor` outlines them. The methods `left` and `left_mut` have the
//!    location of the node `left`, so renaming the node renames their calls.
//!
//! `words.rs` has the words of attributes, as functions with documentation.

mod probe;
mod words;

#[cfg(test)]
pub(super) use words::WHEN;

use std::collections::HashMap;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

use super::model::Graph;
use super::{check, expand, parse};
use crate::diagnostic::Errors;
use crate::editor::{away_from_user, outline, relocate};

/// Expands one use of `graph!` for an editor.
pub(crate) fn graph_in_an_editor(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let graph = parse::parse_graph(tokens.clone(), &mut errors)
        .and_then(|parsed| check::check_graph(parsed, &mut errors));
    let expanded = graph.map(|graph| {
        let probe = probe::write(&graph, body_of(tokens).unwrap_or_default());
        let declared = declared_names(&graph);
        let items = outline(expand::expand_api(&graph), &|name| {
            declared.get(&name.unraw().to_string()).copied()
        });
        let ports = graph.has_ports().then(|| write_ports(&graph));
        quote!(#probe #items #ports)
    });
    // The errors come last, since an editor completes only in the tokens before them.
    [expanded.unwrap_or_default(), errors.into_tokens()].into_iter().collect()
}

/// Returns the tokens inside of the graph's braces, as the user wrote them.
fn body_of(tokens: TokenStream) -> Option<TokenStream> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    })
}

/// Returns the names that a graph declares for its user, as those of its methods, each with the location of the user's token.
fn declared_names(graph: &Graph) -> HashMap<String, Span> {
    let name = &graph.header.name;
    let of_graph = ["", "Handle", "Mut"].map(|end| (format!("{}{end}", name.unraw()), name.span()));
    let nodes = graph.nodes.iter().filter(|node| node.has_accessors);
    let of_nodes = nodes.flat_map(|node| {
        ["", "_mut"].map(|end| (format!("{}{end}", node.unraw_name()), node.name.span()))
    });
    of_nodes.chain(of_graph).collect()
}

/// Writes the struct with the ports of the graph. The names of the ports are the user's tokens, so an editor finds and renames them
/// there.
fn write_ports(graph: &Graph) -> TokenStream {
    let name = away_from_user(&expand::named(graph, "_Ports"));
    let fields = expand::port_items(graph, false).fields.into_iter().zip(&graph.ports);
    let fields = fields.map(|(field, port)| {
        let mut is_found = false;
        field
            .into_iter()
            .map(move |token| match token {
                TokenTree::Ident(word) if word == port.name && !is_found => {
                    is_found = true;
                    TokenTree::Ident(word)
                }
                other => {
                    relocate(other.into()).into_iter().next().unwrap_or_else(|| unreachable!())
                }
            })
            .collect::<TokenStream>()
    });
    let fields: TokenStream = fields.collect();
    let before = relocate(quote!(#[allow(warnings)] pub struct));
    let generics = graph.header.with_lifetime(&Lifetime::new("'__a", Span::call_site()));
    let (generics, clauses) =
        (relocate(quote!(#generics)), relocate(generics.where_clause.to_token_stream()));
    quote!(#before #name #generics #clauses { #fields })
}
