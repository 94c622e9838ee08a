//! Reads the statements of a graph.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Pat, Token, Type};

use super::{edge, operator_type};
use crate::diagnostic::Errors;
use crate::graph::check::pools;
use crate::graph::model::{Draft, Leftover, NodeStatement, Pool, Statement};
use crate::tokens::spelled;

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
            if input.peek(Token![,]) {
                let comma: Token![,] = input.parse()?;
                errors.at(comma, "the statements of a graph end with `;`; write it for this comma");
                if input.is_empty() {
                    return Ok(());
                }
                continue;
            }
            if !begins(input) {
                errors.at(input.parse::<TokenStream>()?, "expected `;`");
                return Ok(());
            }
            errors.at(input.fork().parse::<TokenTree>()?, "missing `;` before this");
        }
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error);
        statements.push(Statement::Draft(Draft::default()));
    }
}

/// Whether a statement may begin like that.
fn begins(input: ParseStream<'_>) -> bool {
    input.peek(syn::Ident)
        || input.peek(Token![let])
        || input.peek(Token![const])
        || input.peek(Token![#])
}

/// Comments that begin with `//!`, and attributes of what is around them: a graph has none.
pub(super) fn no_inner_attributes(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
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

/// One statement. Where it is wrong, all of the input is read.
fn statement(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Statement> {
    no_inner_attributes(input, errors)?;
    let attributes = input.call(Attribute::parse_outer)?;
    if input.is_empty() {
        let Some(last) = attributes.last() else {
            // A comment for the whole body, which was told.
            return Ok(Statement::Draft(Draft::default()));
        };
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
    let token: Token![let] = input.parse()?;
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
        let form = format!("expected the type of node `{name}`: `let {name}: Operator = …;`");
        if input.peek(Token![=]) {
            errors.at(input.fork().parse::<TokenTree>()?, form);
            None
        } else if let Ok(ty) = input.parse::<Type>() {
            Some(ty)
        } else {
            let rest: TokenStream = input.parse()?;
            let wrong = rest.into_iter().next().or_else(|| whole.into_iter().last());
            errors.at(wrong, form);
            return Ok(draft(None, None));
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
        (Some(ty), Some(description)) if pools::is_pool(&ty) => {
            errors.at(
                token,
                format!(
                    "a stream pool is declared with `const`: `const {name}: {} = …;`",
                    spelled(&ty)
                ),
            );
            Statement::Pool(Pool { docs: Vec::new(), name, ty, description })
        }
        (Some(ty), value) if operator_type::is_none(&name, &ty, errors) => {
            // What is left to infer in a part of a type, nothing says any more.
            let value = value.filter(|_| !operator_type::has_gaps(&ty));
            draft(None, value)
        }
        (Some(ty), Some(value)) => Statement::Node(NodeStatement { attributes, name, ty, value }),
        (ty, value) => draft(ty, value),
    })
}

/// The name, where the pattern is one.
fn node_name(pattern: Pat, errors: &mut Errors) -> Option<Ident> {
    let Pat::Ident(pattern) = pattern else { return None };
    if pattern.by_ref.is_some() || pattern.subpat.is_some() || pattern.ident == "self" {
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
            errors.parse(error, whole);
            input.parse::<TokenStream>()?;
            Ok(None)
        }
    }
}

/// Whether this is a comment for the documentation.
pub(super) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && attribute.meta.to_token_stream().to_string().contains('=')
}
