//! Reads the expression of a node or a pool.

use proc_macro2::TokenStream;
use syn::Expr;
use syn::parse::ParseStream;

use crate::diagnostic::Errors;

/// The expression after `=`. If it has a mistake, it takes all of the input.
pub(super) fn parse_value(
    statement: &TokenStream,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<Option<Expr>> {
    if input.is_empty() {
        errors.at(statement, "this statement ends after `=`; a value is missing");
        return Ok(None);
    }
    match input.parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            errors.push_syntax_error(error, statement);
            input.parse::<TokenStream>()?;
            Ok(None)
        }
    }
}
