//! Expands `#[kernel]`.

mod argument;
mod body;
mod check;
mod expand;
mod image;
mod model;
mod parse;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

pub(crate) use self::body::{expr, field_name, kernel_fn};
pub(crate) use self::check::letters_problem;

/// Parses, checks and expands one use of `#[kernel]`.
pub(crate) fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    if body::has_one_body(&options) {
        return body::kernel(options, item);
    }
    let mut errors = Errors::default();
    let options = parse::options(options, &mut errors);
    // A function that ends with `;` is no item of a program.
    let (item, without_body) = match image::function_without_body(item.clone()) {
        Some(function) => (TokenStream::new(), Some(function)),
        None => (item, None),
    };
    let has_host_body = without_body.is_none();
    let Some(function) = without_body.or_else(|| parse::function(item.clone(), &mut errors)) else {
        // An item that is not a function stays in the program as it is.
        return [item, errors.into_tokens()].into_iter().collect();
    };
    parse::require_bodies(&options, (&function, has_host_body), &mut errors);
    let kernel = check::kernel(options, (function, has_host_body), &mut errors);
    let expanded = expand::kernel(&kernel, errors.is_empty());
    [item, expanded, errors.into_tokens()].into_iter().collect()
}
