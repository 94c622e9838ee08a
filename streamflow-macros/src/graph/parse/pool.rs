//! Reads stream pools: `const NAME: CudaStreamPool = …`.

use proc_macro2::{Ident, TokenStream};
use syn::parse::ParseStream;
use syn::{Attribute, Token, Type};

use super::attribute::is_doc;
use super::value::parse_value;
use crate::diagnostic::Errors;
use crate::graph::parts::Pool;
use crate::graph::syntax::{BrokenStatement, Statement};

/// Attributes that rustc reads at a `const`.
const OF_RUSTC: &[&str] = &["allow", "expect", "deprecated"];

/// Reads a pool. If the pool can't be read to its end, the function consumes the rest of `input`.
pub(super) fn parse_pool(
    attributes: Vec<Attribute>,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Statement> {
    let mut docs = Vec::new();
    for attribute in attributes {
        if OF_RUSTC.iter().any(|name| attribute.path().is_ident(name)) || is_doc(&attribute) {
            docs.push(attribute);
        } else {
            errors.at(&attribute, "a stream pool takes no attributes; its methods describe it");
        }
    }
    let statement: TokenStream = input.fork().parse()?;
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
        return Ok(Statement::Broken(BrokenStatement::default()));
    };
    Ok(match parse_value(&statement, input, errors)? {
        Some(description) => Statement::Pool(Pool { docs, name, ty, description }),
        None => Statement::Broken(BrokenStatement::default()),
    })
}

/// Whether a type has the name of a pool.
pub(super) fn is_pool(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        (last.ident == "CudaStreamPool" || last.ident == "CudaGreenContextPool")
            && last.arguments.is_none()
    })
}
