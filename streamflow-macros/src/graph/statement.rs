//! Reads the statements of a graph.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Pat, Token, Type};

use super::edge;
use super::model::{Draft, Leftover, NodeStatement, Pool, Statement};
use crate::diagnostic::Errors;

/// What stands between two semicolons: one statement, or several where a semicolon is missing.
pub(super) fn statements(
    tokens: TokenStream,
    statements: &mut Vec<Statement>,
    errors: &mut Errors,
) {
    let parser = |input: ParseStream<'_>| {
        loop {
            statements.push(statement(input, errors)?);
            if input.is_empty() {
                return Ok(());
            }
            let next = input.fork().parse::<TokenTree>()?;
            if !matches!(&next, TokenTree::Ident(_)) && !input.peek(Token![#]) {
                // No statement begins like that.
                errors.at(input.parse::<TokenStream>()?, "expected `;`");
                return Ok(());
            }
            errors.at(next, "missing `;` before this");
        }
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
        statements.push(Statement::Draft(Draft::default()));
    }
}

/// One statement. Where it is wrong, all of the input is read.
fn statement(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Statement> {
    let attributes = input.call(Attribute::parse_outer)?;
    if input.is_empty() {
        let last = attributes.last();
        errors.at(last, "an attribute stands before the node or the edge that it is for");
        return Ok(Statement::Draft(Draft::default()));
    }
    if input.peek(Token![const]) {
        pool(attributes, input, errors)
    } else if input.peek(Token![let]) {
        node(attributes, input, errors)
    } else {
        edge::statement(attributes, input, errors)
    }
}

/// `const NAME: CudaStreamPool = …`
fn pool(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let mut docs = Vec::new();
    for attribute in attributes {
        // What rustc knows to be about a `const` is rustc's.
        let of_rustc = ["allow", "expect", "deprecated"];
        if of_rustc.iter().any(|name| attribute.path().is_ident(name)) || is_doc(&attribute) {
            docs.push(attribute);
        } else {
            errors.at(&attribute, "a stream pool takes no attributes; its methods describe it");
        }
    }
    let whole: TokenStream = input.fork().parse()?;
    let parsed = (|| {
        input.parse::<Token![const]>()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let ty: Type = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok::<_, syn::Error>((name, ty))
    })();
    let Ok((name, ty)) = parsed else {
        input.parse::<TokenStream>()?;
        errors.at(
            whole,
            "a stream pool is written `const NAME: CudaStreamPool = CudaStreamPool::new()…;`",
        );
        return Ok(Statement::Draft(Draft::default()));
    };
    Ok(match expression(&whole, input, errors)? {
        Some(description) => Statement::Pool(Pool { docs, name, ty, description }),
        None => Statement::Draft(Draft::default()),
    })
}

/// `let name: Operator = …`
fn node(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let whole: TokenStream = input.fork().parse()?;
    input.parse::<Token![let]>()?;
    let pattern = input.call(Pat::parse_single);
    let Some(name) = pattern.ok().and_then(|pattern| node_name(pattern, errors)) else {
        input.parse::<TokenStream>()?;
        errors.at(whole, "a node is written `let name: Operator = …;`");
        return Ok(Statement::Draft(Draft::default()));
    };
    let draft = |ty, value| {
        let rest = Leftover { ty, value };
        Statement::Draft(Draft { node: Some(name.clone()), ports: Vec::new(), rest })
    };
    let ty = if input.peek(Token![:]) {
        input.parse::<Token![:]>()?;
        match input.parse::<Type>() {
            Ok(ty) => Some(ty),
            Err(error) => {
                errors.push(error);
                input.parse::<TokenStream>()?;
                return Ok(draft(None, None));
            }
        }
    } else {
        errors.at(
            &name,
            format!(
                "node `{name}` has no type; write `let {name}: Operator = …`: its ports and \
                 streams are checked by its type"
            ),
        );
        None
    };
    if !input.peek(Token![=]) {
        errors
            .at(whole, format!("node `{name}` has no operator; write `let {name}: Operator = …;`"));
        input.parse::<TokenStream>()?;
        return Ok(draft(ty, None));
    }
    input.parse::<Token![=]>()?;
    Ok(match (ty, expression(&whole, input, errors)?) {
        (Some(ty), Some(value)) => Statement::Node(NodeStatement { attributes, name, ty, value }),
        (ty, value) => draft(ty, value),
    })
}

/// The name, where the pattern is one.
fn node_name(pattern: Pat, errors: &mut Errors) -> Option<Ident> {
    let Pat::Ident(pattern) = pattern else { return None };
    if pattern.by_ref.is_some() || pattern.subpat.is_some() {
        return None;
    }
    if let Some(token) = pattern.mutability {
        let name = &pattern.ident;
        errors.at(
            token,
            format!("a node is not `mut`: the graph owns it, and `{name}_mut()` lends it"),
        );
    }
    Some(pattern.ident)
}

/// What follows `=`. Where it is wrong, all of the input is read.
fn expression(
    whole: &TokenStream,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Expr>> {
    if input.is_empty() {
        errors.at(whole, "this statement ends after `=`; a value is missing");
        return Ok(None);
    }
    match input.parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            errors.push(error);
            input.parse::<TokenStream>()?;
            Ok(None)
        }
    }
}

/// Whether this is a comment for the documentation.
pub(super) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && attribute.meta.to_token_stream().to_string().contains('=')
}
