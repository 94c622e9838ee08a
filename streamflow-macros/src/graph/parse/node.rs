//! Reads nodes: `let name: Operator = …`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Pat, Token, Type};

use super::node_attributes::read_node_attributes;
use super::operator_type::{has_placeholder_inside, reject_non_operator};
use super::pool;
use super::port::can_be_raw;
use super::value::parse_value;
use crate::diagnostic::Errors;
use crate::graph::parts::{NodeParts, OnFailure, Pool, PoolKind};
use crate::graph::syntax::{BrokenStatement, NodeStatement, Statement};
use crate::tokens::spelled;

/// Reads a node. If the node can't be read to its end, the function consumes the rest of `input`.
pub(super) fn parse_node(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let statement: TokenStream = input.fork().parse()?;
    input.parse::<Token![let]>()?;
    let pattern = input.call(Pat::parse_single);
    let Some(name) = pattern.ok().and_then(|pattern| node_name(pattern, errors)) else {
        input.parse::<TokenStream>()?;
        match statement.clone().into_iter().nth(1) {
            Some(TokenTree::Ident(keyword))
                if syn::parse2::<Ident>(keyword.to_token_stream()).is_err() =>
            {
                let text = match can_be_raw(&keyword) {
                    true => format!("a node with the name of a keyword is written `r#{keyword}`"),
                    false => format!("a node can't be named `{keyword}`; give it another name"),
                };
                errors.at(&keyword, text);
            }
            _ => errors.at(statement, "a node is written `let name: Operator = …;`"),
        }
        return Ok(Statement::Broken(BrokenStatement::default()));
    };
    let broken = |ty: Option<Type>, value| {
        let is_pool = ty.as_ref().is_some_and(|ty| PoolKind::of(ty).is_some());
        let pool = is_pool.then(|| name.clone());
        let (node, parts) = (Some(name.clone()), NodeParts { ty, value });
        Statement::Broken(BrokenStatement { node, pool, parts })
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
            let wrong = rest.into_iter().next().or_else(|| statement.into_iter().last());
            errors.at(wrong, form);
            return Ok(broken(None, None));
        }
    } else if let Some(ty) = pool::type_of_value(&input.fork()) {
        Some(ty)
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
        let text = format!("node `{name}` has no operator; write `let {name}: Operator = …;`");
        errors.at(statement, text);
        input.parse::<TokenStream>()?;
        return Ok(broken(ty, None));
    }
    input.parse::<Token![=]>()?;
    Ok(match (ty, parse_value(&statement, input, errors)?) {
        (Some(ty), Some(description)) if PoolKind::of(&ty).is_some() => {
            let docs = pool::read_docs(attributes, errors);
            Statement::Pool(Pool { is_made_by_run: true, docs, name, ty, description })
        }
        (Some(ty), value) if reject_non_operator(&name, &ty, errors) => {
            // The type is left out, so rustc can infer nothing from it. A value whose type had a `_` inside is therefore left out
            // too.
            let is_array = matches!(ty, Type::Array(_));
            let value = value.filter(|_| !has_placeholder_inside(&ty) && !is_array);
            broken(None, value)
        }
        (Some(ty), Some(value)) if reject_array_value(&name, &ty, &value, errors) => {
            broken(None, None)
        }
        (Some(ty), Some(value)) => {
            let mut attributes = read_node_attributes(attributes, errors);
            if matches!(ty, Type::Array(_))
                && matches!(attributes.on_failure, Some(OnFailure::Restart { .. }))
            {
                let text = "the operators of an array are not made again; write `#[on_failure(skip)]`, or declare the nodes one \
                            by one";
                errors.at(&name, text);
                attributes.on_failure = None;
            }
            Statement::Node(Box::new(NodeStatement { attributes, name, ty, value }))
        }
        (ty, value) => broken(ty, value),
    })
}

/// Returns the name that a node declares, or `None` if the pattern after `let` is no name.
fn node_name(pattern: Pat, errors: &mut Errors) -> Option<Ident> {
    let Pat::Ident(pattern) = pattern else { return None };
    if pattern.by_ref.is_some() || pattern.subpat.is_some() || pattern.ident == "self" {
        return None;
    }
    if let Some(keyword) = pattern.mutability {
        let name = &pattern.ident;
        errors.at(
            keyword,
            format!("a node is not `mut`: the graph owns it, and `{name}_mut()` lends it"),
        );
    }
    Some(pattern.ident)
}

/// Reports the value of an array of nodes that is no closure with one argument. Returns whether it is none.
fn reject_array_value(name: &Ident, ty: &Type, value: &Expr, errors: &mut Errors) -> bool {
    let Type::Array(array) = ty else { return false };
    let is_right = matches!(value, Expr::Closure(closure)
        if closure.inputs.len() == 1 && closure.asyncness.is_none() && closure.capture.is_none());
    if !is_right {
        let (element, whole) = (spelled(&array.elem), spelled(ty));
        let text = format!(
            "an array of nodes has a closure that makes each of them from its index: `let {name}: {whole} = |i| {element}::new(…);`"
        );
        errors.at(value, text);
    }
    !is_right
}
