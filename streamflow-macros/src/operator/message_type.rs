//! Rejects types of ports that can't be messages. Each is reported once, and the expansion uses another type in its place, since
//! rustc would report the mistake again at each use of the type.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Type, TypeReference, parse_quote};

use crate::diagnostic::Errors;
use crate::tokens::{held_types, is_device_data, is_element, mentions, spelled, ungrouped};

/// Reports a type that can't be a message. Returns the type unchanged if it may be one, and else the type that replaces it.
pub(super) fn check_message_type(ty: &Type, errors: &mut Errors) -> Type {
    let ty = ungrouped(ty);
    let text = spelled(ty);
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => reject_unsized_type(ty, errors),
        Type::Path(path) if path.path.is_ident("str") => reject_unsized_type(ty, errors),
        Type::Reference(TypeReference { elem, .. }) => {
            let owned = spelled(elem);
            errors.at(ty, format!("a message borrows nothing, and `{text}` does; write `{owned}`"));
            check_message_type(elem, errors)
        }
        Type::Tuple(_) | Type::Array(_) => {
            let or = match held_types(ty).into_iter().any(is_device_data) {
                true => ", which has a field for each part".to_owned(),
                false => format!(", or `HostData<{text}>` if it is for the host alone"),
            };
            errors.at(
                ty,
                format!("`{text}` is not a message; send a struct with `#[derive(Message)]`{or}"),
            );
            wrap_in_host_data(ty)
        }
        Type::FnPtr(_) => {
            errors.at(ty, format!("`{text}` is not a message; write `HostData<{text}>`"));
            wrap_in_host_data(ty)
        }
        Type::Ptr(_) => {
            errors.at(
                ty,
                format!(
                    "`{text}` is not a message: a pointer has no lifetime that can be checked; send a \
                     `Tensor` or a `Buffer`"
                ),
            );
            wrap_in_host_data(&parse_quote!(()))
        }
        Type::ImplTrait(_) => {
            errors.at(
                ty,
                format!(
                    "a port's type has a name, and `{text}` has none; make it a type parameter of \
                     the operator"
                ),
            );
            wrap_in_host_data(&parse_quote!(()))
        }
        _ => reject_borrows_in(ty, errors),
    }
}

/// Reports a type without a size, as `str` or `[f32]`, and returns the type that replaces it.
fn reject_unsized_type(ty: &Type, errors: &mut Errors) -> Type {
    let (write, replacement) = match ty {
        Type::Slice(slice) => {
            let element = &slice.elem;
            let text = spelled(element);
            let tensor = is_element(element);
            let write = if tensor {
                format!("`Tensor<{text}>`, or `HostData<Vec<{text}>>` if it is for the host alone")
            } else if is_device_data(element) {
                format!("`Vec<{text}>`")
            } else {
                format!("`HostData<Vec<{text}>>`")
            };
            let replacement = if tensor {
                parse_quote!(::streamflow::__private::Tensor<#element>)
            } else {
                wrap_in_host_data(&parse_quote!(::std::vec::Vec<#element>))
            };
            (write, replacement)
        }
        Type::TraitObject(_) => {
            ("`HostData<Box<…>>`".to_owned(), wrap_in_host_data(&parse_quote!(())))
        }
        _ => ("`String`".to_owned(), parse_quote!(::std::string::String)),
    };
    let text = spelled(ty);
    errors.at(ty, format!("a message is owned, and `{text}` has no size; write {write}"));
    replacement
}

fn wrap_in_host_data(ty: &Type) -> Type {
    parse_quote!(::streamflow::__private::HostData<#ty>)
}

/// Reports a borrow, `_` and `Self` in the arguments of a type with a name. Returns the type unchanged if it has none of these,
/// and else the type that replaces it.
fn reject_borrows_in(ty: &Type, errors: &mut Errors) -> Type {
    let (tokens, text) = (ty.to_token_stream(), spelled(ty));
    let mut found = false;
    // The arguments and the result of a function type, as `fn(&u8)`, may be borrows.
    let must_own = !mentions(tokens.clone(), &format_ident!("for")) && !text.contains("->");
    let mut owned = TokenStream::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match &token {
            TokenTree::Ident(name) if name == "_" || name == "Self" => {
                let text = if name == "_" {
                    "a port's type is written in full; write what `_` stands for"
                } else {
                    "`Self` is the operator, which can't be part of its ports' types; name the message"
                };
                errors.at(&token, text);
                found = true;
                owned.extend(quote!(f32));
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' && must_own => {
                let fixed = matches!(rest.peek(), Some(TokenTree::Ident(name)) if name == "static");
                let name = rest.next();
                if !fixed {
                    found = true;
                    let lifetime: TokenStream = [token.clone()].into_iter().chain(name).collect();
                    errors.at(lifetime, BORROWS);
                    owned.extend(quote!('static));
                } else {
                    owned.extend([token.clone()].into_iter().chain(name));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' && must_own => {
                let named =
                    matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'');
                owned.extend([token.clone()]);
                if !named {
                    found = true;
                    errors.at(&token, BORROWS);
                    owned.extend(quote!('static));
                }
            }
            _ => owned.extend([token.clone()]),
        }
    }
    let owned = found.then(|| syn::parse2(owned).ok()).flatten();
    owned.unwrap_or_else(|| ty.clone())
}

const BORROWS: &str =
    "a message borrows nothing: it may outlive the tick that sent it; own the data";
