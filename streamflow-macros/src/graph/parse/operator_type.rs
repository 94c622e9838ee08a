//! Types that can be no operator, whatever their names stand for. rustc would tell it in many words.

use proc_macro2::Ident;
use quote::{ToTokens, format_ident};
use syn::Type;

use crate::diagnostic::Errors;
use crate::tokens::{mentions, spelled};

/// Whether the type is no operator, which is told then.
pub(super) fn is_none(name: &Ident, ty: &Type, errors: &mut Errors) -> bool {
    let text = spelled(ty);
    let text = match ty {
        Type::Paren(inner) => return is_none(name, &inner.elem, errors),
        Type::Group(inner) => return is_none(name, &inner.elem, errors),
        Type::Reference(reference) => {
            format!(
                "a node owns its operator; write `let {name}: {} = …;`",
                spelled(&reference.elem)
            )
        }
        Type::ImplTrait(_)
        | Type::TraitObject(_)
        | Type::Tuple(_)
        | Type::Array(_)
        | Type::Slice(_)
        | Type::FnPtr(_)
        | Type::Ptr(_)
        | Type::Never(_) => format!(
            "`{text}` is not an operator; name the struct that is marked `#[operator]`: \
             `let {name}: Operator = …;`"
        ),
        _ if mentions(ty.to_token_stream(), &format_ident!("_")) => format!(
            "the type of node `{name}` is written in full, without `_`: its ports and streams are \
             checked by its type"
        ),
        _ => return false,
    };
    errors.at(ty, text);
    true
}

/// Whether a part of the type is `_`.
pub(super) fn has_gaps(ty: &Type) -> bool {
    !matches!(ty, Type::Infer(_)) && mentions(ty.to_token_stream(), &format_ident!("_"))
}
