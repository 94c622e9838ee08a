//! Expands `#[kernel]`.

mod argument;
mod body;
mod check;
mod expand;
mod model;
mod parse;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

pub(crate) use self::body::{expr, field_name, kernel_fn};

/// Parses, checks and expands one use of `#[kernel]`.
pub(crate) fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    if body::has_one_body(&options) {
        return body::kernel(options, item);
    }
    let mut errors = Errors::default();
    let options = parse::options(options, &mut errors);
    let Some(function) = parse::function(item.clone(), &mut errors) else {
        // An item that is not a function stays in the program as it is.
        return [item, errors.into_tokens()].into_iter().collect();
    };
    parse::require_cuda(&options, &function, &mut errors);
    let kernel = check::kernel(options, function, &mut errors);
    let expanded = expand::kernel(&kernel, errors.is_empty());
    [item, expanded, errors.into_tokens()].into_iter().collect()
}
