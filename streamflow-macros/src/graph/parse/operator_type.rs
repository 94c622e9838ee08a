//! Reports types of nodes that are never operators, whatever their names mean. rustc's errors about them would be longer.

use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::Type;

use crate::diagnostic::Errors;
use crate::tokens::{mentions, spelled, ungrouped};

/// Reports a type that can't be an operator, as `&Blur` for the node `name`. Returns whether the type is one of these.
pub(super) fn reject_non_operator(name: &Ident, ty: &Type, errors: &mut Errors) -> bool {
    let text = spelled(ty);
    let text = match ty {
        Type::Paren(inner) => return reject_non_operator(name, &inner.elem, errors),
        Type::Group(inner) => return reject_non_operator(name, &inner.elem, errors),
        Type::Array(array) if matches!(ungrouped(&array.elem), Type::Array(_)) => format!(
            "`{text}` is an array of arrays, and a node is an operator, a graph or an array of these; put the inner array into a graph"
        ),
        Type::Array(array) => return reject_non_operator(name, &array.elem, errors),
        Type::Reference(reference) => {
            format!(
                "a node owns its operator; write `let {name}: {} = …;`",
                spelled(&reference.elem)
            )
        }
        Type::ImplTrait(_)
        | Type::TraitObject(_)
        | Type::Tuple(_)
        | Type::Slice(_)
        | Type::FnPtr(_)
        | Type::Ptr(_)
        | Type::Never(_) => format!(
            "`{text}` is not an operator; name the struct that is marked `#[operator]`: \
             `let {name}: Operator = …;`"
        ),
        _ if mentions_placeholder(ty) => format!(
            "the type of node `{name}` is written in full, without `_`: its ports and streams are \
             checked by its type"
        ),
        _ => return false,
    };
    errors.at(ty, text);
    true
}

/// Whether a part of the type, but not all of it, is `_`.
pub(super) fn has_placeholder_inside(ty: &Type) -> bool {
    !matches!(ty, Type::Infer(_)) && mentions_placeholder(ty)
}

fn mentions_placeholder(ty: &Type) -> bool {
    mentions(ty.to_token_stream(), &format_ident!("_"))
}
