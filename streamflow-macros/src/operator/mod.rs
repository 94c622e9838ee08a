//! `#[operator]`.

mod check;
mod constructor;
mod docs;
mod expand;
mod fields;
mod generics;
mod input_options;
mod message_type;
mod model;
mod parse;
mod port_type;
mod structs;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;

/// Expands one use: parse, check, expand.
pub(crate) fn operator(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = parse::parse_options(options, &mut errors);
    let Some(input) = parse::parse_item(item.clone(), &mut errors) else {
        // An item that is not a type stays as it is. A struct that can't be read is dropped: rustc would report it
        // again, and its ports' attributes too.
        let item = if parse::is_struct(item.clone()) { TokenStream::new() } else { item };
        return [item, errors.into_tokens()].into_iter().collect();
    };
    let operator = check::check_operator(options, input, &mut errors);
    let expanded = expand::expand_operator(&operator);
    [expanded, errors.into_tokens()].into_iter().collect()
}
