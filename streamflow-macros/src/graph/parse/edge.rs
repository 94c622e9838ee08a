//! Reads edges: `a.out >> b.in`, `a.out >> (b.in, c.in)`, `a.out >> _`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Token, parenthesized, token};

use crate::diagnostic::Errors;
use crate::graph::model::{Draft, EdgeStatement, PartialPort, Port, Statement, Target};

const FORM: &str = "an edge is written `producer.output >> consumer.input;`";

/// An edge, or what an editor can make of its beginning. Where it is wrong, all of the input is
/// read, but for what looks like the next statement.
pub(super) fn statement(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let whole: TokenStream = input.fork().parse()?;
    let mut draft = Draft::default();
    let Some(from) = port(input, Side::Output, &mut draft, errors)? else {
        return Ok(Statement::Draft(draft));
    };
    if input.is_empty() {
        let text = from.text();
        errors.at(
            whole,
            format!(
                "this edge leads nowhere; write `{text} >> consumer.input;`, or `{text} >> _;` to \
                 discard what the output sends"
            ),
        );
        return Ok(Statement::Draft(draft));
    }
    let Ok(arrow) = input.parse::<Token![>>]>() else {
        input.parse::<TokenStream>()?;
        errors.at(whole, format!("this is no edge; {FORM}"));
        return Ok(Statement::Draft(draft));
    };
    if input.is_empty() {
        let from = from.text();
        errors.at(whole, format!("this edge ends after `>>`; write `{from} >> consumer.input;`"));
        return Ok(Statement::Draft(draft));
    }
    let to = if input.peek(Token![_]) {
        Target::Discard(input.parse()?)
    } else if input.peek(token::Paren) {
        match group(&from, input, &mut draft, errors)? {
            Some(ports) => Target::Several(ports),
            None => return Ok(Statement::Draft(draft)),
        }
    } else {
        match port(input, Side::Input, &mut draft, errors)? {
            Some(port) => Target::One(port),
            None => return Ok(Statement::Draft(draft)),
        }
    };
    if let Target::One(port) = &to {
        others(&from, port, input, errors)?;
    }
    if input.peek(Token![>>]) {
        let rest: TokenStream = input.parse()?;
        errors.at(
            rest,
            "an edge joins one output and its inputs; continue in a statement of its own, from an \
             output of the consumer",
        );
    }
    Ok(Statement::Edges(EdgeStatement { attributes, from, arrow, to }))
}

/// `, c.in`: inputs of the same output, without their parentheses.
fn others(from: &Port, to: &Port, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
    let ahead = input.fork();
    let mut tokens = TokenStream::new();
    while ahead.peek(Token![,]) && ahead.peek2(syn::Ident) && ahead.peek3(Token![.]) {
        // The comma, the node, the dot and the port.
        for _ in 0..4 {
            tokens.extend(ahead.parse::<Option<TokenTree>>()?);
        }
    }
    if tokens.is_empty() || ahead.peek(Token![>>]) {
        return Ok(());
    }
    let (output, input_text) = (from.text(), to.text());
    errors.at(
        tokens,
        format!(
            "several inputs of one output stand in parentheses: `{output} >> ({input_text}, …);`"
        ),
    );
    input.advance_to(&ahead);
    Ok(())
}

#[derive(Clone, Copy)]
enum Side {
    Output,
    Input,
}

/// `node.port`. Where it is wrong, all of the input is read.
fn port(
    input: ParseStream<'_>,
    side: Side,
    draft: &mut Draft,
    errors: &mut Errors,
) -> syn::Result<Option<Port>> {
    let Ok(node) = input.parse::<Ident>() else {
        let rest: TokenStream = input.parse()?;
        let several = matches!(rest.clone().into_iter().next(), Some(TokenTree::Group(_)));
        let text = match side {
            Side::Output if several => {
                "an edge has one producer; write one edge for each of them".to_owned()
            }
            Side::Output => format!("expected a node, a stream pool or an edge; {FORM}"),
            Side::Input => format!("expected `consumer.input`; {FORM}"),
        };
        errors.at(rest, text);
        return Ok(None);
    };
    let mut partial = PartialPort { node: node.clone(), dot: None, port: None };
    if !input.peek(Token![.]) {
        draft.ports.push(partial);
        let what = match side {
            Side::Output => "output",
            Side::Input => "input",
        };
        // `source > sink` is no edge for more reasons than one; the form says both.
        let text = format!("expected a port, written `{node}.{what}`; {FORM}");
        input.parse::<TokenStream>()?;
        errors.at(&node, text);
        return Ok(None);
    }
    let dot: Token![.] = input.parse()?;
    partial.dot = Some(dot);
    // A port may be named as a keyword is: rustc wants `r#` at its declaration, and so do we.
    let port = match input.parse::<Ident>() {
        Ok(port) => port,
        Err(_) => {
            let wrong = input.fork().call(Ident::parse_any).ok();
            draft.ports.push(partial);
            let mut tokens = node.to_token_stream();
            dot.to_tokens(&mut tokens);
            wrong.to_tokens(&mut tokens);
            input.parse::<TokenStream>()?;
            let hint = wrong.map(|word| format!("; a keyword is written `{node}.r#{word}`"));
            let hint = hint.unwrap_or_default();
            errors.at(tokens, format!("expected the name of a port after `{node}.`{hint}"));
            return Ok(None);
        }
    };
    partial.port = Some(port.clone());
    draft.ports.push(partial);
    Ok(Some(Port { node, dot, port }))
}

/// `(b.in, c.in)`. The inputs that could be read, and `None` if there is nothing to connect.
fn group(
    from: &Port,
    input: ParseStream<'_>,
    draft: &mut Draft,
    errors: &mut Errors,
) -> syn::Result<Option<Vec<Port>>> {
    let whole: TokenTree = input.fork().parse()?;
    let content;
    parenthesized!(content in input);
    let items = crate::tokens::split(content.parse()?);
    if items.is_empty() {
        let from = from.text();
        errors.at(
            whole,
            format!(
                "this group has no inputs; write `{from} >> (b.input, c.input);`, or `{from} >> _;` \
                 to discard what the output sends"
            ),
        );
    }
    let mut ports = Vec::new();
    for item in items {
        let parser = |input: ParseStream<'_>| {
            if input.peek(Token![_]) {
                let text = format!(
                    "`_` discards an output that has no consumers; remove it, for `{}` has some",
                    from.text()
                );
                errors.at(input.parse::<TokenStream>()?, text);
            } else if let Some(port) = self::port(input, Side::Input, draft, errors)? {
                ports.push(port);
                if !input.is_empty() {
                    let text = format!("expected `,` between the inputs of a group; {FORM}");
                    errors.at(input.parse::<TokenStream>()?, text);
                }
            }
            Ok(())
        };
        parser.parse2(item)?;
    }
    Ok((!ports.is_empty()).then_some(ports))
}
