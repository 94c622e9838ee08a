//! Expands `#[derive(Message)]`.

mod expand;
mod fields;
mod lists;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

/// Parses, checks and expands one use of `#[derive(Message)]`.
pub(crate) fn message(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let input = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let message = fields::message(input, &mut errors);
    let expanded = expand::message(&message, errors.is_empty());
    [expanded, errors.into_tokens()].into_iter().collect()
}
