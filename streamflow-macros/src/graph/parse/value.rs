//! Reads the expression that a node or a pool is declared with.

use proc_macro2::TokenStream;
use syn::Expr;
use syn::parse::ParseStream;

use crate::diagnostic::Errors;

/// Reads the expression after `=`. If the expression can't be read to its end, the function consumes the rest of
/// `input`. Returns `None` after reporting that the expression is missing or can't be read.
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
