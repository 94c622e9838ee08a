//! Writes the documentation of a generated operator: the tables of its ports and parameters, and the texts of the ports.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Lit, Meta};

use super::model::{Direction, Operator, Param, Port, Range, Size};
use crate::tokens::spelled;

/// Returns the text of a doc comment, without `///` and without blank space at its start and end.
pub(super) fn read_doc_text(docs: &[Attribute]) -> String {
    let lines = docs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines
        .flat_map(|text| text.split('\n').map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    lines.join("\n").trim().to_owned()
}

/// The text with which the table of the ports begins.
const PORT_TABLE: &str = "\n\n## Ports\n\n| name | direction | type | text |\n|---|---|---|---|";

/// Whether the attributes of an item contain a table of ports already. If so, `#[operator]` has expanded this item before.
pub(super) fn has_port_table(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::NameValue(pair) => matches!(&pair.value, Expr::Lit(literal)
            if matches!(&literal.lit, Lit::Str(text) if text.value().starts_with(PORT_TABLE))),
        _ => false,
    })
}

/// Returns the table of the ports as `#[doc]`, to be placed after the user's own doc comment of the operator.
pub(super) fn write_port_table(operator: &Operator) -> TokenStream {
    if operator.ports.is_empty() {
        return TokenStream::new();
    }
    let mut table = PORT_TABLE.to_owned();
    for port in &operator.ports {
        let direction = match (port.direction, &port.size) {
            (Direction::Output, _) if port.is_branch => "branch, an output".to_owned(),
            (Direction::Output, _) => "output".to_owned(),
            (Direction::Input { optional: true, .. }, Size::Many) => {
                "optional input of many".to_owned()
            }
            (Direction::Input { .. }, Size::Many) => "input of many".to_owned(),
            (Direction::Input { .. }, Size::Exactly(size)) => {
                format!("input of {}", size.to_token_stream())
            }
            (Direction::Input { optional: true, .. }, _) => "optional input".to_owned(),
            (Direction::Input { .. }, _) => "input".to_owned(),
        };
        let name = port.ident.unraw();
        let ty = escape_cell(&spelled(&port.shown));
        let first = port.doc.split("\n\n").next().unwrap_or_default();
        table.push_str(&format!("\n| `{name}` | {direction} | `{ty}` | {} |", escape_cell(first)));
    }
    quote!(#[doc = #table])
}

/// Returns the table of the parameters as `#[doc]`, to be placed after the table of the ports.
pub(super) fn write_param_table(operator: &Operator) -> TokenStream {
    if operator.params.is_empty() {
        return TokenStream::new();
    }
    let mut table =
        "\n\n## Parameters\n\n| name | type | range | text |\n|---|---|---|---|".to_owned();
    for Param { ident, ty, docs, range, .. } in &operator.params {
        let (name, ty) = (ident.unraw(), escape_cell(&spelled(ty)));
        let range = range.as_ref().map(Range::text);
        let range =
            range.map_or_else(|| "–".to_owned(), |range| format!("`{}`", escape_cell(&range)));
        let doc = read_doc_text(docs);
        let first = escape_cell(doc.split("\n\n").next().unwrap_or_default());
        table.push_str(&format!("\n| `{name}` | `{ty}` | {range} | {first} |"));
    }
    quote!(#[doc = #table])
}

/// Returns the text on one line and with `|` escaped, as a cell of a Markdown table needs it.
fn escape_cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Returns the port's doc comment, or a generated one if the user wrote none.
pub(super) fn write_port_docs(port: &Port) -> TokenStream {
    let docs = &port.docs;
    if docs.is_empty() {
        let kind = match port.direction {
            Direction::Input { .. } => "input",
            Direction::Output => "output",
        };
        let text =
            format!("The {kind} `{}`, of type `{}`.", port.ident.unraw(), spelled(&port.shown));
        return quote!(#[doc = #text]);
    }
    quote!(#(#docs)*)
}
