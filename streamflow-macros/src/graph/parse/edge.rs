//! Reads edges: `a.out >> b.in`, `a.out >> (b.in, c.in)`, `a.out >> _`.

use proc_macro2::{Punct, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Token, parenthesized, token};

use super::edge_attributes::{read_edge_attributes, reject_at_discard};
use super::port::{EDGE_FORM, Scope, parse_end};
use crate::diagnostic::Errors;
use crate::graph::parts::{End, Side};
use crate::graph::syntax::{BrokenStatement, EdgeStatement, Statement, Target};
use crate::tokens::split;

/// Reads an edge. If it can't be read to its end, the function consumes the rest of `input`. The exception is a group without a
/// readable input: its parentheses show where it ends, so the next statement can be read even if a semicolon is missing.
pub(super) fn parse_edge(
    written: &[Attribute],
    input: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let statement: TokenStream = input.fork().parse()?;
    let Some(output) = parse_end(input, Side::Output, scope, errors)? else { return Ok(broken()) };
    if input.is_empty() {
        errors.at(
            statement,
            format!(
                "this edge leads nowhere; write `{output} >> consumer.input;`, or `{output} >> _;` to \
                 discard what the output sends"
            ),
        );
        return Ok(broken());
    }
    let Ok(arrow) = input.parse::<Token![>>]>() else {
        match take_other_arrow(input) {
            Some(other) => errors.at(other, format!("write `>>` for this arrow: {EDGE_FORM}")),
            None => errors.at(statement, format!("this is no edge; {EDGE_FORM}")),
        }
        input.parse::<TokenStream>()?;
        return Ok(broken());
    };
    if input.is_empty() {
        let text = format!("this edge ends after `>>`; write `{output} >> consumer.input;`");
        errors.at(statement, text);
        return Ok(broken());
    }
    let Some(target) = parse_target(&output, input, scope, errors)? else { return Ok(broken()) };
    if let Target::Input(first) = &target {
        reject_inputs_without_group(&output, first, input, errors)?;
    }
    if input.peek(Token![>>]) {
        let rest: TokenStream = input.parse()?;
        errors.at(
            rest,
            "an edge joins one output and its inputs; continue in a statement of its own, from an \
             output of the consumer",
        );
    }
    let attributes = read_edge_attributes(written, errors);
    if let Target::Discard(_) = target {
        reject_at_discard(written, errors);
    }
    let around = scope.around.cloned();
    Ok(Statement::Edge(Box::new(EdgeStatement { attributes, around, output, arrow, target })))
}

/// Reads a wrong arrow in place of `>>`, as `->`, `=>` or `|`. If the next tokens are no such arrow, none are consumed.
fn take_other_arrow(input: ParseStream<'_>) -> Option<TokenStream> {
    let ahead = input.fork();
    let mut arrow = TokenStream::new();
    while let Ok(punct) = ahead.parse::<Punct>() {
        arrow.extend([TokenTree::from(punct)]);
    }
    let text = arrow.to_string().replace(' ', "");
    let is_arrow = ["->", "=>", ">", "<<", "<-", "|", "|>", "=", "-->", "==>", ">>>"];
    is_arrow.contains(&text.as_str()).then(|| input.advance_to(&ahead))?;
    Some(arrow)
}

/// Returns a statement that could not be read to its end.
fn broken() -> Statement {
    Statement::Broken(BrokenStatement::default())
}

/// Reads what follows `>>`: an input, a group of inputs, or `_`. Returns `None` after reporting a mistake.
fn parse_target(
    output: &End,
    input: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Target>> {
    if input.peek(Token![_]) {
        return Ok(Some(Target::Discard(input.parse()?)));
    }
    if input.peek(token::Paren) {
        return Ok(parse_group(output, input, scope, errors)?.map(Target::Group));
    }
    Ok(parse_end(input, Side::Input, scope, errors)?.map(Target::Input))
}

/// Reports and skips further inputs without parentheses, as `, c.in` after `a.out >> b.in`. If `>>` follows, nothing is skipped:
/// the comma then stands in place of a semicolon, and the next edge begins after it.
fn reject_inputs_without_group(
    output: &End,
    first: &End,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    let ahead = input.fork();
    let mut tokens = TokenStream::new();
    while ahead.peek(Token![,]) && ahead.peek2(syn::Ident) && ahead.peek3(Token![.]) {
        // The four tokens of `, node.port`.
        for _ in 0..4 {
            tokens.extend(ahead.parse::<Option<TokenTree>>()?);
        }
    }
    if tokens.is_empty() || ahead.peek(Token![>>]) {
        return Ok(());
    }
    errors.at(
        tokens,
        format!("several inputs of one output stand in parentheses: `{output} >> ({first}, …);`"),
    );
    input.advance_to(&ahead);
    Ok(())
}

/// Reads a group `(b.in, c.in)`, and returns those inputs that can be read. Returns `None` if no input can be read.
fn parse_group(
    output: &End,
    input: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Vec<End>>> {
    let group: TokenTree = input.fork().parse()?;
    let content;
    parenthesized!(content in input);
    let items = split(content.parse()?);
    if items.is_empty() {
        errors.at(
            group,
            format!(
                "this group has no inputs; write `{output} >> (b.input, c.input);`, or `{output} >> _;` \
                 to discard what the output sends"
            ),
        );
    }
    let mut inputs = Vec::new();
    for item in items {
        let parser = |item: ParseStream<'_>| parse_group_item(output, item, scope, errors);
        inputs.extend(parser.parse2(item)?);
    }
    Ok((!inputs.is_empty()).then_some(inputs))
}

/// Reads one input of a group.
fn parse_group_item(
    output: &End,
    item: ParseStream<'_>,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<End>> {
    if item.peek(Token![_]) {
        let text = format!(
            "`_` discards an output that has no consumers; remove it, for `{output}` has some"
        );
        errors.at(item.parse::<TokenStream>()?, text);
        return Ok(None);
    }
    let input = parse_end(item, Side::Input, scope, errors)?;
    if input.is_some() && !item.is_empty() {
        let text = format!("expected `,` between the inputs of a group; {EDGE_FORM}");
        errors.at(item.parse::<TokenStream>()?, text);
    }
    Ok(input)
}
