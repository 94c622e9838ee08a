//! The types that an argument can have, and what to write instead of other types.

use syn::{GenericArgument, Ident, PathArguments, Type};

use super::model::ArgumentKind;
use crate::diagnostic::Errors;
use crate::tokens::spelled;

/// The kind of an argument of this type. `name` is the argument's, for the errors.
pub(super) fn argument_type(name: &str, ty: &Type, errors: &mut Errors) -> ArgumentKind {
    match ty {
        Type::Paren(inner) => argument_type(name, &inner.elem, errors),
        Type::Group(inner) => argument_type(name, &inner.elem, errors),
        Type::Path(path) => match path.path.get_ident().and_then(scalar_problem) {
            Some(problem) => {
                errors.at(ty, format!("argument `{name}`: {problem}"));
                ArgumentKind::Wrong(Some(ty.clone()))
            }
            None => match elements_of(ty) {
                Some(element) => reject_memory(name, ty, element, false, errors),
                None => ArgumentKind::Scalar(ty.clone()),
            },
        },
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                errors.at(
                    lifetime,
                    format!("a kernel's slices live for the launch; remove `{lifetime}`"),
                );
            }
            let mutable = reference.mutability.is_some();
            match &*reference.elem {
                Type::Slice(slice) if mutable => ArgumentKind::SliceMut((*slice.elem).clone()),
                Type::Slice(slice) => ArgumentKind::Slice((*slice.elem).clone()),
                other => match elements_of(other) {
                    Some(element) => reject_memory(name, ty, element, mutable, errors),
                    None => {
                        let problem = reference_problem(other, mutable);
                        errors.at(ty, format!("argument `{name}`: {problem}"));
                        ArgumentKind::Wrong(None)
                    }
                },
            }
        }
        other => {
            let text = "a kernel takes slices `&[T]` and `&mut [T]`, and scalars by value";
            errors.at(other, format!("argument `{name}`: {text}, not `{}`", spelled(other)));
            ArgumentKind::Wrong(
                matches!(other, Type::Array(_) | Type::Tuple(_)).then(|| other.clone()),
            )
        }
    }
}

/// Reports memory that a launch passes, as `&Tensor<f32>`: the kernel has its elements. The argument is then a slice, so
/// that launches with it are right.
fn reject_memory(
    name: &str,
    ty: &Type,
    element: &Type,
    mutable: bool,
    errors: &mut Errors,
) -> ArgumentKind {
    let (and, item) = (if mutable { "&mut " } else { "&" }, spelled(element));
    let or = if matches!(ty, Type::Reference(_)) {
        String::new()
    } else {
        format!(", or `{name}: &mut [{item}]` to write")
    };
    errors.at(
        ty,
        format!(
            "argument `{name}`: a kernel has the elements of a tensor, a buffer or a vector as a slice; write \
             `{name}: {and}[{item}]`{or}"
        ),
    );
    if mutable {
        ArgumentKind::SliceMut(element.clone())
    } else {
        ArgumentKind::Slice(element.clone())
    }
}

/// `T` of `Tensor<T>` and other types that hold elements.
fn elements_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    let (Some(GenericArgument::Type(inner)), 1) = (list.args.first(), list.args.len()) else {
        return None;
    };
    match last.ident.to_string().as_str() {
        "Tensor" | "Buffer" | "DeviceSlice" | "Vec" | "Pinned" | "Download" => Some(inner),
        "Shared" | "Box" | "Arc" | "Rc" => elements_of(inner),
        _ => None,
    }
}

/// The error for a common scalar type that a kernel can't take. rustc checks all other types: a macro can't resolve
/// names.
fn scalar_problem(name: &Ident) -> Option<String> {
    let instead = match name.to_string().as_str() {
        "bool" => "pass a `u8` or a `u32`",
        "char" => "pass a `u32`",
        "isize" => "pass an `i64`",
        "i128" | "u128" => "pass two `u64`",
        "String" => "pass its bytes as `&[u8]`",
        _ => return None,
    };
    Some(format!("a kernel takes no `{name}` by value; {instead}"))
}

fn reference_problem(target: &Type, mutable: bool) -> String {
    let and = if mutable { "&mut " } else { "&" };
    let written = spelled(target);
    match target {
        Type::Array(array) => {
            let item = spelled(&array.elem);
            format!("a kernel takes slices, not arrays: write `{and}[{item}]`")
        }
        Type::Path(path) if path.path.is_ident("str") => {
            format!("a kernel takes no text: write `{and}[u8]` for its bytes")
        }
        _ if mutable => format!(
            "a kernel writes to slices: write `&mut [{written}]`, of one element if it is one value"
        ),
        _ => format!(
            "a kernel takes slices `&[T]`, and scalars by value: write `&[{written}]` or `{written}`"
        ),
    }
}
