//! Reads stream pools: `const NAME: CudaStreamPool = …`, and the type that the value of `let NAME = CudaStreamPool::new()…`
//! names.

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprPath, Token, Type, TypePath};

use super::attribute::{AttributeTarget, is_doc, reject_attribute};
use super::value::parse_value;
use crate::diagnostic::Errors;
use crate::graph::parts::{Pool, PoolKind};
use crate::graph::syntax::{BrokenStatement, Statement};

/// The attributes of rustc that may stand on a `const`.
const OF_RUSTC: &[&str] = &["allow", "expect", "deprecated"];

/// Reads a pool. If the pool can't be read to its end, the function consumes the rest of `input`.
pub(super) fn parse_pool(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let docs = read_docs(attributes, errors);
    let statement: TokenStream = input.fork().parse()?;
    let broken = |name| Statement::Broken(BrokenStatement { pool: name, ..Default::default() });
    let name_only = |input: ParseStream<'_>| {
        input.parse::<Token![const]>()?;
        input.parse::<Ident>()
    };
    let written_name = name_only(&input.fork()).ok();
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
            statement,
            "a stream pool is written `const NAME: CudaStreamPool = CudaStreamPool::new()…;`",
        );
        return Ok(broken(written_name));
    };
    Ok(match parse_value(&statement, input, errors)? {
        Some(description) => {
            Statement::Pool(Pool { is_made_by_run: false, docs, name, ty, description })
        }
        None => broken(written_name),
    })
}

/// Returns the attributes that a pool may have, and reports all others.
pub(super) fn read_docs(attributes: Vec<Attribute>, errors: &mut Errors) -> Vec<Attribute> {
    let mut docs = Vec::new();
    for attribute in attributes {
        if OF_RUSTC.iter().any(|name| attribute.path().is_ident(name)) || is_doc(&attribute) {
            docs.push(attribute);
        } else {
            reject_attribute(&attribute, AttributeTarget::Pool, errors);
        }
    }
    docs
}

/// Returns the type that a value `= CudaStreamPool::new()…` names, if it is the type of a pool. Returns `None` for any other
/// value.
pub(super) fn type_of_value(input: ParseStream<'_>) -> Option<Type> {
    input.parse::<Token![=]>().ok()?;
    let mut value: Expr = input.parse().ok()?;
    while let Expr::MethodCall(call) = value {
        value = *call.receiver;
    }
    let Expr::Call(call) = value else { return None };
    let Expr::Path(ExprPath { qself: None, mut path, .. }) = *call.func else { return None };
    path.segments.pop();
    path.segments.pop_punct();
    // The path of a function without a type before its name, as `new()`, is empty now.
    path.segments.last()?;
    let ty = Type::Path(TypePath { attrs: Vec::new(), qself: None, path });
    PoolKind::of(&ty).map(|_| ty)
}
