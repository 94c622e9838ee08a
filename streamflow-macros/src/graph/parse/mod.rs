//! Reads what stands before the body, and takes the body apart at its semicolons.

mod edge;
pub(super) mod edge_attributes;
pub(super) mod node_attributes;
mod operator_type;
mod statement;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Token, Type, Visibility, braced, parenthesized, token};

use crate::diagnostic::Errors;
use crate::graph::model::{Header, Param, Statement};

const FORM: &str = "a graph is written `pub struct Name(parameter: Type, …) { … }`";

/// The graph, as far as it can be read. `None` if it has no name: then nothing can be defined.
pub(super) fn graph(tokens: TokenStream, errors: &mut Errors) -> Option<(Header, Vec<Statement>)> {
    let parser = |input: ParseStream<'_>| {
        let header = header(input, errors);
        if header.is_none() {
            // Said once; what follows is not looked at.
            input.parse::<TokenStream>()?;
        }
        let Some(header) = header else { return Ok(None) };
        let statements = body(&header.name, input, errors)?;
        if !input.is_empty() {
            errors.at(input.parse::<TokenStream>()?, "a graph ends with its body; remove this");
        }
        Ok(Some((header, statements)))
    };
    match parser.parse2(tokens) {
        Ok(graph) => graph,
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

/// `#[…] pub struct Name(parameters)`
fn header(input: ParseStream<'_>, errors: &mut Errors) -> Option<Header> {
    if let Err(error) = statement::no_inner_attributes(input, errors) {
        errors.push(error);
        return None;
    }
    let attributes = match input.call(Attribute::parse_outer) {
        Ok(attributes) => attributes,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let start = input.fork();
    let named = (|| {
        let visibility: Visibility = input.parse()?;
        let keyword: Token![struct] = input.parse()?;
        Ok::<_, syn::Error>((visibility, keyword, input.parse::<Ident>()?))
    })();
    let Ok((visibility, keyword, name)) = named else {
        let rest: TokenStream = start.parse().unwrap_or_default();
        // Up to where a body or parameters would begin: the rest is not what is wrong.
        let wrong = rest.into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
        errors.at(wrong.collect::<TokenStream>(), format!("this is no graph: {FORM}"));
        return None;
    };
    generics(input, errors);
    let mut params = Vec::new();
    if input.peek(token::Paren) {
        let list = (|| {
            let content;
            parenthesized!(content in input);
            content.parse::<TokenStream>()
        })();
        match list {
            Ok(list) => self::params(list, &mut params, errors),
            Err(error) => errors.push(error),
        }
    }
    clause(input, errors);
    Some(Header { attributes, visibility, keyword, name, params, green: None })
}

/// `<T>` is understood, so that it is the only mistake.
fn generics(input: ParseStream<'_>, errors: &mut Errors) {
    if !input.peek(Token![<]) {
        return;
    }
    let mut tokens = TokenStream::new();
    let mut depth = 0_i32;
    while let Ok(token) = input.parse::<TokenTree>() {
        if let TokenTree::Punct(punct) = &token {
            depth += match punct.as_char() {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
        }
        tokens.extend([token]);
        if depth <= 0 {
            break;
        }
    }
    errors.at(
        tokens,
        "a graph has no generic parameters: its checks look at concrete operators; name their \
         types in full, `let cast: Cast<u8, f32> = …`, and pass values in parentheses",
    );
}

/// `where T: Element` is no further mistake.
fn clause(input: ParseStream<'_>, errors: &mut Errors) {
    if !input.peek(Token![where]) {
        return;
    }
    let mut tokens = TokenStream::new();
    while !input.peek(token::Brace)
        && let Ok(token) = input.parse::<TokenTree>()
    {
        tokens.extend([token]);
    }
    errors.at(tokens, "a graph has no clauses, as it has no generic parameters; remove this");
}

/// `name: Type, …`. One mistake hides no other.
fn params(list: TokenStream, params: &mut Vec<Param>, errors: &mut Errors) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            for attribute in input.call(Attribute::parse_outer)? {
                let text = if statement::is_doc(&attribute) {
                    "a parameter has no comment of its own; write about it above the graph"
                } else {
                    "a parameter of a graph takes no attributes; remove this"
                };
                errors.at(attribute, text);
            }
            match input.parse() {
                Ok(param) => params.push(param),
                Err(error) => errors.push(error),
            }
            if input.is_empty() {
                break;
            }
            if !input.peek(Token![,]) {
                // What remains of one that could not be read was told.
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(list) {
        errors.push(error);
    }
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let form = "a parameter of a graph is written `name: Type`";
        let name: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), form))?;
        input.parse::<Token![:]>().map_err(|_| syn::Error::new_spanned(&name, form))?;
        let ty: Type = input.parse()?;
        Ok(Self { name, ty })
    }
}

/// `{ statement; … }`. Each statement is parsed by itself, so that one mistake hides no other.
fn body(name: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Statement>> {
    if !input.peek(token::Brace) {
        let rest: TokenStream = input.parse()?;
        let wrong = if rest.is_empty() { name.to_token_stream() } else { rest };
        errors.at(wrong, format!("this graph has no body; {FORM}"));
        return Ok(Vec::new());
    }
    let content;
    braced!(content in input);
    let mut statements = Vec::new();
    for Chunk { tokens, ended } in chunks(content.parse()?) {
        let last = tokens.clone().into_iter().last();
        // A comma there was told.
        let comma = matches!(&last, Some(TokenTree::Punct(last)) if last.as_char() == ',');
        statement::statements(tokens, &mut statements, errors);
        // Of a statement with another mistake, the end is not to be seen yet.
        if !ended && !comma && !matches!(statements.last(), Some(Statement::Draft(_))) {
            errors.at(last, "missing `;` after this statement");
        }
    }
    Ok(statements)
}

/// The tokens up to a semicolon, and whether it is there.
struct Chunk {
    tokens: TokenStream,
    ended: bool,
}

fn chunks(tokens: TokenStream) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut tokens_of_chunk = TokenStream::new();
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                chunks.push(Chunk { tokens: std::mem::take(&mut tokens_of_chunk), ended: true });
            }
            _ => tokens_of_chunk.extend([token]),
        }
    }
    chunks.push(Chunk { tokens: tokens_of_chunk, ended: false });
    chunks.retain(|chunk| !chunk.tokens.is_empty());
    chunks
}
